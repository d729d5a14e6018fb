/* C11 threads: a value handed from one thread to another through a mutex and a condition variable.
 * Verifies. */
#include <assert.h>
#include <stdbool.h>
#include <threads.h>

static mtx_t mutex;
static cnd_t filled;
static bool full = false;
static int value;

static int consumer(void* result) {
  mtx_lock(&mutex);
  while (!full) cnd_wait(&filled, &mutex);
  *(int*)result = value;
  mtx_unlock(&mutex);
  return 0;
}

int main(void) {
  if (mtx_init(&mutex, mtx_plain) != thrd_success || cnd_init(&filled) != thrd_success) return 1;
  int result = 0;
  thrd_t thread;
  if (thrd_create(&thread, consumer, &result) != thrd_success) return 1;

  mtx_lock(&mutex);
  value = 7;
  full = true;
  cnd_signal(&filled);
  mtx_unlock(&mutex);

  thrd_join(thread, NULL);
  assert(result == 7);
  cnd_destroy(&filled);
  mtx_destroy(&mutex);
  return 0;
}
