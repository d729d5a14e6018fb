#include "sched/interpose/stream_call.h"

#include "sched/interpose/hook.h"
#include "sched/interpose/real_function.h"
#include "sched/interpose/shared_state.h"

namespace mc::sched {
namespace {

// glibc's _IO_lock_t.
struct StreamLockView {
  int lock;
  int count;
  void* owner;
};

const StreamLockView* LockOf(const FILE* file) {
  return static_cast<const StreamLockView*>(static_cast<const void*>(file->_lock));
}

bool IsHeldBy(const FILE* file, const Thread& thread) {
  const StreamLockView* const lock = LockOf(file);
  return lock != nullptr && lock->lock != 0 &&
         reinterpret_cast<uintptr_t>(lock->owner) == thread.thread_pointer;
}

bool IsFree(const FILE* file) {
  const StreamLockView* const lock = LockOf(file);
  return lock == nullptr || lock->lock == 0;
}

bool StreamIsFree(const Thread& thread) {
  return IsFree(reinterpret_cast<const FILE*>(thread.wait_object));
}

bool IsStandardOutput(const FILE* file) { return file == stdout || file == stderr; }

Cell LockCell(const FILE* file) { return CellOf(CellKind::kMutex, file); }

constexpr auto kAsLock = static_cast<PreemptionPointClass>(kPpLock | kPpEveryAccess);

// Waits until nobody else has the lock.
void WaitForStream(FILE* file, PreemptionPointClass pp, uint64_t pc) {
  const Operation operation =
      MakeOperation(OperationKind::kLock, LockCell(file), pc, OperationDetail::kLock);
  g_scheduler.current().wait_object = reinterpret_cast<uintptr_t>(file);
  g_scheduler.Block(pp, operation, &StreamIsFree);
}

// Of standard output or standard error: what functions of one kind do to it commutes.
void RecordUse(const FILE* file, StreamUse use, uint64_t pc) {
  const auto record = [=](SharedState state, uint8_t mode) {
    const Cell cell = SharedStateCell(state) + (file == stderr ? 1 : 0);
    g_scheduler.RecordCell(cell, mode, mode == kAdd ? 0 : kValueRelevant, pc);
  };
  const bool any = use == StreamUse::kAny;
  record(SharedState::kNarrowOutput, any ? kReadWrite : use == StreamUse::kWide ? kRead : kAdd);
  record(SharedState::kWideOutput, any ? kReadWrite : use == StreamUse::kWide ? kAdd : kRead);
}

void RecordTaken(const FILE* file, uint64_t pc) {
  g_scheduler.CheckAlive(reinterpret_cast<uintptr_t>(file), sizeof *file, kRead, pc);
  // What the call does depends on what others have done with the stream.
  g_scheduler.RecordCell(LockCell(file), kReadWrite, kAcquire | kValueRelevant, pc);
  g_scheduler.RecordObject(file, sizeof *file, kRead, pc);
  // It changes what functions that take no lock read.
  g_scheduler.RecordMemory(reinterpret_cast<uintptr_t>(file), sizeof file->_flags, kReadWrite, 0,
                           pc, MemoryOrder::kRelaxed);
  g_scheduler.Ledger(LockCell(file), 0, OwnerOf(g_scheduler.current()));
}

void RecordReleased(const FILE* file, uint64_t pc) {
  g_scheduler.RecordCell(LockCell(file), kWrite, kRelease, pc);
  g_scheduler.Ledger(LockCell(file), OwnerOf(g_scheduler.current()), 0);
}

}  // namespace

StreamCall::StreamCall(FILE* file, uint64_t pc, StreamUse use) : pc_(pc) {
  if (!g_program_running || file == nullptr) return;
  EngineScope scope;
  Thread& thread = g_scheduler.current();
  if (IsStandardOutput(file)) {
    const bool is_held = IsHeldBy(file, thread);
    if (!is_held) {
      g_scheduler.BeforeAccess(reinterpret_cast<uintptr_t>(file), 1, kRead, 0, pc);
      WaitForStream(file, PreemptionPointClass{}, pc);
      g_scheduler.RecordCell(LockCell(file), kRead, kValueRelevant, pc);
    }
    RecordUse(file, use, pc);
    return;
  }
  g_scheduler.CheckAlive(reinterpret_cast<uintptr_t>(file), sizeof *file, kRead, pc);
  if (IsHeldBy(file, thread)) return;
  g_scheduler.SystemCallInLoop(pc);
  WaitForStream(file, kAsLock, pc);
  RecordTaken(file, pc);
  g_scheduler.Progress();
  file_ = file;
}

StreamCall::~StreamCall() {
  if (file_ == nullptr) return;
  EngineScope scope;
  RecordReleased(file_, pc_);
  AfterOperation(kPpUnlock);
}

void LockStream(FILE* file, uint64_t pc) {
  MC_REAL_OF(flockfile);
  if (!g_program_running) return real(file);
  EngineScope scope;
  Thread& thread = g_scheduler.current();
  if (!IsHeldBy(file, thread)) {
    WaitForStream(file, kAsLock, pc);
    RecordTaken(file, pc);
    RememberHeld(thread, file, pc);
    AfterOperation(0);
  }
  g_scheduler.Progress();
  real(file);
}

void UnlockStream(FILE* file, uint64_t pc) {
  MC_REAL_OF(funlockfile);
  if (!g_program_running) return real(file);
  EngineScope scope;
  Thread& thread = g_scheduler.current();
  if (!IsHeldBy(file, thread)) {
    Misuse("funlockfile of a stream that " + NameOfOwner(OwnerOf(thread)) + " has not locked", pc,
           0);
    return;
  }
  g_scheduler.Progress();
  if (LockOf(file)->count > 1) return real(file);
  BeforeOperation(kPpUnlock, pc, OperationDetail::kUnlock);
  real(file);
  RecordReleased(file, pc);
  ForgetHeld(thread, file);
  AfterOperation(kPpUnlock);
}

}  // namespace mc::sched
