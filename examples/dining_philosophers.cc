// The dining philosophers: everyone takes the left fork first, and one day nobody eats.
//
// With -DORDERED the last philosopher takes the forks in the other order, and mc verifies that
// nobody starves at the table.
#include <mutex>
#include <thread>
#include <vector>

static constexpr int kPhilosophers = 3;
static std::mutex forks[kPhilosophers];

static void Dine(int seat) {
  std::mutex* left = &forks[seat];
  std::mutex* right = &forks[(seat + 1) % kPhilosophers];
#ifdef ORDERED
  if (left > right) std::swap(left, right);
#endif
  std::lock_guard<std::mutex> hold_left(*left);
  std::lock_guard<std::mutex> hold_right(*right);
  // ... spaghetti ...
}

int main() {
  std::vector<std::thread> philosophers;
  for (int seat = 0; seat < kPhilosophers; ++seat) philosophers.emplace_back(Dine, seat);
  for (std::thread& philosopher : philosophers) philosopher.join();
}
