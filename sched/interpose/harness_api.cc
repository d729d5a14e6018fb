// The functions of <mc/mc.h> that a test calls while it runs. In a plain run of the same binary,
// not under mc, they do what the header's ordinary program does.
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <string>

#include "sched/interpose/hook.h"
#include "sched/interpose/real.h"
#include "sched/interpose/spin_stub.h"
#include "sched/interpose/virtual_time.h"
#include "sched/interpose/waiting.h"

namespace mc::sched {

namespace {

bool IsWoken(const Thread& thread) { return thread.woken; }

bool IsDescheduled(const Thread& thread) {
  return thread.status == ThreadStatus::kRunnable && !thread.woken &&
         thread.pending.kind == OperationKind::kDescheduled;
}

// Apart from the wake cell: a call of mc_make_runnable that is lost does not end whatever else the
// thread waits for.
Cell DescheduledCell(const Thread& thread) { return MakeCell(CellKind::kDescheduled, thread.id); }

void Deschedule(uint64_t pc) {
  Thread& thread = g_scheduler.current();
  BeforeOperation(kPpThread, pc, OperationDetail::kDeschedule);
  const Cell wake = WakeCell(thread);
  g_scheduler.RecordCell(DescheduledCell(thread), kWrite, 0, pc);
  thread.woken = thread.timed_out = false;
  g_scheduler.EndBlock(
      MakeOperation(OperationKind::kDescheduled, wake, pc, OperationDetail::kDeschedule), &IsWoken);
  g_scheduler.RecordCell(wake, kRead, kValueRelevant | kAcquire, pc);
  g_scheduler.Progress();
  AfterOperation(kPpThread);
}

void MakeRunnable(int number, uint64_t pc) {
  BeforeOperation(kPpThread, pc, OperationDetail::kMakeRunnable);
  const auto id = static_cast<ThreadId>(number);
  // Is there such a thread yet? A creation may be preempted for this, and by no other operation.
  g_scheduler.mutable_result().needs_full_footprints = true;
  const Cell start = MakeCell(CellKind::kThreadStart, id);
  g_scheduler.RecordCell(start, kRead, kValueRelevant, pc);
  if (number < 0 || static_cast<uint32_t>(number) >= g_scheduler.thread_limit() ||
      !g_scheduler.ThreadById(id).exists) {
    g_scheduler.RecordFailedTest(start, pc);
    Misuse("mc_make_runnable(" + std::to_string(number) + "): there is no such thread", pc, 0);
    return;
  }
  Thread& target = g_scheduler.ThreadById(id);
  if (IsDescheduled(target)) {
    g_scheduler.RecordCell(DescheduledCell(target), kReadWrite, kValueRelevant, pc);
    WakeWaiter(target,
               MakeOperation(OperationKind::kFutexReturn, WakeCell(target), target.pending.pc,
                             OperationDetail::kDeschedule),
               nullptr, pc);
  } else {  // lost
    g_scheduler.RecordCell(DescheduledCell(target), kRead, kValueRelevant, pc);
  }
  g_scheduler.Progress();
  AfterOperation(kPpThread);
}

// A plain run: thread numbers in the order in which the threads ask, and one wake-up per number
// that waits to be used.
struct PlainRun {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t woken = PTHREAD_COND_INITIALIZER;
  int threads = 0;
  pthread_t thread[kMaxThreads];
  bool wake[kMaxThreads];
};
PlainRun g_plain;

int PlainSelf() {
  const pthread_t self = pthread_self();
  Real().pthread_mutex_lock(&g_plain.mutex);
  int number = 0;
  while (number < g_plain.threads && !pthread_equal(g_plain.thread[number], self)) ++number;
  if (number == static_cast<int>(kMaxThreads)) abort();
  if (number == g_plain.threads) g_plain.thread[g_plain.threads++] = self;
  Real().pthread_mutex_unlock(&g_plain.mutex);
  return number;
}

void PlainDeschedule() {
  const int self = PlainSelf();
  Real().pthread_mutex_lock(&g_plain.mutex);
  while (!g_plain.wake[self]) Real().pthread_cond_wait(&g_plain.woken, &g_plain.mutex);
  g_plain.wake[self] = false;
  Real().pthread_mutex_unlock(&g_plain.mutex);
}

void PlainMakeRunnable(int number) {
  if (number < 0 || number >= static_cast<int>(kMaxThreads)) return;
  Real().pthread_mutex_lock(&g_plain.mutex);
  g_plain.wake[number] = true;
  Real().pthread_cond_broadcast(&g_plain.woken);
  Real().pthread_mutex_unlock(&g_plain.mutex);
}

std::string Format(const char* format, va_list arguments) {
  char text[1024];
  const int length = vsnprintf(text, sizeof text, format, arguments);
  if (length < 0) return format;
  const size_t kept = std::min(static_cast<size_t>(length), sizeof text - 1);
  return std::string(text, kept);
}

}  // namespace

}  // namespace mc::sched

using namespace mc::sched;

MC_HOOK int mc_choose(int n) {
  if (!g_scheduler.program_running()) return 0;
  EngineScope scope;
  const uint64_t pc = MC_CALLER_PC();
  if (n < 1) {
    g_scheduler.FailThread(BugKind::kSyncMisuse,
                           "mc_choose(" + std::to_string(n) + "): there is nothing to choose from",
                           pc);
  }
  return static_cast<int>(g_scheduler.Choose(static_cast<uint32_t>(n)));
}

MC_HOOK void mc_assume_(int holds) {
  if (holds != 0) return;
  if (!g_scheduler.program_running()) {
    fflush(nullptr);
    _Exit(0);
  }
  EngineScope scope;
  g_scheduler.FailAssumption(MC_CALLER_PC());
}

MC_HOOK void mc_assert_failed_(const char* condition, const char* file, unsigned line,
                               const char* function) {
  if (!g_scheduler.program_running()) {
    fprintf(stderr, "%s:%u: %s: mc_assert(%s) failed\n", file, line, function, condition);
    abort();
  }
  EngineScope scope;
  g_scheduler.FailThread(BugKind::kAssertion,
                         std::string(file) + ":" + std::to_string(line) + ": " + function +
                             ": mc_assert(" + condition + ") failed",
                         MC_CALLER_PC());
}

MC_HOOK void mc_fail(const char* message) {
  if (!g_scheduler.program_running()) {
    fprintf(stderr, "mc_fail: %s\n", message);
    abort();
  }
  EngineScope scope;
  g_scheduler.FailThread(BugKind::kCustom, message, MC_CALLER_PC());
}

MC_HOOK __attribute__((format(printf, 1, 2))) void mc_log(const char* format, ...) {
  if (!g_scheduler.program_running()) return;
  EngineScope scope;
  if (!g_scheduler.options().narrate) return;
  va_list arguments;
  va_start(arguments, format);
  g_scheduler.Log(Format(format, arguments));
  va_end(arguments);
}

// The preemption points inside the section move to its two ends.
MC_HOOK void mc_atomic_begin() {
  if (!g_scheduler.program_running()) return;
  EngineScope scope;
  if (g_scheduler.current().atomic_depth == 0) {
    g_scheduler.LeaveFreshBlock();
    BeforeOperation(kPpLock | kPpAtomic, MC_CALLER_PC(), OperationDetail::kAtomicSection);
  }
  ++g_scheduler.current().atomic_depth;
}

MC_HOOK void mc_atomic_end() {
  if (!g_scheduler.program_running()) return;
  EngineScope scope;
  if (g_scheduler.current().atomic_depth == 0) {
    Misuse("mc_atomic_end without mc_atomic_begin", MC_CALLER_PC(), 0);
    return;
  }
  if (--g_scheduler.current().atomic_depth == 0) AfterOperation(kPpUnlock | kPpAtomic);
}

MC_SPIN_STUB(mc_yield, mc_entry_yield);
MC_BEHIND_STUB void mc_entry_yield() {
  if (!g_scheduler.program_running()) {
    Real().sched_yield();
    return;
  }
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  Yield(MC_CALLER_PC(), registers);
}

// The program says that it waits: the state of its registers and stack does not matter. Two visits
// without a change in between make a loop.
MC_HOOK void mc_spin_hint() {
  if (!g_scheduler.program_running()) {
    Real().sched_yield();
    return;
  }
  EngineScope scope;
  EntryRegisters registers = {};
  registers.stack_pointer = g_scheduler.current().stack_high - sizeof(uint64_t);
  Yield(MC_CALLER_PC(), registers);
}

MC_HOOK int mc_self() {
  return g_scheduler.program_running() ? g_scheduler.current().id : PlainSelf();
}

MC_HOOK void mc_deschedule() {
  if (!g_scheduler.program_running()) return PlainDeschedule();
  EngineScope scope;
  Deschedule(MC_CALLER_PC());
}

MC_HOOK void mc_make_runnable(int thread) {
  if (!g_scheduler.program_running()) return PlainMakeRunnable(thread);
  EngineScope scope;
  MakeRunnable(thread, MC_CALLER_PC());
}
