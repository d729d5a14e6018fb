// A reader-writer lock made from a mutex and a condition variable; writers wait for readers to
// leave.
//
// Readers check that they never see half of an update. With -DBROKEN a writer forgets that readers
// may be inside.
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>

class ReaderWriterLock {
 public:
  void LockShared() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return !writing_; });
    ++readers_;
  }
  void UnlockShared() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (--readers_ == 0) changed_.notify_all();
  }
  void Lock() {
    std::unique_lock<std::mutex> lock(mutex_);
#ifdef BROKEN
    changed_.wait(lock, [this] { return !writing_; });
#else
    changed_.wait(lock, [this] { return !writing_ && readers_ == 0; });
#endif
    writing_ = true;
  }
  void Unlock() {
    std::lock_guard<std::mutex> lock(mutex_);
    writing_ = false;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int readers_ = 0;
  bool writing_ = false;
};

static ReaderWriterLock lock;
static int celsius = 0, fahrenheit = 32;

static void Read() {
  lock.LockShared();
  assert(fahrenheit == celsius * 9 / 5 + 32);
  lock.UnlockShared();
}

static void Write() {
  lock.Lock();
  celsius = 100;
  fahrenheit = 212;
  lock.Unlock();
}

int main() {
  std::thread reader(Read);
  std::thread writer(Write);
  Read();
  reader.join();
  writer.join();
}
