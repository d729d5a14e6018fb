// `if` where `while` is needed: a consumer that was woken does not look again whether there is
// something to take.
//
// Between the notification and the moment the sleeper has the mutex back, the other consumer can
// walk in and take the item. With -DWHILE the condition is tested again, and mc verifies the
// buffer.
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>

class Buffer {
 public:
  void Put(int item) {
    std::unique_lock<std::mutex> lock(mutex_);
    assert(count_ < kCapacity);  // this test never puts more
    items_[count_++] = item;
    not_empty_.notify_one();
  }

  int Take() {
    std::unique_lock<std::mutex> lock(mutex_);
#ifdef WHILE
    while (count_ == 0) not_empty_.wait(lock);
#else
    if (count_ == 0) not_empty_.wait(lock);
#endif
    assert(count_ > 0);
    return items_[--count_];
  }

 private:
  static constexpr int kCapacity = 2;
  std::mutex mutex_;
  std::condition_variable not_empty_;
  int items_[kCapacity] = {};
  int count_ = 0;
};

int main() {
  Buffer buffer;
  std::thread first([&] { buffer.Take(); });
  std::thread second([&] { buffer.Take(); });
  buffer.Put(1);
  buffer.Put(2);
  first.join();
  second.join();
}
