// Loads the library that the first argument names; its functions are called under a lock, or
// without one ("race"). Every execution finds the library's variables as its constructors left
// them.
#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const char* library;
static int locked;

static void* Thread(void* argument) {
  void* handle = dlopen(library, RTLD_NOW);
  assert(handle != NULL);
  void (*increment)(void) = (void (*)(void))dlsym(handle, "Increment");
  if (locked) pthread_mutex_lock(&mutex);
  increment();
  if (locked) pthread_mutex_unlock(&mutex);
  if (argument != NULL) dlclose(handle);
  return NULL;
}

int main(int argc, char** argv) {
  assert(argc == 3);
  library = argv[1];
  locked = strcmp(argv[2], "race") != 0;
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, Thread, i == 0 ? NULL : &library);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  void* handle = dlopen(library, RTLD_NOW);
  int (*count)(void) = (int (*)(void))dlsym(handle, "Count");
  if (locked) assert(count() == 2);
  return 0;
}
