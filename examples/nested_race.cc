// A race that hides another one: the panic below needs a race on x, and after it a race on y.
//
// The program is Figure 5 of Blum, "Soundness Proofs for Iterative Deepening" (CMU-PDL-16-103). If
// threads are switched at synchronisation calls only, the second `if` is never entered, so no test
// run can even tell that y is shared. mc finds the race on x, makes those lines preemption points,
// in that larger state space sees the race on y, and in the next one the panic.
#include <cassert>
#include <thread>

struct Progress {
  bool x = false;  // "I incremented x"
  bool y = false;
};

static int x = 0, y = 0;
static Progress first, second;

static void Run(Progress& mine, const Progress& theirs) {
  x = x + 1;
  mine.x = true;
  if (x == 1 && theirs.x) {  // both incremented x, but it is 1: they raced
    y = y + 1;
    mine.y = true;
    if (y == 1 && theirs.y) {  // and they raced again
      assert(!"both increments were lost");
    }
  }
}

int main() {
  std::thread one([] { Run(first, second); });
  std::thread two([] { Run(second, first); });
  one.join();
  two.join();
}
