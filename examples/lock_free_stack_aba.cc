// The ABA problem: a compare-exchange that succeeds although everything has changed in between.
//
// One thread is about to pop A and has read that B comes next. The other pops A, pops B, and pushes
// A back. The head is A again, so the first thread's compare-exchange succeeds, and makes B the
// head: a node that somebody already owns.
#include <atomic>
#include <cassert>
#include <thread>

struct Node {
  std::atomic<Node*> next{nullptr};
  std::atomic<bool> owned{false};  // some thread has popped it
};

class Stack {
 public:
  void Push(Node* node) {
    Node* head = head_.load();
    do {
      node->next.store(head);
    } while (!head_.compare_exchange_strong(head, node));
  }

  Node* Pop() {
    Node* head = head_.load();
    while (head != nullptr) {
      Node* next = head->next.load();
      if (head_.compare_exchange_strong(head, next)) return head;
    }
    return nullptr;
  }

 private:
  std::atomic<Node*> head_{nullptr};
};

static Node a, b;
static Stack stack;

static Node* PopAndOwn() {
  Node* node = stack.Pop();
  if (node != nullptr) {
    const bool already_owned = node->owned.exchange(true);
    assert(!already_owned);
  }
  return node;
}

int main() {
  stack.Push(&b);
  stack.Push(&a);
  std::thread other([] {
    PopAndOwn();
    PopAndOwn();
  });
  Node* node = PopAndOwn();
  PopAndOwn();
  if (node != nullptr) {
    node->owned.store(false);
    stack.Push(node);
  }
  other.join();
}
