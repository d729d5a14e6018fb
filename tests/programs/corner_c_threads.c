// What only C programs do with threads (clean-up handlers), and what the C library writes for them.
#define _GNU_SOURCE
#include <locale.h>
#include <mc/mc.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static int cleaned;
static int value;

static void run_two(void* (*work)(void*)) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
}

static void count(void* unused) {
  (void)unused;
  pthread_mutex_lock(&mutex);
  ++cleaned;
  pthread_mutex_unlock(&mutex);
}

static void* wait_and_exit(void* unused) {
  (void)unused;
  pthread_cleanup_push(count, NULL);
  sem_wait(&semaphore);
  sem_post(&semaphore);
  pthread_exit(NULL);
  pthread_cleanup_pop(0);
  return NULL;
}

// Each runs its own handler once, whatever the other does in between.
MC_TEST(CleanUpAtExit) {
  cleaned = 0;
  sem_init(&semaphore, 0, 1);
  run_two(wait_and_exit);
  mc_assert(cleaned == 2);
}

static void* meet_in_two_scopes(void* unused) {
  (void)unused;
  pthread_cleanup_push(count, NULL);
  pthread_cleanup_push(count, NULL);
  pthread_barrier_wait(&barrier);
  pthread_cleanup_pop(0);
  pthread_exit(NULL);
  pthread_cleanup_pop(0);
  return NULL;
}

MC_TEST(CleanUpNested) {
  cleaned = 0;
  pthread_barrier_init(&barrier, NULL, 2);
  run_two(meet_in_two_scopes);
  mc_assert(cleaned == 2);
}

static void* add_one(void* unused) {
  (void)unused;
  pthread_mutex_lock(&mutex);
  ++value;
  pthread_mutex_unlock(&mutex);
  return NULL;
}

// The tables of a locale lie in mappings that end with the execution.
MC_TEST(LocaleOfItsOwn) {
  value = 0;
  mc_assert(setlocale(LC_ALL, "C.UTF-8") != NULL);
  run_two(add_one);
  mc_assert(value == 2);
}

static time_t second;
static struct timespec exact;
static struct timeval of_day;
static int seen;

static void* look_at_times(void* unused) {
  (void)unused;
  seen = second != 0 || exact.tv_sec != 0 || of_day.tv_sec != 0;
  return NULL;
}

// The first thing a thread does after it created another.
#define AFTER_CREATION(name, call)                      \
  MC_TEST(name) {                                       \
    second = exact.tv_sec = of_day.tv_sec = 0;          \
    pthread_t thread;                                   \
    pthread_create(&thread, NULL, look_at_times, NULL); \
    call;                                               \
    pthread_join(thread, NULL);                         \
    mc_assert(seen);                                    \
  }
AFTER_CREATION(TimeAfterCreation, time(&second))
AFTER_CREATION(ClockAfterCreation, clock_gettime(CLOCK_REALTIME, &exact))
AFTER_CREATION(TimeOfDayAfterCreation, gettimeofday(&of_day, NULL))

static void* change_directory(void* unused) {
  (void)unused;
  mc_assert(chdir("/") == 0);
  return NULL;
}

MC_TEST(DirectoryAfterCreation) {
  char place[256];
  mc_assert(chdir("/tmp") == 0);
  pthread_t thread;
  pthread_create(&thread, NULL, change_directory, NULL);
  mc_assert(getcwd(place, sizeof place) != NULL);
  pthread_join(thread, NULL);
  mc_assert(strcmp(place, "/tmp") == 0);
}

MC_MAIN();
