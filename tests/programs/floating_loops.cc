// Loops whose rounds differ in nothing but the floating-point environment, and one whose rounds do
// not differ at all. tests/e2e/floating_loops.test says what mc must make of each.
#include <assert.h>
#include <fenv.h>
#include <mc/mc.h>

#include <atomic>
#include <thread>

namespace {

std::atomic<int> flag{0};

void Set() { flag = 1; }

// In the third round the rounding mode tells that it is the third.
bool GivesUpInThirdRound() {
  while (flag.load() == 0) {
    const int mode = fegetround();
    if (mode == FE_DOWNWARD) return true;
    fesetround(mode == FE_TONEAREST ? FE_UPWARD : FE_DOWNWARD);
  }
  return false;
}

bool SeesDivisionByZero() {
  while (flag.load() == 0) {
    if (fetestexcept(FE_DIVBYZERO) != 0) return true;
    double zero = 0, result;
    asm volatile("" : "+x"(zero));
    result = 1 / zero;
    asm volatile("" : : "x"(result));
  }
  return false;
}

}  // namespace

MC_TEST(RoundingModeCounts) {
  std::thread setter(Set);
  std::thread waits([] { assert(!GivesUpInThirdRound()); });
  setter.join();
  waits.join();
}

MC_TEST(RoundingModeEnds) {
  std::thread ends([] { assert(GivesUpInThirdRound()); });
  ends.join();
}

MC_TEST(DivisionIsSeen) {
  std::thread setter(Set);
  std::thread waits([] { assert(!SeesDivisionByZero()); });
  setter.join();
  waits.join();
}

MC_TEST(SameModeEachRound) {
  std::thread setter(Set);
  while (flag.load() == 0) fesetround(FE_UPWARD);
  setter.join();
}
