#include "tests/toy/machine.h"

#include <algorithm>
#include <cassert>

#include "tests/toy/cells.h"

namespace mc::toy {

using sched::kAdd;
using sched::kRead;
using sched::kReadWrite;
using sched::kValueRelevant;
using sched::kWrite;
using sched::OperationKind;
using sched::ThreadId;
using sched::ThreadStatus;

const char* NameOf(ModelMutation mutation) {
  static constexpr const char* kNames[kModelMutations] = {
      "none",     "block-test",   "try-fail",    "cas-fail",       "cas-write",
      "sem-fail", "signal-empty", "wait-cv",     "wake",           "timeout-cv",
      "unlock",   "join",         "create",      "barrier-arrive", "barrier-depart",
      "alive",    "heap-order",   "assume-cuts", "assert-cuts"};
  return kNames[static_cast<int>(mutation)];
}

Machine::Machine(const Program& program, ModelMutation mutation)
    : program_(&program), mutation_(mutation) {
  Reset();
}

void Machine::Reset() {
  threads_.resize(program_->threads.size());
  variables_.assign(program_->variables.size(), 0);
  heap_.clear();
  mutexes_.assign(program_->mutexes.size(), Mutex{});
  waiters_.resize(program_->condvars.size());
  for (auto& w : waiters_) w.clear();
  semaphores_ = program_->semaphore_initial;
  arrivals_.assign(program_->barriers.size(), 0);
  rwlocks_.resize(program_->rwlocks.size());
  for (auto& w : rwlocks_) {
    w.writer = -1;
    w.total = 0;
    w.readers.assign(threads_.size(), 0);
  }
  current_ = sched::kNoThread;
  exited_ = assumption_failed_ = assertion_failed_ = cut_ = false;
  heap_counter_ = 0;
  for (size_t t = 0; t < threads_.size(); ++t) {
    Thread& thread = threads_[t];
    std::vector<sched::CellRange> spare = std::move(thread.spin_cells);
    spare.clear();
    thread = Thread();
    thread.spin_cells = std::move(spare);
    thread.exists = !program_->threads[t].created;
    if (thread.exists) EndBlock(thread);
  }
}

void Machine::Touch(Cell cell, uint8_t mode, uint16_t flags, uint32_t size) {
  // Whoever spins on a written cell can go on.
  if ((mode & (kWrite | kAdd)) != 0) {
    for (size_t u = 0; u < threads_.size(); ++u) {
      Thread& other = threads_[u];
      if (other.pending.kind != OperationKind::kSpin || u == current_) continue;
      for (const sched::CellRange& r : other.spin_cells) {
        if (r.begin < cell + size && cell < r.begin + r.size) other.spin_woken = true;
      }
    }
  }
  if (trace_ == nullptr) return;
  sched::MicroAccess a;
  a.begin = cell;
  a.size = size;
  a.mode = mode;
  a.flags = flags;
  trace_->accesses.push_back(a);
}

void Machine::TouchVariable(int variable, uint8_t mode, bool relevant) {
  Touch(VariableCell(variable), mode, relevant ? kValueRelevant : 0, 4);
}

void Machine::Ledger(Cell object, int64_t before, int64_t after) {
  if (trace_ == nullptr) return;
  for (size_t k = event_.first_ledger; k < trace_->ledger.size(); ++k) {
    if (trace_->ledger[k].object == object) {
      trace_->ledger[k].after = after;
      return;
    }
  }
  trace_->ledger.push_back({object, before, after});
}

int64_t& Machine::Memory(Cell address) {
  for (HeapBlock& b : heap_) {
    if (b.address == address) return b.value;
  }
  return variables_[(address - 0x10000) / 8 % variables_.size()];
}

int64_t Machine::Value(const Thread& t, const Expression& e) const {
  int64_t value = e.constant;
  for (int8_t r : e.registers) {
    if (r >= 0) value += t.registers[r];
  }
  return value;
}

bool Machine::Holds(const Thread& t, const Condition& c) const {
  return (Value(t, c.left) == Value(t, c.right)) != c.negated;
}

bool Machine::IsEnabled(ThreadId id) const {
  return !exited_ && !cut_ && id < threads_.size() && CanRun(id);
}

// Can its next block run, the end of the process aside?
bool Machine::CanRun(ThreadId id) const {
  const Thread& t = threads_[id];
  if (!t.exists || t.status != ThreadStatus::kRunnable) return false;
  switch (t.pending.kind) {
    case OperationKind::kNone:
    case OperationKind::kTimedWaiter:
      return true;
    case OperationKind::kWaiter:
      return false;
    case OperationKind::kLock:
      return mutexes_[Code(t).object].holder < 0;
    case OperationKind::kReacquire:
      return mutexes_[Code(t).object2].holder < 0;
    case OperationKind::kSemaphoreWait:
      return semaphores_[Code(t).object] > 0;
    case OperationKind::kReadLock:
      return rwlocks_[Code(t).object].writer < 0;
    case OperationKind::kWriteLock:
      return rwlocks_[Code(t).object].writer < 0 && rwlocks_[Code(t).object].total == 0;
    case OperationKind::kJoin:
      return threads_[Code(t).object].status == ThreadStatus::kFinished;
    case OperationKind::kBarrierDepart: {
      const int b = Code(t).object;
      return arrivals_[b] >= (int(t.generation) + 1) * program_->barrier_count[b];
    }
    case OperationKind::kSpin:
      return t.spin_woken;
    default:
      return false;
  }
}

bool Machine::AnyEnabled() const {
  for (ThreadId t = 0; t < threads_.size(); ++t) {
    if (IsEnabled(t)) return true;
  }
  return false;
}

// At the start, and after each block: runs local code up to the next operation, and notes what it
// is if it can block.
void Machine::EndBlock(Thread& t) {
  while (!AtEnd(t) && Code(t).op == Op::kBranchUnless) {
    t.pc = Holds(t, Code(t).condition) ? t.pc + 1 : static_cast<uint32_t>(Code(t).target);
  }
  t.pending = sched::Operation();
  if (AtEnd(t)) return;
  const Instruction& i = Code(t);
  sched::Operation& p = t.pending;
  switch (i.op) {
    case Op::kLock: {
      const Mutex& m = mutexes_[i.object];
      if (m.holder == IdOf(t) && program_->recursive[i.object]) return;  // an inner lock
      p.kind = OperationKind::kLock;
      p.object = MutexCell(i.object);
      return;
    }
    case Op::kSemWait:
      p.kind = OperationKind::kSemaphoreWait;
      p.object = SemaphoreCell(i.object);
      return;
    case Op::kReadLock:
      p.kind = OperationKind::kReadLock;
      p.object = WriterCell(i.object);
      return;
    case Op::kWriteLock:
      p.kind = OperationKind::kWriteLock;
      p.object = WriterCell(i.object);
      return;
    case Op::kJoin:
      p.kind = OperationKind::kJoin;
      p.object = ExitCell(i.object);
      return;
    default:
      return;
  }
}

void Machine::Stop(Thread& t, uint16_t event_flags) {
  t.status = ThreadStatus::kStopped;
  t.pending = sched::Operation();
  event_.flags |= event_flags;
}

void Machine::Step(ThreadId id, Chooser& chooser, sched::Trace* trace) {
  Thread& t = threads_[id];
  current_ = id;
  trace_ = trace;
  chooser_ = &chooser;
  choice_index_ = 0;
  choice_is_last_ = false;
  BeginEvent(t, id);

  Flow flow = Flow::kNext;
  bool first = true;
  if (t.pending.kind == OperationKind::kTimedWaiter ||
      t.pending.kind == OperationKind::kReacquire) {
    flow = Waiting(t);
    first = false;
  }
  while (flow == Flow::kNext) {
    if (AtEnd(t)) {
      Touch(ExitCell(id), kWrite);
      t.status = ThreadStatus::kFinished;
      t.pending = sched::Operation();
      flow = Flow::kStop;
      break;
    }
    const Instruction& i = Code(t);
    if (i.op == Op::kPoint) {
      ++t.pc;
      EndBlock(t);
      flow = Flow::kEndBlock;
      break;
    }
    flow = Run(t, i, first);
    first = false;
  }
  ++t.events;
  if (trace_ != nullptr) {
    event_.access_count = static_cast<uint32_t>(trace_->accesses.size()) - event_.first_access;
    event_.choice_count = static_cast<uint32_t>(trace_->choices.size()) - event_.first_choice;
    event_.ledger_count = static_cast<uint32_t>(trace_->ledger.size()) - event_.first_ledger;
    trace_->events.push_back(event_);
    trace_ = nullptr;
  }
}

void Machine::BeginEvent(Thread& t, ThreadId id) {
  event_ = sched::Event();
  event_.thread = id;
  event_.index = t.events;
  event_.operation = t.pending;
  if (trace_ != nullptr) {
    event_.first_access = static_cast<uint32_t>(trace_->accesses.size());
    event_.first_choice = static_cast<uint32_t>(trace_->choices.size());
    event_.first_ledger = static_cast<uint32_t>(trace_->ledger.size());
    event_.first_spin_cell = static_cast<uint32_t>(trace_->spin_cells.size());
    if (t.pending.kind == OperationKind::kSpin) {
      event_.spin_cell_count = static_cast<uint32_t>(t.spin_cells.size());
      trace_->spin_cells.insert(trace_->spin_cells.end(), t.spin_cells.begin(), t.spin_cells.end());
    }
  }
  if (program_->uses_exit && !Mutated(ModelMutation::kAlive)) Touch(kAliveCell, kRead);
  if (!t.started) {
    t.started = true;
    if (program_->threads[id].created && !Mutated(ModelMutation::kCreate)) {
      Touch(StartCell(id), kRead);
    }
  }
}

// A time-out, or the re-acquisition of the mutex after a condition wait.
Machine::Flow Machine::Waiting(Thread& t) {
  const Instruction& i = Code(t);
  const int id = IdOf(t);
  if (!Mutated(ModelMutation::kWake)) Touch(WakeCell(id), kRead, kValueRelevant);
  if (t.pending.kind == OperationKind::kTimedWaiter) {
    if (!Mutated(ModelMutation::kTimeoutCv)) Touch(CondvarCell(i.object), kWrite);
    std::erase(waiters_[i.object], id);
    t.timed_out = true;
    t.pending = sched::Operation();
    t.pending.kind = OperationKind::kReacquire;
    t.pending.wait_is_over = true;
    t.pending.object = MutexCell(i.object2);
    event_.flags |= sched::kTimedOut;
    return Flow::kEndBlock;
  }
  Touch(MutexCell(i.object2), kWrite);
  Acquire(t, i.object2);
  if (i.destination >= 0) t.registers[i.destination] = t.timed_out ? 1 : 0;
  t.woken = t.timed_out = false;
  ++t.pc;
  return Flow::kNext;
}

void Machine::Acquire(Thread& t, int mutex) {
  Mutex& m = mutexes_[mutex];
  const int before = m.holder;
  m.holder = IdOf(t);
  m.depth = 1;
  Ledger(MutexCell(mutex), before + 1, m.holder + 1);
}

void Machine::Release(Thread& t, int mutex) {
  Mutex& m = mutexes_[mutex];
  m.holder = -1;
  m.depth = 0;
  Ledger(MutexCell(mutex), IdOf(t) + 1, 0);
}

Machine::Flow Machine::Run(Thread& t, const Instruction& i, bool first) {
  switch (i.op) {
    case Op::kBranchUnless:
      t.pc = Holds(t, i.condition) ? t.pc + 1 : static_cast<uint32_t>(i.target);
      return Flow::kNext;
    case Op::kAssume:
    case Op::kAssert:
      ++t.pc;
      if (Holds(t, i.condition)) return Flow::kNext;
      if (i.op == Op::kAssume) {
        assumption_failed_ = true;
        cut_ = cut_ || Mutated(ModelMutation::kAssumeCuts);
        Stop(t, sched::kAssumptionFailed);
      } else {
        assertion_failed_ = true;
        cut_ = cut_ || Mutated(ModelMutation::kAssertCuts);
        Stop(t, sched::kFailed);
      }
      return Flow::kStop;
    case Op::kExit:
      Touch(kAliveCell, kWrite);
      exited_ = true;
      Stop(t, sched::kExited);
      return Flow::kStop;
    case Op::kLock:
    case Op::kUnlock:
    case Op::kTryLock:
      return RunMutex(t, i, first);
    case Op::kWait:
    case Op::kTimedWait:
    case Op::kSignal:
    case Op::kBroadcast:
      return RunCondition(t, i);
    case Op::kSemWait:
    case Op::kSemTry:
    case Op::kSemPost:
      return RunSemaphore(t, i, first);
    case Op::kReadLock:
    case Op::kWriteLock:
    case Op::kReadUnlock:
    case Op::kWriteUnlock:
    case Op::kTryRead:
    case Op::kTryWrite:
      return RunRwLock(t, i, first);
    case Op::kBarrier:
      return RunBarrier(t, i);
    case Op::kCreate:
    case Op::kJoin:
      return RunThreads(t, i, first);
    case Op::kSpinLoad:
    case Op::kSpinCas:
    case Op::kSpinTryLock:
    case Op::kSpinTrySem:
      return RunSpin(t, i);
    default:
      return RunMemory(t, i);
  }
}

Machine::Flow Machine::RunMemory(Thread& t, const Instruction& i) {
  int64_t* destination = i.destination >= 0 ? &t.registers[i.destination] : nullptr;
  int64_t old = 0;
  switch (i.op) {
    case Op::kStore:
      TouchVariable(i.object, kWrite, false);
      variables_[i.object] = Value(t, i.first);
      break;
    case Op::kLoad:
      TouchVariable(i.object, kRead, true);
      old = variables_[i.object];
      break;
    case Op::kStoreIndirect:
    case Op::kLoadIndirect: {
      const Cell address = static_cast<Cell>(t.registers[i.address_register]);
      const bool store = i.op == Op::kStoreIndirect;
      Touch(address, store ? kWrite : kRead, store ? 0 : kValueRelevant, 4);
      if (store) {
        Memory(address) = Value(t, i.first);
      } else {
        old = Memory(address);
      }
      break;
    }
    case Op::kMove:
      old = Value(t, i.first);
      break;
    case Op::kCas:
      old = variables_[i.object] == Value(t, i.first) ? 1 : 0;
      if (old == 1) {
        TouchVariable(i.object, kReadWrite, true);
        variables_[i.object] = Value(t, i.second);
      } else if (Mutated(ModelMutation::kCasWrite)) {
        TouchVariable(i.object, kReadWrite, true);
      } else if (!Mutated(ModelMutation::kCasFail)) {
        TouchVariable(i.object, kRead, true);
      }
      break;
    case Op::kFetchAdd:
    case Op::kExchange:
      TouchVariable(i.object, kReadWrite, true);
      old = variables_[i.object];
      variables_[i.object] = Value(t, i.first) + (i.op == Op::kFetchAdd ? old : 0);
      break;
    case Op::kAdd:
      TouchVariable(i.object, kAdd, false);
      variables_[i.object] += Value(t, i.first);
      break;
    case Op::kChoose: {
      const uint32_t arity = static_cast<uint32_t>(i.object);
      if (arity > 1) {
        old = chooser_->Choose(choice_index_++, arity);
        if (trace_ != nullptr) {
          trace_->choices.push_back(
              {static_cast<uint32_t>(old), arity,
               static_cast<uint32_t>(trace_->accesses.size()) - event_.first_access});
        }
      }
      break;
    }
    case Op::kNew: {
      const uint64_t id = static_cast<uint64_t>(IdOf(t));
      Cell address = 0x1000000 * (id + 1) + 16 * t.allocations;
      if (Mutated(ModelMutation::kHeapOrder)) address = 0x1000000 + 16 * heap_counter_;
      ++heap_counter_;
      ++t.allocations;
      heap_.push_back({address, 0});
      Touch(address, kWrite, sched::kAllocation, 16);
      old = static_cast<int64_t>(address);
      break;
    }
    default:
      break;
  }
  if (destination != nullptr) *destination = old;
  ++t.pc;
  return Flow::kNext;
}

void Machine::Finish(sched::Trace* trace) const {
  trace->ends.clear();
  for (ThreadId id = 0; id < threads_.size(); ++id) {
    const Thread& t = threads_[id];
    sched::ThreadEnd end;
    end.status = t.exists ? t.status : ThreadStatus::kFinished;
    end.enabled = !cut_ && CanRun(id);
    end.woken = t.woken;
    end.events = t.events;
    end.pending = t.pending;
    end.first_spin_cell = static_cast<uint32_t>(trace->spin_cells.size());
    if (t.pending.kind == OperationKind::kSpin) {
      end.spin_cell_count = static_cast<uint32_t>(t.spin_cells.size());
      trace->spin_cells.insert(trace->spin_cells.end(), t.spin_cells.begin(), t.spin_cells.end());
    }
    trace->ends.push_back(end);
  }
  if (trace->outcome == sched::ExecutionOutcome::kBlocked) return;
  trace->outcome = assumption_failed_ ? sched::ExecutionOutcome::kAssumptionFailed
                   : exited_          ? sched::ExecutionOutcome::kExited
                                      : sched::ExecutionOutcome::kCompleted;
}

bool Machine::Deadlocked() const {
  if (exited_ || cut_ || assumption_failed_ || assertion_failed_ || AnyEnabled()) return false;
  return std::any_of(threads_.begin(), threads_.end(), [](const Thread& t) {
    return t.exists && t.status == ThreadStatus::kRunnable;
  });
}

uint64_t Machine::StateHash() const {
  uint64_t h = 1469598103934665603u;
  auto mix = [&h](uint64_t value) {
    h = (h ^ value) * 0x9e3779b97f4a7c15u;
    h ^= h >> 31;
  };
  for (const Thread& t : threads_) {
    mix(static_cast<uint64_t>(t.status) * 64 + t.exists * 32 + t.woken * 16 + t.timed_out * 8 +
        t.spin_woken * 4);
    mix(t.pc);
    mix(static_cast<uint64_t>(t.pending.kind));
    mix(t.pending.kind == OperationKind::kBarrierDepart ? t.generation : 0);
    for (int64_t r : t.registers) mix(static_cast<uint64_t>(r));
  }
  for (int64_t v : variables_) mix(static_cast<uint64_t>(v));
  uint64_t blocks = 0;  // in any order
  for (const HeapBlock& b : heap_) {
    blocks += (b.address * 0x9e3779b97f4a7c15u) ^ (static_cast<uint64_t>(b.value) << 7);
  }
  mix(blocks);
  for (const Mutex& m : mutexes_) mix(static_cast<uint64_t>(m.holder * 16 + m.depth));
  for (const auto& waiters : waiters_) {
    mix(waiters.size());
    for (int w : waiters) mix(static_cast<uint64_t>(w));
  }
  for (int64_t s : semaphores_) mix(static_cast<uint64_t>(s));
  for (int a : arrivals_) mix(static_cast<uint64_t>(a));
  for (const RwLock& w : rwlocks_) {
    mix(static_cast<uint64_t>(w.writer));
    for (int r : w.readers) mix(static_cast<uint64_t>(r));
  }
  mix(exited_ * 4 + assumption_failed_ * 2 + assertion_failed_);
  return h;
}

namespace {

// Asks the strategy, or repeats what the trace says.
class StrategyChooser : public Chooser {
 public:
  StrategyChooser(sched::Strategy& strategy, const sched::Trace& trace)
      : strategy_(strategy), trace_(trace) {}
  uint32_t Choose(uint32_t index, uint32_t arity) override {
    if (repeated != nullptr) return trace_.ChoicesOf(*repeated)[index].value;
    return strategy_.NextChoice(trace_.size(), index, arity);
  }
  const sched::Event* repeated = nullptr;

 private:
  sched::Strategy& strategy_;
  const sched::Trace& trace_;
};

}  // namespace

bool RunOne(Machine& machine, sched::Strategy& strategy, sched::Trace& trace, bool same_search) {
  size_t keep = 0;
  if (!strategy.BeginExecution(trace, &keep)) return false;
  assert(same_search || keep == 0);
  (void)same_search;
  trace.CutBack(keep);
  if (keep == 0) trace.spin_cells.clear();
  machine.Reset();
  StrategyChooser chooser(strategy, trace);
  for (size_t p = 0; p < keep; ++p) {
    chooser.repeated = &trace.events[p];
    machine.Step(trace.events[p].thread, chooser, nullptr);
  }
  chooser.repeated = nullptr;
  while (machine.AnyEnabled()) {
    const ThreadId next = strategy.Next(trace, machine);
    if (next == sched::kAbandon || !machine.IsEnabled(next)) {
      trace.outcome = sched::ExecutionOutcome::kBlocked;
      break;
    }
    machine.Step(next, chooser, &trace);
  }
  machine.Finish(&trace);
  strategy.EndExecution(trace);
  return true;
}

}  // namespace mc::toy
