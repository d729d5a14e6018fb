#include "dpor/law_check.h"

#include <utility>

namespace mc::dpor {
namespace {

using sched::CellKind;
using sched::MicroAccess;
using sched::Operation;
using sched::OperationKind;
using sched::StateView;
using sched::ThreadId;
using sched::Trace;

bool SameAccess(const MicroAccess& a, const MicroAccess& b) {
  return a.begin == b.begin && a.size == b.size && a.mode == b.mode && a.pc == b.pc &&
         ((a.flags ^ b.flags) & sched::kValueRelevant) == 0;
}

std::string Text(uint64_t value) { return std::to_string(value); }

std::string TextOf(const MicroAccess& a) {
  static constexpr const char* kModes[] = {"?", "R", "W", "RW", "A"};
  return std::string(kModes[a.mode <= 4 ? a.mode : 0]) + " cell kind " +
         Text(static_cast<uint64_t>(sched::KindOf(a.begin))) + " object " +
         Text(sched::ObjectOf(a.begin)) + " size " + Text(a.size);
}

}  // namespace

LawCheck::LawCheck(uint64_t seed, uint64_t pairs, std::function<uint64_t()> state_hash)
    : state_(seed * 0x9e3779b97f4a7c15u + 0x853c49e6748fea9bu),
      pairs_left_(pairs),
      state_hash_(std::move(state_hash)) {}

uint64_t LawCheck::Random(uint64_t bound) {
  state_ ^= state_ << 13;
  state_ ^= state_ >> 7;
  state_ ^= state_ << 17;
  return (state_ * 0x2545f4914f6cdd1du >> 17) % bound;
}

bool LawCheck::BeginExecution(const Trace&, size_t* keep) {
  *keep = 0;
  resumed_ = false;
  if (!error_.empty()) return false;
  if (other_order_due_) {
    other_order_due_ = false;
    phase_ = Phase::kOtherOrder;
    return true;
  }
  if (pairs_left_ == 0) {
    complete_ = true;
    return false;
  }
  --pairs_left_;
  phase_ = Phase::kFirstOrder;
  steps_.clear();
  second_ = sched::kNoThread;
  stop_ = Random(longest_ + 1);
  return true;
}

ThreadId LawCheck::PickRandom(const StateView& state, ThreadId except) {
  ThreadId picked = sched::kNoThread;
  uint64_t seen = 0;
  for (uint32_t id = 0; id < state.ThreadCount(); ++id) {
    const auto thread = static_cast<ThreadId>(id);
    if (thread == except || !state.IsEnabled(thread)) continue;
    if (Random(++seen) == 0) picked = thread;
  }
  return picked;
}

ThreadId LawCheck::Next(const Trace& trace, const StateView& state) {
  return phase_ == Phase::kFirstOrder ? NextInFirstOrder(trace, state)
                                      : NextInOtherOrder(trace, state);
}

ThreadId LawCheck::NextInFirstOrder(const Trace& trace, const StateView& state) {
  ThreadId next = sched::kAbandon;
  if (trace.size() < stop_) {
    next = PickRandom(state, sched::kNoThread);
  } else if (trace.size() == stop_) {
    before_ = StandingIn(state);
    enabling_due_ = true;
    next = PickRandom(state, sched::kNoThread);
  } else if (trace.size() == stop_ + 1) {
    first_t_ = RecordOf(trace, stop_);
    if (sched::DependsOnAll(first_t_.kind)) return sched::kAbandon;
    const std::vector<Standing> after = StandingIn(state);
    CheckEnabling(first_t_, after);
    // u: enabled before t's event and after it; or, now and then, by it.
    second_is_enabled_by_first_ = Random(2) == 0 && PickEnabledBy(first_t_, after);
    for (uint32_t tries = 0; tries < 8 && second_ == sched::kNoThread; ++tries) {
      const ThreadId u = PickRandom(state, first_t_.thread);
      if (u == sched::kNoThread) break;
      if (u < before_.size() && before_[u].enabled) second_ = u;
    }
    if (second_ == sched::kNoThread) return sched::kAbandon;
    next = second_;
  } else {
    first_u_ = RecordOf(trace, stop_ + 1);
    const bool conflict = Conflict(first_t_, first_u_);
    if (second_is_enabled_by_first_) {
      if (!conflict) {
        Violation("T" + Text(first_t_.thread) + " enabled T" + Text(first_u_.thread) +
                  ", whose block does not depend on it");
      }
    } else if (!sched::DependsOnAll(first_u_.kind) && !conflict) {
      first_hash_ = state_hash_();
      other_order_due_ = true;
    }
    return sched::kAbandon;
  }
  steps_.push_back({next, {}});
  return next;
}

ThreadId LawCheck::NextInOtherOrder(const Trace& trace, const StateView& state) {
  const size_t at = trace.size();
  if (at < stop_) return steps_[at].thread;
  if (at == stop_ || at == stop_ + 1) {
    const ThreadId next = at == stop_ ? first_u_.thread : first_t_.thread;
    if (state.IsEnabled(next)) return next;
    Violation("T" + Text(next) + " cannot run when the two events are exchanged");
    return sched::kAbandon;
  }
  pair_compared_ = true;
  const Record u = RecordOf(trace, stop_), t = RecordOf(trace, stop_ + 1);
  std::string difference = Difference(first_t_, t);
  if (difference.empty()) difference = Difference(first_u_, u);
  if (difference.empty() && state_hash_() != first_hash_) difference = "the state differs";
  if (!difference.empty()) Violation(difference + " when the two events are exchanged");
  return sched::kAbandon;
}

uint32_t LawCheck::NextChoice(size_t at, uint32_t index, uint32_t arity) {
  if (phase_ == Phase::kFirstOrder) {
    const auto value = static_cast<uint32_t>(Random(arity));
    steps_[at].choices.push_back(value);
    return value;
  }
  const Step& step = at < stop_ ? steps_[at] : at == stop_ ? steps_[stop_ + 1] : steps_[stop_];
  return index < step.choices.size() && step.choices[index] < arity ? step.choices[index] : 0;
}

void LawCheck::EndExecution(const Trace& trace) {
  if (enabling_due_ && trace.size() == stop_ + 1) {
    // Nothing could run after t's event.
    std::vector<Standing> after;
    for (const sched::ThreadEnd& end : trace.ends) {
      after.push_back({end.enabled, end.status != sched::ThreadStatus::kRunnable, end.pending});
    }
    CheckEnabling(RecordOf(trace, stop_), after);
  }
  enabling_due_ = false;
  if (trace.size() > longest_) longest_ = trace.size();
  ++(pair_compared_ ? executions_ : sleep_blocked_);
  pair_compared_ = false;
  transitions_ += trace.size();
}

LawCheck::Record LawCheck::RecordOf(const Trace& trace, size_t position) {
  const sched::Event& event = trace.events[position];
  Record record;
  record.thread = event.thread;
  record.kind = event.operation.kind;
  const auto accesses = trace.AccessesOf(event);
  record.accesses.assign(accesses.begin(), accesses.end());
  const auto choices = trace.ChoicesOf(event);
  record.choices.assign(choices.begin(), choices.end());
  return record;
}

bool LawCheck::Conflict(const Record& a, const Record& b) {
  for (const MicroAccess& x : a.accesses) {
    for (const MicroAccess& y : b.accesses) {
      if (x.ConflictsWith(y)) return true;
    }
  }
  return false;
}

bool LawCheck::ConflictsWithPending(const Record& event, const Operation& pending,
                                    ThreadId thread) {
  MicroAccess footprint[3];
  int count = sched::PendingFootprint(pending, thread, footprint);
  if (pending.kind == OperationKind::kBarrierDepart ||
      pending.kind == OperationKind::kDescheduled) {
    // Not in the pending footprint, but what the next block certainly begins with.
    footprint[0] = MicroAccess{};
    footprint[0].begin = pending.object;
    footprint[0].size = 1;
    footprint[0].mode = sched::kRead;
    count = 1;
  }
  for (const MicroAccess& access : event.accesses) {
    for (int i = 0; i < count; ++i) {
      if (access.ConflictsWith(footprint[i])) return true;
    }
  }
  return false;
}

std::vector<LawCheck::Standing> LawCheck::StandingIn(const StateView& state) {
  std::vector<Standing> standing;
  for (uint32_t id = 0; id < state.ThreadCount(); ++id) {
    const auto thread = static_cast<ThreadId>(id);
    standing.push_back({state.IsEnabled(thread), false, state.Pending(thread)});
  }
  return standing;
}

// Makes a thread that `event` enabled the second one; false if there is none.
bool LawCheck::PickEnabledBy(const Record& event, const std::vector<Standing>& after) {
  for (uint32_t id = 0; id < after.size(); ++id) {
    const bool was_enabled = id < before_.size() && before_[id].enabled;
    if (id == event.thread || !after[id].enabled || was_enabled ||
        after[id].pending.kind == OperationKind::kHandlerPhase ||
        after[id].pending.kind == OperationKind::kBoundedLoop) {
      continue;
    }
    second_ = static_cast<ThreadId>(id);
    return true;
  }
  return false;
}

void LawCheck::CheckEnabling(const Record& event, const std::vector<Standing>& after) {
  enabling_due_ = false;
  for (uint32_t id = 0; id < before_.size() && id < after.size(); ++id) {
    const auto thread = static_cast<ThreadId>(id);
    if (thread == event.thread || after[id].stopped) continue;
    const bool enabled = after[id].enabled;
    if (enabled == before_[id].enabled) continue;
    const Operation& pending = after[id].pending;
    // A spinner waits for its reads, which no pending footprint lists; the handlers wait for all.
    if (sched::WaitsInLoop(pending.kind) || pending.kind == OperationKind::kHandlerPhase ||
        before_[id].pending.kind == OperationKind::kBoundedLoop ||
        before_[id].pending.kind == OperationKind::kHandlerPhase) {
      continue;
    }
    // Not created before: nothing could have been asked of it.
    if (!before_[id].enabled && pending.kind == OperationKind::kNone) continue;
    if (ConflictsWithPending(event, pending, thread) ||
        ConflictsWithPending(event, before_[id].pending, thread)) {
      continue;
    }
    // With `process alive` in the model every block reads it.
    bool ends_process = false;
    for (const MicroAccess& a : event.accesses) {
      ends_process |= sched::KindOf(a.begin) == CellKind::kAlive && a.mode != sched::kRead;
    }
    if (ends_process) continue;
    Violation("T" + Text(event.thread) + (enabled ? " enabled T" : " disabled T") + Text(id) +
              " (operation kind " + Text(static_cast<uint64_t>(pending.kind)) +
              ") without touching what it waits for");
  }
}

std::string LawCheck::Difference(const Record& a, const Record& b) {
  if (a.choices.size() != b.choices.size()) return "T" + Text(a.thread) + " makes other choices";
  for (size_t i = 0; i < a.choices.size(); ++i) {
    if (a.choices[i].arity != b.choices[i].arity) {
      return "T" + Text(a.thread) + " chooses among " + Text(b.choices[i].arity) + ", not " +
             Text(a.choices[i].arity);
    }
  }
  for (size_t i = 0; i < a.accesses.size() || i < b.accesses.size(); ++i) {
    if (i < a.accesses.size() && i < b.accesses.size() &&
        SameAccess(a.accesses[i], b.accesses[i])) {
      continue;
    }
    return "access " + Text(i) + " of T" + Text(a.thread) + " is " +
           (i < b.accesses.size() ? TextOf(b.accesses[i]) : "missing") + ", not " +
           (i < a.accesses.size() ? TextOf(a.accesses[i]) : "missing");
  }
  return "";
}

void LawCheck::Violation(const std::string& what) {
  std::string schedule;
  for (size_t i = 0; i < steps_.size(); ++i) {
    schedule += (i == stop_ ? " |" : "") + std::string(" T") + Text(steps_[i].thread);
    for (uint32_t value : steps_[i].choices) schedule += "." + Text(value);
  }
  SetError("law check: " + what + "; schedule:" + schedule);
}

}  // namespace mc::dpor
