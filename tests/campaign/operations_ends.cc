// What tells whether a thread has ended without waiting for it. In a program that refers to any of
// these functions the end of a thread is a preemption point (Scheduler::SetEndsAreSeen). So there
// is one harness with them and one without, where the instructions that would use them are left
// out. Instrumented.
#include <mc/mc.h>

#include "tests/campaign/objects.h"
#include "tests/campaign/operation.h"

namespace mc::campaign {
namespace {

#ifdef MC_CAMPAIGN_SEES_ENDS
template <int thread>
long TryJoin(long, long) {
  return pthread_tryjoin_np(HandleOf(thread), nullptr);
}
constexpr OperationBody kTryJoin1 = TryJoin<1>, kTryJoin2 = TryJoin<2>;
#else
constexpr OperationBody kTryJoin1 = nullptr, kTryJoin2 = nullptr;
#endif

constexpr Operation kOperations[] = {
    {"r=tryjoin 1", kTryJoin1, Success::kZero, Needs::kKnown, Takes::kThread, 1},
    {"r=tryjoin 2", kTryJoin2, Success::kZero, Needs::kKnown, Takes::kThread, 2},
};

}  // namespace

std::span<const Operation> EndOperations() { return kOperations; }

}  // namespace mc::campaign
