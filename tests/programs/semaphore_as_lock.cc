// Three threads take turns by a semaphore. That of libstdc++ 12 can lose a wake-up: a thread reads
// 1, cannot get it since others take and give it meanwhile, and then sleeps as long as the counter
// is 1.
#include <semaphore>
#include <thread>

std::binary_semaphore turn(1);
int count = 0;

int main() {
  auto take_turn = [] {
    turn.acquire();
    ++count;
    turn.release();
  };
  std::thread first(take_turn), second(take_turn), third(take_turn);
  first.join();
  second.join();
  third.join();
  return count == 3 ? 0 : 1;
}
