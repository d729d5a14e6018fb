// futex(2), on which libstdc++ builds atomic waiting, latches, barriers, semaphores and futures
// (spec optimal-dpor 1.4, last paragraph). A queue of waiters is the cell of the word's address.
#include <errno.h>
#include <linux/futex.h>

#include <string>

#include "sched/interpose/hook.h"
#include "sched/interpose/system_call.h"
#include "sched/interpose/virtual_time.h"
#include "sched/interpose/waiting.h"

namespace mc::sched {

namespace {

Cell QueueCell(const uint32_t* word) { return CellOf(CellKind::kFutexQueue, word); }

long Fail(int error) {
  errno = error;
  return -1;
}

// Thread::clock_ns at which the wait runs out. FUTEX_WAIT takes an interval, the bitset form a
// time.
uint64_t DeadlineOf(const Thread& thread, int command, const timespec* timeout) {
  if (timeout == nullptr) return 0;
  return command == FUTEX_WAIT ? thread.clock_ns + IntervalOf(*timeout) : ClockAt(*timeout);
}

long Wait(uint32_t* word, int command, uint32_t expected, const timespec* timeout, uint64_t pc,
          const EntryRegisters& registers) {
  Thread& thread = g_scheduler.current();
  if (timeout != nullptr && !IsValidTime(*timeout)) return Fail(EINVAL);
  WaitPoint point(timeout != nullptr, pc, registers);
  BeforeOperation(kPpAtomic, pc, OperationDetail::kFutexWait);
  const uint32_t found = __atomic_load_n(word, __ATOMIC_SEQ_CST);
  g_scheduler.RecordMemory(reinterpret_cast<uintptr_t>(word), sizeof *word, kRead, kAtomic, pc,
                           MemoryOrder::kSeqCst);
  if (found != expected) return Fail(EAGAIN);
  const Cell queue = QueueCell(word);
  g_scheduler.RecordCell(queue, kWrite, 0, pc);
  const uint64_t end = DeadlineOf(thread, command, timeout);
  const bool woken = point.Wait(kFutexWaiting, queue, reinterpret_cast<uintptr_t>(word),
                                OperationDetail::kFutexWait);
  if (!woken) {
    g_scheduler.RecordCell(queue, kWrite, 0, pc);
    RaiseClock(&thread.clock_ns, end);
    return Fail(ETIMEDOUT);
  }
  g_scheduler.Progress();
  return 0;
}

// The number of ways to choose k of n; UINT32_MAX if there are as many or more.
uint32_t Combinations(size_t n, size_t k) {
  uint64_t result = 1;
  for (size_t i = 1; i <= k; ++i) {
    result = result * (n - k + i) / i;
    if (result >= UINT32_MAX) return UINT32_MAX;
  }
  return static_cast<uint32_t>(result);
}

// Which `count` of the waiters are woken: one explored choice among all sets of that size.
std::vector<Thread*> ChooseSome(const std::vector<Thread*>& waiters, size_t count) {
  std::vector<Thread*> chosen;
  uint32_t rank = g_scheduler.Choose(Combinations(waiters.size(), count));
  for (size_t i = 0; i < waiters.size() && chosen.size() < count; ++i) {
    const size_t left = waiters.size() - i;
    const size_t needed = count - chosen.size();
    const uint32_t with_this = left == needed ? UINT32_MAX : Combinations(left - 1, needed - 1);
    if (rank < with_this) {
      chosen.push_back(waiters[i]);
    } else {
      rank -= with_this;
    }
  }
  return chosen;
}

long Wake(uint32_t* word, uint32_t count, uint64_t pc) {
  BeforeOperation(0, pc, OperationDetail::kFutexWake);
  std::vector<Thread*> waiters = WaitersAt(kFutexWaiting, reinterpret_cast<uintptr_t>(word));
  if (waiters.empty() || count == 0) {
    g_scheduler.RecordCell(QueueCell(word), kRead, kValueRelevant, pc);
    AfterOperation(kPpCond);
    return 0;
  }
  g_scheduler.RecordCell(QueueCell(word), kReadWrite, kValueRelevant, pc);
  if (count < waiters.size()) waiters = ChooseSome(waiters, count);
  for (Thread* waiter : waiters) {
    WakeWaiter(*waiter,
               MakeOperation(OperationKind::kFutexReturn, WakeCell(*waiter), waiter->pending.pc,
                             OperationDetail::kFutexReturn),
               nullptr, pc);
  }
  g_scheduler.Progress();
  AfterOperation(kPpCond);
  return static_cast<long>(waiters.size());
}

}  // namespace

long DoFutex(uint32_t* word, int operation, uint32_t value, const timespec* timeout, uint32_t mask,
             uint64_t pc, const EntryRegisters& registers) {
  const int command = operation & ~(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
  const bool all_bits = mask == FUTEX_BITSET_MATCH_ANY;
  if (command == FUTEX_WAIT || (command == FUTEX_WAIT_BITSET && all_bits)) {
    return Wait(word, command, value, timeout, pc, registers);
  }
  if (command == FUTEX_WAKE || (command == FUTEX_WAKE_BITSET && all_bits)) {
    return Wake(word, value, pc);
  }
  Unsupported("futex operation " + std::to_string(command) +
              (all_bits ? "" : " (with bit set " + std::to_string(mask) + ")"));
}

}  // namespace mc::sched
