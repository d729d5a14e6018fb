// The part of the Scheduler that hooks call: preemption points, blocking, recording, failures.
#include "sched/scheduler.h"

#include <link.h>
#include <stdio.h>
#include <unwind.h>

#include <algorithm>

#include "sched/c_library.h"
#include "sched/operation_detail.h"

// The linker's marks of where this library begins and its code ends.
extern "C" __attribute__((visibility("hidden"))) char __ehdr_start, etext;

namespace mc::sched {

Scheduler g_scheduler;
bool g_program_running = false;

void Scheduler::Configure(const ExecutionOptions& options) {
  options_ = options;
  DropCheckpoints();
  sites_.Configure(options.preemption_points, Refined(kRefineSharedSites),
                   !options.full_footprints && options.exit_mode == ExitMode::kWait);
  leaves_out_owned_ = sites_.omits_ordered() && !options.full_record && !options.narrate;
  heap_.Configure(options.heap_policy);
  BoundLoops({});
}

Thread* Scheduler::FindByPthread(uintptr_t thread_pointer) {
  // Mostly it is the one after that asked for last: threads are joined in the order of creation.
  for (uint32_t looked_at = 0; looked_at < thread_limit_; ++looked_at) {
    if (++found_last_ >= thread_limit_) found_last_ = 0;
    Thread& t = *threads_[found_last_];
    if (t.exists && t.thread_pointer == thread_pointer) return &t;
  }
  return nullptr;
}

// ---------------------------------------------------------------- preemption points and blocking

void Scheduler::Before(PreemptionPointClass pp, uint64_t pc, uint8_t detail) {
  ++hook_calls_;
  // What an operation reads and writes can be a candidate like any other access.
  const bool is_point =
      PreemptionPointOn(pp) || (current_->atomic_depth == 0 && sites_.IsPreemptionPoint(pc, false));
  if (!block_is_fresh_ && (current_->preemption_due || is_point)) {
    Operation next;
    next.pc = pc;
    next.detail = detail;
    EndBlock(next, nullptr);
  }
  block_is_fresh_ = false;
}

void Scheduler::BeforeCreation(PreemptionPointClass pp, uint64_t pc, uint8_t detail) {
  if (!sites_.IsOrderedBySync(pc)) {
    Before(pp, pc, detail);
    return;
  }
  ++hook_calls_;
  block_is_fresh_ = false;
}

void Scheduler::NoteClockRead() {
  if (!recording_) return;
  for (size_t k = trace_.events.back().first_access; k < trace_.accesses.size(); ++k) {
    MicroAccess& access = trace_.accesses[k];
    if ((access.flags & kAcquire) != 0) access.flags |= kValueRelevant;
  }
}

void Scheduler::AppendMemory(uintptr_t address, size_t size, uint8_t mode, uint16_t flags,
                             uint64_t pc, MemoryOrder order) {
  MicroAccess a;
  a.begin = address;
  a.pc = pc;
  a.size = static_cast<uint32_t>(size);
  if (mode & kRead) flags |= kValueRelevant;
  if (sites_.IsOrderedBySync(pc)) flags |= kOrderedBySync;
  a.flags = flags;
  a.mode = mode;
  a.order = order;
  Append(a);
}

void Scheduler::PreemptBeforeAccess(uint64_t pc) {
  if (current_->atomic_depth != 0 || IsCLibraryCode(pc)) return;
  EndBlock(Operation{}, nullptr);
}

bool Scheduler::Block(PreemptionPointClass pp, const Operation& operation, EnabledTest can_run) {
  ++hook_calls_;
  if (!current_->preemption_due && !PreemptionPointOn(pp)) {
    block_is_fresh_ = false;
    if (can_run(*current_)) return false;
    RecordBlockingTest(operation);
  }
  EndBlock(operation, can_run);
  block_is_fresh_ = false;
  return true;
}

void Scheduler::RecordBlockingTest(const Operation& operation) {
  if (Mutated(EventModelMutation::kBlockTest)) return;
  constexpr uint16_t kFlags = kValueRelevant | kBlockingTest;
  switch (operation.kind) {
    case OperationKind::kLock:
    case OperationKind::kSemaphoreWait:
    case OperationKind::kReadLock:
    case OperationKind::kJoin:
      RecordCell(operation.object, kRead, kFlags, operation.pc);
      break;
    case OperationKind::kWriteLock:
      RecordCell(MakeCell(CellKind::kReadersHalf, ObjectOf(operation.object)), kRead, kFlags,
                 operation.pc);
      RecordCell(operation.object, kRead, kFlags, operation.pc);
      break;
    default:
      break;
  }
}

// Can a thread that only takes locks and gives them back (lock_attempts.h) wait for this?
static bool CanBePartOfLoop(OperationKind kind) {
  return kind == OperationKind::kNone || kind == OperationKind::kSpin ||
         kind == OperationKind::kLock || kind == OperationKind::kReadLock ||
         kind == OperationKind::kWriteLock;
}

// Does the end of such a wait change something that others can see? Then what follows is no part of
// it: a lock that was taken can be tried, of a wait that ran out nobody can be woken.
static bool OthersSeeEndOfWait(OperationKind kind) {
  return kind == OperationKind::kLock || kind == OperationKind::kReacquire ||
         kind == OperationKind::kSemaphoreWait || kind == OperationKind::kReadLock ||
         kind == OperationKind::kWriteLock || kind == OperationKind::kTimedWaiter;
}

void Scheduler::EndBlock(const Operation& next, EnabledTest can_run) {
  Thread& t = *current_;
  t.pending = next;
  t.can_run = can_run;
  t.preemption_due = false;
  if (t.yielded) MarkEvent(kVoluntary);
  if (!CanBePartOfLoop(next.kind)) t.spin.AnnounceSoon();
  FinishEvent();
  Schedule();
  if (OthersSeeEndOfWait(t.pending.kind)) block_is_fresh_ = false;  // the end that it came to
}

// ---------------------------------------------------------------------------------- recording

void Scheduler::RecordObject(const volatile void* object, size_t size, uint8_t mode, uint64_t pc) {
  if (!recording_) return;
  MicroAccess a;
  a.begin = reinterpret_cast<uintptr_t>(object);
  a.pc = pc;
  a.size = static_cast<uint32_t>(size);
  // Whether the object is there, or destroyed, decides what the operation does.
  a.flags = mode == kRead ? kObjectBytes | kValueRelevant : kObjectBytes;
  a.mode = mode;
  Append(a);
}

const MicroAccess* Scheduler::FirstAccessTo(uintptr_t address) const {
  const Event& event = trace_.events[position_];
  const size_t end =
      recording_ ? trace_.accesses.size() : event.first_access + size_t{event.access_count};
  for (size_t k = event.first_access; k < end; ++k) {
    const MicroAccess& access = trace_.accesses[k];
    if (access.begin <= address && address < access.end()) return &access;
  }
  return nullptr;
}

void Scheduler::Ledger(Cell object, int64_t before, int64_t after) {
  if (!recording_) return;
  const uint32_t first = trace_.events.back().first_ledger;
  for (size_t i = first; i < trace_.ledger.size(); ++i) {
    if (trace_.ledger[i].object != object) continue;
    trace_.ledger[i].after = after;
    return;
  }
  trace_.ledger.push_back({object, before, after});
}

void Scheduler::MarkEvent(uint16_t flags) {
  if (recording_) trace_.events.back().flags |= flags;
}

uint32_t Scheduler::Choose(uint32_t arity) {
  ++hook_calls_;
  if (arity <= 1) return 0;
  Progress();
  uint32_t value;
  if (recording_) {
    const Event& event = trace_.events.back();
    value = strategy_->NextChoice(position_, block_choices_, arity);
    trace_.choices.push_back(
        {value, arity, static_cast<uint32_t>(trace_.accesses.size()) - event.first_access});
  } else {
    const Event& event = trace_.events[position_];
    if (block_choices_ >= event.choice_count ||
        trace_.choices[event.first_choice + block_choices_].arity != arity) {
      Diverge(position_, "the step asks for a choice among " + std::to_string(arity) +
                             " that it did not ask for before");
      SwitchTo(engine_);
      __builtin_unreachable();
    }
    value = trace_.choices[event.first_choice + block_choices_].value;
  }
  ++block_choices_;
  if (mirror_ != nullptr && mirror_size_ < mirror_capacity_) {
    mirror_[mirror_size_++] = static_cast<uint16_t>(0x8000 | value);
    mirror_count_->store(mirror_size_, std::memory_order_release);
  }
  return value;
}

void Scheduler::Wake(Thread& waiter, uint64_t pc) {
  waiter.woken = true;
  if (waiter.clock_ns < current_->clock_ns) waiter.clock_ns = current_->clock_ns;
  RecordCell(MakeCell(CellKind::kWake, waiter.id), kWrite, kRelease | kEnables, pc);
}

// ------------------------------------------------------------------------------------ threads

Thread& Scheduler::NextChild() { return MakeThread(current_->id, current_->creations); }

bool Scheduler::GrowStackOf(Thread& child, size_t size) {
  if (!GrowStack(&slots_[child.id], size)) return false;
  child.stack_low = slots_[child.id].stack_low;
  return true;
}

void Scheduler::StartChild(Thread& child, void* (*entry)(void*), void* argument, uint64_t pc) {
  Thread& t = *current_;
  ++t.creations;
  child.exists = true;
  child.entry = entry;
  child.argument = argument;
  child.clock_ns = t.clock_ns;
  child.signal_mask = t.signal_mask;
  ReadFloatingControl(&child.vector_control, &child.scalar_control);
  std::copy(std::begin(t.name), std::end(t.name), child.name);
  child.policy = t.policy;
  child.priority = t.priority;
  child.nice = t.nice;
  if (!t.processors.empty()) child.processors = t.processors;
  child.created = OwnedMemory::Time(position_, hook_calls_ + 1);
  thread_limit_ = std::max<uint32_t>(thread_limit_, child.id + 1u);
  Progress();
  RecordCell(MakeCell(CellKind::kThreadStart, child.id), kWrite, kRelease | kEnables, pc);
  After(kPpThread);
}

void Scheduler::RecordEnd(uint64_t pc) {
  if (ends_are_seen_) {
    Before(static_cast<PreemptionPointClass>(kPpThread | kPpEveryAccess), pc,
           static_cast<uint8_t>(OperationDetail::kExit));
  }
  RecordCell(MakeCell(CellKind::kThreadExit, current_->id), kWrite, kRelease | kEnables, pc);
}

void Scheduler::ExitThread(void* result, uint64_t pc) {
  current_->result = result;
  RecordEnd(pc);
  StopThread(StopReason::kNone, ThreadStatus::kFinished);
}

void Scheduler::StopThread(StopReason reason, ThreadStatus status) {
  Thread& t = *current_;
  t.spin.Progress();
  t.status = status;
  t.stop_reason = reason;
  t.pending = Operation{};
  t.can_run = nullptr;
  FinishEvent();
  Schedule();
  __builtin_unreachable();
}

// ----------------------------------------------------------------------------------- failures

namespace {

struct StackWalk {
  std::vector<uint64_t>* stack;
  size_t limit;
};

_Unwind_Reason_Code AddFrame(_Unwind_Context* context, void* argument) {
  auto* walk = static_cast<StackWalk*>(argument);
  const uint64_t pc = _Unwind_GetIP(context);
  if (IsEngineCode(pc)) return _URC_NO_REASON;
  if (pc == 0 || walk->stack->size() >= walk->limit) return _URC_END_OF_STACK;
  walk->stack->push_back(pc);
  return _URC_NO_REASON;
}

}  // namespace

bool IsEngineCode(uint64_t pc) {
  return pc >= reinterpret_cast<uintptr_t>(&__ehdr_start) &&
         pc < reinterpret_cast<uintptr_t>(&etext);
}

void CaptureStack(std::vector<uint64_t>* stack) {
  StackWalk walk{stack, 64};
  _Unwind_Backtrace(AddFrame, &walk);
}

void Scheduler::ReportBug(BugKind kind, std::string message, uint64_t pc, std::string details,
                          bool heuristic) {
  if (result_.bugs.size() >= 64) return;  // one execution; the first ones tell it
  BugReport bug;
  bug.kind = kind;
  bug.message = std::move(message);
  bug.details = std::move(details);
  bug.thread = current_->id;
  bug.pc = pc;
  bug.event = position_;
  bug.heuristic = heuristic;
  const bool from_signal = !signal_stack_.empty();
  if (from_signal) {
    bug.stack.swap(signal_stack_);
  } else {
    CaptureStack(&bug.stack);
  }
  if (last_words_ != nullptr && last_words_->failure == 0) {
    last_words_->failure_thread = bug.thread;
    last_words_->failure_pc = bug.pc;
    last_words_->failure = static_cast<uint32_t>(kind) + 1;
  }
  result_.bugs.push_back(std::move(bug));
  // For a signal its handler has done so, on the stack where it happened.
  if (from_signal) return;
  const bool in_program = current_ != &engine_;
  StopInDebugger(in_program ? result_.bugs.back().stack : std::vector<uint64_t>());
}

void Scheduler::FailThread(BugKind kind, std::string message, uint64_t pc, std::string details) {
  ReportBug(kind, std::move(message), pc, std::move(details));
  MarkEvent(kFailed);
  any_failure_ = true;
  StopThread(StopReason::kFailure, ThreadStatus::kStopped);
}

void Scheduler::FailAssumption(uint64_t) {
  MarkEvent(kAssumptionFailed);
  any_assumption_failed_ = true;
  StopThread(StopReason::kAssumption, ThreadStatus::kStopped);
}

void Scheduler::HarnessError(std::string message) {
  DropCheckpoints();
  result_.harness_error = std::move(message);
  trace_.outcome = ExecutionOutcome::kBlocked;
  SwitchTo(engine_);
  __builtin_unreachable();
}

void Scheduler::Log(std::string text) {
  if (options_.narrate) result_.log.push_back({current_->id, position_, std::move(text)});
}

std::string Hex(uint64_t value) {
  char text[24];
  const int n = snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return std::string(text, static_cast<size_t>(n));
}

std::string CodeAddress(uint64_t pc) { return "{pc:" + Hex(pc) + "}"; }

void Scheduler::ReportPoisonedAccess(uintptr_t address, size_t size, uint8_t mode, uint16_t flags,
                                     uint64_t pc) {
  RecordFailedAccess(address, size, mode, flags, pc);
  const uint64_t bad = ProgramHeap::FirstBadAddress(address, size);
  const AddressDescription what = heap_.Describe(bad);
  std::string access = "an access to " + std::to_string(size) + " bytes at " + Hex(address);
  if (what.block == nullptr) {
    FailThread(BugKind::kHeapOverrun, access + " touches heap memory that belongs to no block", pc);
  }
  const HeapBlock& block = *what.block;
  std::string details = "block of " + std::to_string(block.size) + " bytes at " + Hex(block.begin) +
                        ", allocated by T" + std::to_string(block.allocating_thread) + " at " +
                        CodeAddress(block.allocation_pc);
  if (what.verdict == AddressVerdict::kUseAfterFree) {
    details +=
        "\nfreed by T" + std::to_string(block.freeing_thread) + " at " + CodeAddress(block.free_pc);
    FailThread(BugKind::kUseAfterFree, access + " touches a freed block", pc, details);
  }
  FailThread(BugKind::kHeapOverrun,
             access + " lies outside its block (offset " + std::to_string(what.offset) + " of " +
                 std::to_string(block.size) + " bytes)",
             pc, details);
}

void Scheduler::AccessToThread(uintptr_t address, size_t size, uint8_t mode, uint64_t pc) {
  const size_t slot = SlotOfMemory(address);
  if (slot >= thread_limit_ || slot == current_->id || !threads_[slot]->exists) return;
  // Where main returns, the process ends: what is of main is there as long as other threads are.
  if (slot != 0 || !main_returned_) {
    RecordCell(MakeCell(CellKind::kThreadExit, slot), kRead, kValueRelevant, pc);
    if (threads_[slot]->status == ThreadStatus::kFinished) {
      const char* const part = IsFiberStack(address) ? "stack" : "thread-local storage";
      FailThread(BugKind::kUseAfterFree,
                 "an access to " + std::to_string(size) + " bytes at " + Hex(address) +
                     " touches the " + part + " of T" + std::to_string(slot) + ", which has ended",
                 pc);
    }
  }
  if (mode != kRead) BeforeWriteToOtherStack(address, size);
}

}  // namespace mc::sched

extern "C" {
__attribute__((visibility("default"))) uint64_t mc_failure_pc = 0;
__attribute__((visibility("default"), noinline)) void mc_on_failure() { asm volatile(""); }
}

namespace mc::sched {
namespace {

struct CodeOfProgram {
  uint64_t begin = 0, end = 0;
};

int FindExecutable(dl_phdr_info* info, size_t, void* argument) {
  auto* code = static_cast<CodeOfProgram*>(argument);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    code->begin = info->dlpi_addr + segment.p_vaddr;
    code->end = code->begin + segment.p_memsz;
  }
  return 1;  // the first one is the executable
}

}  // namespace

void StopInDebugger(const std::vector<uint64_t>& stack) {
  CodeOfProgram code;
  dl_iterate_phdr(FindExecutable, &code);
  // Rather the program's own frame than that of a library it called.
  const auto own = std::find_if(stack.begin(), stack.end(),
                                [&](uint64_t pc) { return pc >= code.begin && pc < code.end; });
  mc_failure_pc = own != stack.end() ? *own : 0;
  mc_on_failure();
}

}  // namespace mc::sched
