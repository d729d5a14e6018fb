// The operations of the toy machine that concern synchronisation: what they do, and the accesses
// that the event model prescribes for each outcome.
#include "tests/toy/cells.h"
#include "tests/toy/machine.h"

namespace mc::toy {

using sched::kAdd;
using sched::kRead;
using sched::kReadWrite;
using sched::kRelative;
using sched::kValueRelevant;
using sched::kWrite;
using sched::OperationKind;
using sched::ThreadStatus;

// A try-lock. `record_success`: the access of the success is recorded too (a lock inside a block).
bool Machine::TryLock(Thread& t, int mutex, bool record_success) {
  Mutex& m = mutexes_[mutex];
  if (m.holder < 0) {
    if (record_success) Touch(MutexCell(mutex), kReadWrite, kValueRelevant | sched::kTry);
    Acquire(t, mutex);
    return true;
  }
  if (m.holder == IdOf(t) && program_->recursive[mutex]) {
    ++m.depth;
    return true;
  }
  if (!Mutated(ModelMutation::kTryFail)) {
    Touch(MutexCell(mutex), kRead, kValueRelevant | sched::kTry);
  }
  return false;
}

Machine::Flow Machine::RunMutex(Thread& t, const Instruction& i, bool first) {
  Mutex& m = mutexes_[i.object];
  const Cell cell = MutexCell(i.object);
  if (i.op == Op::kTryLock) {
    const bool got = TryLock(t, i.object, true);
    if (i.destination >= 0) t.registers[i.destination] = got ? 1 : 0;
    ++t.pc;
    return Flow::kNext;
  }
  if (i.op == Op::kUnlock) {
    if (m.holder != IdOf(t)) {
      Touch(cell, kRead, kValueRelevant);  // unlock by a stranger: the failing call
    } else if (m.depth > 1) {
      --m.depth;
    } else {
      if (!Mutated(ModelMutation::kUnlock)) Touch(cell, kWrite, sched::kRelease);
      Release(t, i.object);
    }
    ++t.pc;
    return Flow::kNext;
  }
  if (m.holder == IdOf(t) && program_->recursive[i.object]) {
    ++m.depth;
  } else if (first && t.pending.kind == OperationKind::kLock) {
    Touch(cell, kWrite, sched::kAcquire);
    Acquire(t, i.object);
  } else if (m.holder < 0) {
    Touch(cell, kReadWrite, kValueRelevant | sched::kAcquire);
    Acquire(t, i.object);
  } else {
    if (!Mutated(ModelMutation::kBlockTest)) {
      Touch(cell, kRead, kValueRelevant | sched::kBlockingTest);
    }
    EndBlock(t);
    return Flow::kEndBlock;
  }
  t.pending = sched::Operation();
  ++t.pc;
  return Flow::kNext;
}

Machine::Flow Machine::RunCondition(Thread& t, const Instruction& i) {
  const Cell cell = CondvarCell(i.object);
  std::vector<int>& waiters = waiters_[i.object];
  if (i.op == Op::kWait || i.op == Op::kTimedWait) {
    if (mutexes_[i.object2].holder != IdOf(t)) {
      Touch(MutexCell(i.object2), kRead, kValueRelevant);  // misuse: the call fails
      if (i.destination >= 0) t.registers[i.destination] = 2;
      ++t.pc;
      return Flow::kNext;
    }
    if (!Mutated(ModelMutation::kWaitCv)) Touch(cell, kWrite);
    Touch(MutexCell(i.object2), kWrite, sched::kRelease);
    Release(t, i.object2);
    waiters.push_back(IdOf(t));
    t.woken = t.timed_out = false;
    t.timed_wait = i.op == Op::kTimedWait;
    t.pending = sched::Operation();
    t.pending.kind = t.timed_wait ? OperationKind::kTimedWaiter : OperationKind::kWaiter;
    t.pending.object = cell;
    return Flow::kEndBlock;
  }
  ++t.pc;
  if (waiters.empty()) {
    if (!Mutated(ModelMutation::kSignalEmpty)) Touch(cell, kRead, kValueRelevant);
    return Flow::kNext;
  }
  Touch(cell, kReadWrite, kValueRelevant);
  size_t chosen = 0, count = waiters.size();
  if (i.op == Op::kSignal) {
    if (waiters.size() > 1) {
      chosen = chooser_->Choose(choice_index_++, static_cast<uint32_t>(waiters.size()));
      if (trace_ != nullptr) {
        trace_->choices.push_back(
            {static_cast<uint32_t>(chosen), static_cast<uint32_t>(waiters.size()),
             static_cast<uint32_t>(trace_->accesses.size()) - event_.first_access});
      }
    }
    count = 1;
  }
  for (size_t k = chosen; k < chosen + count; ++k) {
    Thread& waiter = threads_[waiters[k]];
    Touch(WakeCell(waiters[k]), kWrite, sched::kRelease | sched::kEnables);
    waiter.woken = true;
    waiter.pending = sched::Operation();
    waiter.pending.kind = OperationKind::kReacquire;
    waiter.pending.object = MutexCell(Code(waiter).object2);
    if (waiter.timed_wait) waiter.pending.timeout_object = cell;
  }
  waiters.erase(waiters.begin() + static_cast<long>(chosen),
                waiters.begin() + static_cast<long>(chosen + count));
  return Flow::kNext;
}

bool Machine::TrySemaphore(int semaphore) {
  int64_t& value = semaphores_[semaphore];
  const Cell cell = SemaphoreCell(semaphore);
  if (value > 0) {
    Touch(cell, kReadWrite, kValueRelevant | kRelative);
    Ledger(cell, value, value - 1);
    --value;
    return true;
  }
  if (!Mutated(ModelMutation::kSemFail)) Touch(cell, kRead, kValueRelevant);
  return false;
}

Machine::Flow Machine::RunSemaphore(Thread& t, const Instruction& i, bool first) {
  int64_t& value = semaphores_[i.object];
  const Cell cell = SemaphoreCell(i.object);
  if (i.op == Op::kSemPost) {
    Touch(cell, program_->posts_commute ? kAdd : kWrite, kRelative);
    Ledger(cell, value, value + 1);
    ++value;
  } else if (i.op == Op::kSemTry) {
    const bool got = TrySemaphore(i.object);
    if (i.destination >= 0) t.registers[i.destination] = got ? 1 : 0;
  } else if (first) {
    Touch(cell, kWrite, kRelative);
    Ledger(cell, value, value - 1);
    --value;
    t.pending = sched::Operation();
  } else if (value > 0) {
    TrySemaphore(i.object);
  } else {
    Touch(cell, kRead, kValueRelevant | sched::kBlockingTest);
    EndBlock(t);
    return Flow::kEndBlock;
  }
  ++t.pc;
  return Flow::kNext;
}

Machine::Flow Machine::RunRwLock(Thread& t, const Instruction& i, bool first) {
  RwLock& w = rwlocks_[i.object];
  const Cell writer = WriterCell(i.object), readers = ReadersCell(i.object);
  const int id = IdOf(t);
  const uint16_t relevant = first ? 0 : kValueRelevant;
  int64_t result = 1;
  switch (i.op) {
    case Op::kReadLock:
    case Op::kTryRead:
      if (i.op == Op::kReadLock && first) {
        Touch(writer, kRead);
      } else {
        Touch(writer, kRead, kValueRelevant);
      }
      if (w.writer >= 0) {
        if (i.op == Op::kReadLock) {
          EndBlock(t);
          return Flow::kEndBlock;
        }
        result = 0;
        break;
      }
      Touch(readers, kAdd);
      Ledger(readers, w.readers[id], w.readers[id] + 1);
      ++w.readers[id];
      ++w.total;
      break;
    case Op::kWriteLock:
    case Op::kTryWrite: {
      const bool is_try = i.op == Op::kTryWrite;
      Touch(readers, kRead, is_try ? uint16_t{kValueRelevant} : relevant);
      if (w.writer >= 0 || w.total > 0) {
        Touch(writer, kRead, kValueRelevant);
        if (!is_try) {
          EndBlock(t);
          return Flow::kEndBlock;
        }
        result = 0;
        break;
      }
      if (first && !is_try) {
        Touch(writer, kWrite);
      } else {
        Touch(writer, kReadWrite, kValueRelevant);
      }
      Ledger(writer, w.writer + 1, id + 1);
      w.writer = id;
      break;
    }
    case Op::kReadUnlock:
      if (w.readers[id] == 0) {
        Touch(writer, kRead, kValueRelevant);  // misuse: the call fails
        break;
      }
      Touch(readers, kAdd);
      Ledger(readers, w.readers[id], w.readers[id] - 1);
      --w.readers[id];
      --w.total;
      break;
    default:
      if (w.writer != id) {
        Touch(writer, kRead, kValueRelevant);
        break;
      }
      Touch(writer, kWrite);
      Ledger(writer, id + 1, 0);
      w.writer = -1;
      break;
  }
  if (i.destination >= 0) t.registers[i.destination] = result;
  t.pending = sched::Operation();
  ++t.pc;
  return Flow::kNext;
}

Machine::Flow Machine::RunBarrier(Thread& t, const Instruction& i) {
  const int b = i.object;
  const uint32_t count = static_cast<uint32_t>(program_->barrier_count[b]);
  if (t.pending.kind == OperationKind::kBarrierDepart) {
    if (!Mutated(ModelMutation::kBarrierDepart)) Touch(t.pending.object, kRead);
    t.pending = sched::Operation();
    ++t.pc;
    return Flow::kNext;
  }
  t.generation = static_cast<uint32_t>(arrivals_[b]) / count;
  const Cell generation = GenerationCell(b, t.generation);
  if (!Mutated(ModelMutation::kBarrierArrive)) {
    if (program_->full_barriers) Touch(BarrierCell(b), kReadWrite, kValueRelevant);
    Touch(generation, kAdd);
  }
  ++arrivals_[b];
  t.pending = sched::Operation();
  t.pending.kind = OperationKind::kBarrierDepart;
  t.pending.object = generation;
  t.pending.needed = count;
  return Flow::kEndBlock;
}

Machine::Flow Machine::RunThreads(Thread& t, const Instruction& i, bool first) {
  Thread& other = threads_[i.object];
  if (i.op == Op::kCreate) {
    Touch(StartCell(i.object), kWrite, sched::kRelease | sched::kEnables);
    if (!other.exists) {
      other.exists = true;
      EndBlock(other);
    }
  } else if (first || other.status == ThreadStatus::kFinished) {
    if (!Mutated(ModelMutation::kJoin)) {
      Touch(ExitCell(i.object), kRead, first ? 0 : kValueRelevant);
    }
    t.pending = sched::Operation();
  } else {
    Touch(ExitCell(i.object), kRead, kValueRelevant | sched::kBlockingTest);
    EndBlock(t);
    return Flow::kEndBlock;
  }
  ++t.pc;
  return Flow::kNext;
}

Machine::Flow Machine::RunSpin(Thread& t, const Instruction& i) {
  if (t.pending.kind == OperationKind::kSpin) {
    for (const sched::CellRange& r : t.spin_cells) {
      Touch(r.begin, kRead, kValueRelevant, static_cast<uint32_t>(r.size));
    }
    t.pending = sched::Operation();
  }
  t.spin_cells.clear();
  bool done = false;
  switch (i.op) {
    case Op::kSpinLoad:
      for (const MemoryTest& test : i.tests) {
        TouchVariable(test.variable, kRead, true);
        t.spin_cells.push_back({VariableCell(test.variable), 4});
        if ((variables_[test.variable] == test.value) != test.negated) {
          done = true;
          break;
        }
      }
      break;
    case Op::kSpinCas:
      if (variables_[i.object] == Value(t, i.first)) {
        TouchVariable(i.object, kReadWrite, true);
        variables_[i.object] = Value(t, i.second);
        done = true;
      } else {
        TouchVariable(i.object, kRead, true);
        t.spin_cells.push_back({VariableCell(i.object), 4});
      }
      break;
    case Op::kSpinTryLock:
      done = TryLock(t, i.object, true);
      t.spin_cells.push_back({MutexCell(i.object), 1});
      break;
    default:
      done = TrySemaphore(i.object);
      t.spin_cells.push_back({SemaphoreCell(i.object), 1});
      break;
  }
  if (done) {
    ++t.pc;
    return Flow::kNext;
  }
  for (sched::CellRange& range : t.spin_cells) range.reader = event_.index;
  t.pending.kind = OperationKind::kSpin;
  t.spin_woken = false;
  return Flow::kEndBlock;
}

}  // namespace mc::toy
