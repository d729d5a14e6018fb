// OperationDetail: what an operation is called, for people (Operation::detail, schedule files).
#ifndef MC_SCHED_OPERATION_DETAIL_H_
#define MC_SCHED_OPERATION_DETAIL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mc::sched {

enum class OperationDetail : uint8_t {
  kNone,
  kLock,
  kTryLock,
  kTimedLock,
  kUnlock,
  kMutexInit,
  kMutexDestroy,
  kMutexConsistent,
  kSpinLock,
  kSpinTryLock,
  kSpinUnlock,
  kSpinInit,
  kSpinDestroy,
  kReadLock,
  kWriteLock,
  kTryReadLock,
  kTryWriteLock,
  kReadWriteUnlock,
  kReadWriteInit,
  kReadWriteDestroy,
  kConditionWait,
  kConditionTimedWait,
  kReacquire,
  kSignal,
  kBroadcast,
  kConditionInit,
  kConditionDestroy,
  kSemaphoreWait,
  kSemaphoreTryWait,
  kSemaphorePost,
  kSemaphoreValue,
  kSemaphoreInit,
  kSemaphoreDestroy,
  kBarrierWait,
  kBarrierLeave,
  kBarrierInit,
  kBarrierDestroy,
  kFutexWait,
  kFutexWake,
  kFutexReturn,
  kCreate,
  kJoin,
  kTryJoin,
  kDetach,
  kOnce,
  kStaticInitialisation,
  kKey,
  kYield,
  kRandom,
  kDeschedule,
  kMakeRunnable,
  kAtomicSection,
  kSystemCall,
  kExit,
};

inline constexpr std::array<std::string_view, 54> kOperationDetailNames = {"",
                                                                           "lock",
                                                                           "trylock",
                                                                           "timed lock",
                                                                           "unlock",
                                                                           "mutex init",
                                                                           "mutex destroy",
                                                                           "mutex consistent",
                                                                           "spin lock",
                                                                           "spin trylock",
                                                                           "spin unlock",
                                                                           "spin init",
                                                                           "spin destroy",
                                                                           "read lock",
                                                                           "write lock",
                                                                           "try read lock",
                                                                           "try write lock",
                                                                           "rwlock unlock",
                                                                           "rwlock init",
                                                                           "rwlock destroy",
                                                                           "condition wait",
                                                                           "timed condition wait",
                                                                           "re-acquire",
                                                                           "signal",
                                                                           "broadcast",
                                                                           "condition init",
                                                                           "condition destroy",
                                                                           "semaphore wait",
                                                                           "semaphore trywait",
                                                                           "semaphore post",
                                                                           "semaphore getvalue",
                                                                           "semaphore init",
                                                                           "semaphore destroy",
                                                                           "barrier wait",
                                                                           "leave barrier",
                                                                           "barrier init",
                                                                           "barrier destroy",
                                                                           "futex wait",
                                                                           "futex wake",
                                                                           "return from futex wait",
                                                                           "create thread",
                                                                           "join",
                                                                           "try join",
                                                                           "detach",
                                                                           "once",
                                                                           "initialise static",
                                                                           "thread-specific key",
                                                                           "yield",
                                                                           "random number",
                                                                           "deschedule",
                                                                           "make runnable",
                                                                           "atomic section",
                                                                           "system call",
                                                                           "end of thread"};

// "" for a number that is none of them.
constexpr std::string_view NameOfOperationDetail(uint8_t detail) {
  return detail < kOperationDetailNames.size() ? kOperationDetailNames[detail] : std::string_view();
}

static_assert(NameOfOperationDetail(static_cast<uint8_t>(OperationDetail::kExit)) ==
              "end of thread");

}  // namespace mc::sched

#endif  // MC_SCHED_OPERATION_DETAIL_H_
