// The queue lock of Mellor-Crummey and Scott, each thread waiting on a node of its own that is
// thread_local.
//
// The lock publishes the address of a thread_local, threads spin on it, and it is built from
// atomics alone: no synchronisation call for a checker to hold on to. mc finds out by itself which
// of the atomic operations threads communicate through, and verifies that the lock protects the
// counter.
#include <atomic>
#include <cassert>
#include <thread>

class McsLock {
 public:
  void Lock() {
    node.next.store(nullptr, std::memory_order_relaxed);
    node.waiting.store(true, std::memory_order_relaxed);
    Node* before = tail_.exchange(&node, std::memory_order_acq_rel);
    if (before == nullptr) return;
    before->next.store(&node, std::memory_order_release);
    while (node.waiting.load(std::memory_order_acquire)) {
    }
  }

  void Unlock() {
    Node* next = node.next.load(std::memory_order_acquire);
    if (next == nullptr) {
      Node* expected = &node;
      if (tail_.compare_exchange_strong(expected, nullptr, std::memory_order_acq_rel)) return;
      // Somebody is queueing up behind us and has not said so yet.
      while ((next = node.next.load(std::memory_order_acquire)) == nullptr) {
      }
    }
    next->waiting.store(false, std::memory_order_release);
  }

 private:
  struct Node {
    std::atomic<Node*> next{nullptr};
    std::atomic<bool> waiting{false};
  };
  static thread_local Node node;

  std::atomic<Node*> tail_{nullptr};
};

thread_local McsLock::Node McsLock::node;

static McsLock lock;
static int counter = 0;

static void Increment() {
  lock.Lock();
  ++counter;
  lock.Unlock();
}

int main() {
  std::thread other(Increment);
  Increment();
  other.join();
  assert(counter == 2);
}
