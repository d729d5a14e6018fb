// As in corner_thread_ends, but the program gets at the function that tells by its name.
#include <dlfcn.h>
#include <mc/mc.h>
#include <pthread.h>

#include <atomic>

MC_TEST(LookedUpTryJoinFails) {
  using TryJoin = int (*)(pthread_t, void**);
  const auto try_join = reinterpret_cast<TryJoin>(dlsym(RTLD_DEFAULT, "pthread_tryjoin_np"));
  static std::atomic<int> last{0};
  pthread_t thread;
  pthread_create(
      &thread, nullptr,
      [](void*) -> void* {
        last = 1;
        return nullptr;
      },
      nullptr);
  if (last == 1) mc_assert(try_join(thread, nullptr) == 0);
}
