// A ring buffer between one producer and one consumer, without locks.
//
// The slots are plain memory: what makes them safe is that `tail` is stored with release after a
// slot is filled and loaded with acquire before it is read (and `head` likewise in the other
// direction). mc verifies that every order keeps the items in order and that no slot is touched by
// both at once. With -DRELAXED the stores promise nothing: a data race.
#include <atomic>
#include <cassert>
#include <thread>

#ifdef RELAXED
static constexpr std::memory_order kPublish = std::memory_order_relaxed;
#else
static constexpr std::memory_order kPublish = std::memory_order_release;
#endif

template <typename T, unsigned kCapacity>
class Ring {
 public:
  bool Push(T item) {
    const unsigned tail = tail_.load(std::memory_order_relaxed);  // only the producer writes it
    if (tail - head_.load(std::memory_order_acquire) == kCapacity) return false;
    slots_[tail % kCapacity] = item;
    tail_.store(tail + 1, kPublish);
    return true;
  }

  bool Pop(T* item) {
    const unsigned head = head_.load(std::memory_order_relaxed);  // only the consumer writes it
    if (head == tail_.load(std::memory_order_acquire)) return false;
    *item = slots_[head % kCapacity];
    head_.store(head + 1, kPublish);
    return true;
  }

 private:
  T slots_[kCapacity] = {};
  std::atomic<unsigned> head_{0}, tail_{0};
};

int main() {
  static Ring<int, 2> ring;
  constexpr int kItems = 3;
  std::thread producer([] {
    for (int i = 1; i <= kItems; ++i) {
      while (!ring.Push(i)) {
      }
    }
  });
  for (int i = 1; i <= kItems; ++i) {
    int item = 0;
    while (!ring.Pop(&item)) {
    }
    assert(item == i);
  }
  producer.join();
}
