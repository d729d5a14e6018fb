// Double-checked locking as it was taught for years: test the pointer, lock, test again, create.
//
// Every interleaving of its steps ends well, so testing cannot show what is wrong. But the first
// test reads a plain pointer that another thread may be writing: a data race, and with it the
// compiler and the processor are free to let the reader see the pointer before the object. With
// -DFIXED the pointer is atomic, the store a release and the load an acquire, and mc verifies the
// program.
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

struct Settings {
  int volume = 11;
};

static std::mutex creation;
#ifdef FIXED
static std::atomic<Settings*> instance{nullptr};
static Settings* Load() { return instance.load(std::memory_order_acquire); }
static void Store(Settings* settings) { instance.store(settings, std::memory_order_release); }
#else
static Settings* instance = nullptr;
static Settings* Load() { return instance; }
static void Store(Settings* settings) { instance = settings; }
#endif

static Settings* Get() {
  if (Load() == nullptr) {
    std::lock_guard<std::mutex> lock(creation);
    if (Load() == nullptr) Store(new Settings);
  }
  return Load();
}

int main() {
  std::thread reader([] { assert(Get()->volume == 11); });
  assert(Get()->volume == 11);
  reader.join();
  delete Load();
}
