/* C and POSIX threads: the mutex protects every access, and the program is wrong all the same.
 *
 * No data race here. But between "is there a ticket left?" and "take it" the lock is given back,
 * and the last ticket is sold twice. With -DFIXED both happen under one lock. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int tickets = 1;

static int tickets_left(void) {
  pthread_mutex_lock(&mutex);
  const int left = tickets;
  pthread_mutex_unlock(&mutex);
  return left;
}

static void* sell(void* unused) {
  (void)unused;
#ifdef FIXED
  pthread_mutex_lock(&mutex);
  if (tickets > 0) --tickets;
  pthread_mutex_unlock(&mutex);
  assert(tickets_left() >= 0);
#else
  if (tickets_left() > 0) {
    pthread_mutex_lock(&mutex);
    --tickets;
    assert(tickets >= 0);
    pthread_mutex_unlock(&mutex);
  }
#endif
  return NULL;
}

int main(void) {
  pthread_t clerk;
  if (pthread_create(&clerk, NULL, sell, NULL) != 0) return 1;
  sell(NULL);
  pthread_join(clerk, NULL);
  return 0;
}
