/* The threads of C11, from C. corners.txt says what mc must find in each. */
#include <mc/mc.h>
#include <stdatomic.h>
#include <threads.h>
#include <time.h>

static mtx_t mutex;
static cnd_t changed;
static int value;
static atomic_int shared;

static int add(void* unused) {
  (void)unused;
  mtx_lock(&mutex);
  ++value;
  mtx_unlock(&mutex);
  return 7;
}

MC_TEST(MutexAndJoin) {
  thrd_t thread;
  int result = 0;
  mc_assert(mtx_init(&mutex, mtx_plain) == thrd_success);
  mc_assert(thrd_create(&thread, add, NULL) == thrd_success);
  add(NULL);
  mc_assert(thrd_join(thread, &result) == thrd_success);
  mc_assert(result == 7 && value == 2);
  mtx_destroy(&mutex);
}

static int set_and_signal(void* unused) {
  (void)unused;
  mtx_lock(&mutex);
  value = 1;
  cnd_signal(&changed);
  mtx_unlock(&mutex);
  return 0;
}

MC_TEST(ConditionAndTimedWait) {
  value = 0;
  thrd_t thread;
  struct timespec deadline;
  mtx_init(&mutex, mtx_plain);
  cnd_init(&changed);
  thrd_create(&thread, set_and_signal, NULL);
  mtx_lock(&mutex);
  timespec_get(&deadline, TIME_UTC);
  deadline.tv_sec += 1;
  int waited = thrd_success;
  if (value == 0) waited = cnd_timedwait(&changed, &mutex, &deadline);
  mc_assert(value == 1 || waited == thrd_timedout);
  mtx_unlock(&mutex);
  thrd_join(thread, NULL);
  cnd_destroy(&changed);
  mtx_destroy(&mutex);
}

static tss_t key;
static once_flag once = ONCE_FLAG_INIT;
static thread_local int own = 3;

static void create_key(void) {
  tss_create(&key, NULL);
  ++value;
}

static int use_own_storage(void* mine) {
  call_once(&once, create_key);
  tss_set(key, mine);
  ++own;
  atomic_fetch_add(&shared, 1);
  thrd_yield();
  mc_assert(tss_get(key) == mine && own == 4);
  return 0;
}

MC_TEST(OnceAndOwnStorage) {
  value = 0;
  thrd_t thread;
  int mine, other;
  thrd_create(&thread, use_own_storage, &other);
  use_own_storage(&mine);
  thrd_join(thread, NULL);
  mc_assert(value == 1 && shared == 2);
  tss_delete(key);
}

static int load_and_store(void* unused) {
  (void)unused;
  atomic_store(&shared, atomic_load(&shared) + 1);
  return 0;
}

MC_TEST(LostUpdate) {
  shared = 0;
  thrd_t thread;
  thrd_create(&thread, load_and_store, NULL);
  load_and_store(NULL);
  thrd_join(thread, NULL);
  mc_assert(shared == 2);
}

MC_MAIN();
