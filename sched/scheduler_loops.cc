// Loops that wait and change something each time round: their bound (loop_bound.h).
#include <algorithm>

#include "sched/scheduler.h"
#include "sched/virtual_time.h"

namespace mc::sched {

namespace {

constexpr size_t kMostLoops = 64;  // that are counted at a time, of a thread

}  // namespace

void Scheduler::BoundLoops(std::vector<LoopPlace> places) {
  bounded_loops_ = std::move(places);
  looks_for_loops_ = options_.looks_for_loops;
  for (const LoopPlace& place : bounded_loops_) looks_for_loops_ |= place.object != 0;
  look_from_ = looks_for_loops_ ? 0 : options_.bounds_loops ? kLongBlock : ~uint64_t{0};
  const bool may_look = options_.bounds_loops && !looks_for_loops_;
  long_from_ = may_look ? std::min(kLongExecution, options_.max_events) : options_.max_events;
}

bool Scheduler::IsBounded(const LoopPlace& place) const {
  return std::ranges::find(bounded_loops_, place) != bounded_loops_.end();
}

// Of bounded loops nothing is forgotten.
LoopRounds& Scheduler::RoundsAt(Thread& thread, const LoopPlace& place) {
  for (LoopRounds& rounds : thread.loops) {
    if (rounds.place == place) return rounds;
  }
  LoopRounds* rounds = nullptr;
  if (thread.loops.size() >= kMostLoops && !IsBounded(place)) {
    rounds = &thread.loops[(place.pc * 31 + place.object / 4) % kMostLoops];
    if (IsBounded(rounds->place)) rounds = nullptr;
  }
  if (rounds == nullptr) rounds = &thread.loops.emplace_back();
  *rounds = LoopRounds{};
  rounds->place = place;
  return *rounds;
}

// ---------------------------------------------------------------------------- a loop comes by

void Scheduler::WaitingPoint(uint64_t pc, const EntryRegisters& registers) {
  if (PassLoop(PlaceOf(pc, registers), kRoundsBeforeBound)) return;
  if (!CloseLoop(pc, registers, false)) RoundWithChange(pc, registers);
}

void Scheduler::RoundWithChange(uint64_t pc, const EntryRegisters& registers) {
  if (!options_.fair || !options_.bounds_loops || current_->atomic_depth != 0) return;
  const LoopPlace place = PlaceOf(pc, registers);
  if (++RoundsAt(*current_, place).with_change <= kRoundsOfBoundedLoop) return;
  if (!IsBounded(place) && AnyOtherWaits(*current_)) GiveUpForLoop(place);
}

void Scheduler::SystemCallInLoop(uint64_t pc) {
  PassLoop(LoopPlace{pc, 0, 0}, kSystemCallsBeforeBound);
}

bool Scheduler::LookForLoop(uint64_t pc, const EntryRegisters& registers, uint64_t object) {
  if (!looks_for_loops_) GiveUpForLoop({});
  if (object == 0) return false;
  LoopPlace place = PlaceOf(pc, registers);
  place.object = object;
  return PassLoop(place, kReadsBeforeBound);
}

LoopPlace Scheduler::PlaceOf(uint64_t pc, const EntryRegisters& registers) const {
  return {pc, current_->stack_high - registers.stack_pointer, 0};
}

// A loop comes by that is taken for endless after `most` rounds. True if that is all that is to be
// done about it.
bool Scheduler::PassLoop(const LoopPlace& place, uint32_t most) {
  if (!ComesRound(place, most)) return false;
  WaitInBoundedLoop(place);
  return true;
}

// Counts a round; true if the thread has to wait before it.
bool Scheduler::ComesRound(const LoopPlace& place, uint32_t most) {
  Thread& t = *current_;
  if (t.atomic_depth != 0) return false;
  LoopRounds& rounds = RoundsAt(t, place);
  ++rounds.count;
  const bool bounded = IsBounded(place);
  if (options_.impatient) {
    most = std::min(most, place.object == 0 ? kRoundsOfImpatient : kReadsOfImpatient);
  }
  if (!bounded && rounds.count > most && options_.bounds_loops &&
      (rounds.count > kRoundsAlone || AnyOtherWaits(t))) {
    GiveUpForLoop(place);
  }
  if (bounded && rounds.count > kRoundsOfBoundedLoop) return true;
  rounds.last_position = position_;
  rounds.clock_reads = t.spin.clock_reads();
  return false;
}

// Is there a thread that may want to run while this one loops? Not if it waits for the end of one.
bool Scheduler::AnyOtherWaits(const Thread& thread) const {
  for (uint32_t id = 0; id < thread_limit_; ++id) {
    const Thread& t = *threads_[id];
    if (&t != &thread && t.exists && t.status == ThreadStatus::kRunnable &&
        t.pending.kind != OperationKind::kJoin) {
      return true;
    }
  }
  return false;
}

// Of an execution that has become too long: the loop that came by most often, if that may be why.
// A round may consist of so many events that none came by as often as is taken for endless.
const LoopRounds* Scheduler::LoopOfLongExecution() const {
  if (!options_.bounds_loops || !looks_for_loops_) return nullptr;
  const LoopRounds* most = nullptr;
  for (uint32_t id = 0; id < thread_limit_; ++id) {
    const Thread& t = *threads_[id];
    if (!t.exists || t.status != ThreadStatus::kRunnable || !AnyOtherWaits(t)) continue;
    for (const LoopRounds& rounds : t.loops) {
      if (rounds.count <= kRoundsBeforeBound || IsBounded(rounds.place)) continue;
      if (most == nullptr || rounds.count > most->count) most = &rounds;
    }
  }
  return most;
}

bool Scheduler::SeemsToLoop() const {
  if (trace_.size() > kEventsOfImpatient) return true;
  for (uint32_t id = 0; id < thread_limit_; ++id) {
    for (const LoopRounds& rounds : threads_[id]->loops) {
      if (rounds.count > kRoundsOfImpatient && !IsBounded(rounds.place)) return true;
    }
  }
  return false;
}

// `place` {}: it is not known yet which.
void Scheduler::GiveUpForLoop(const LoopPlace& place) {
  result_.seems_endless = true;
  result_.endless_loop = place;
  result_.endless_loop_stack.clear();
  CaptureStack(&result_.endless_loop_stack);
  current_->pending = Operation{};
  current_->can_run = nullptr;
  FinishEvent();
  DropCheckpoints();
  trace_.outcome = ExecutionOutcome::kBlocked;
  SwitchTo(engine_);
  __builtin_unreachable();
}

void Scheduler::WaitInBoundedLoop(const LoopPlace& place) {
  Thread& t = *current_;
  const LoopRounds rounds = RoundsAt(t, place);
  bool clock_put_on = false;
  if (rounds.clock_reads != t.spin.clock_reads() && !rounds.clock_put_on) {
    t.clock_ns += kMonthNs;
    clock_put_on = true;
  } else {
    t.spin.WaitForWriteTo(ReadSince(rounds.last_position));
    t.past_bound = true;
    t.tells_that_it_waits = place.object == 0;
    Operation next;
    next.kind = OperationKind::kBoundedLoop;
    next.pc = place.pc;
    EndBlock(next, &SpinEnabled);
    // A forced round saw nothing new.
    clock_put_on = t.pending.kind == OperationKind::kForcedRound;
  }
  t.spin.Progress();
  LoopRounds& now = RoundsAt(t, place);
  now.clock_put_on = clock_put_on;
  now.last_position = position_;
  now.clock_reads = t.spin.clock_reads();
}

// What the running thread read in the events from `position` on, each byte once, with the first
// event that did.
std::vector<SpinTracker::Read> Scheduler::ReadSince(size_t position) const {
  std::vector<SpinTracker::Read> reads;
  for (size_t i = position; i <= position_; ++i) {
    const Event& event = trace_.events[i];
    if (event.thread != current_->id) continue;
    const size_t end = recording_ && i == position_ ? trace_.accesses.size()
                                                    : event.first_access + event.access_count;
    for (size_t k = event.first_access; k < end; ++k) {
      const MicroAccess& access = trace_.accesses[k];
      if ((access.mode & kRead) == 0 || access.size == 0) continue;
      reads.push_back({{access.begin, access.size}, static_cast<uint32_t>(i)});
    }
  }
  std::ranges::sort(reads, [](const auto& a, const auto& b) {
    return a.cells.begin != b.cells.begin ? a.cells.begin < b.cells.begin : a.event < b.event;
  });
  size_t count = 0;
  for (const SpinTracker::Read& read : reads) {
    if (count != 0) {
      SpinTracker::Read& last = reads[count - 1];
      if (read.cells.begin == last.cells.begin && read.cells.size == last.cells.size) continue;
      const Cell end = last.cells.begin + last.cells.size;
      if (read.cells.begin <= end && IsMemory(read.cells.begin) && IsMemory(last.cells.begin)) {
        last.cells.size = std::max(end, read.cells.begin + read.cells.size) - last.cells.begin;
        last.event = std::min(last.event, read.event);
        continue;
      }
    }
    reads[count++] = read;
  }
  reads.resize(count);
  return reads;
}

// ------------------------------------------------------------------------------- forced rounds

// The thread that makes a round since nothing else can run; nullptr if none is to.
const Thread* Scheduler::NextForcedRound() const {
  if (process_exited_ || (main_returned_ && !handlers_started_)) return nullptr;
  const Thread* next = nullptr;
  bool next_is_written_for = false;
  uint64_t most = kRoundsAlone;  // without anything new
  for (uint32_t id = 0; id < thread_limit_; ++id) {
    const Thread& t = *threads_[id];
    if (!t.exists || t.status != ThreadStatus::kRunnable ||
        t.pending.kind != OperationKind::kBoundedLoop) {
      continue;
    }
    if (!t.tells_that_it_waits) most = options_.max_events;
    const bool written_for = IsWrittenFor(t, 0, 0);
    if (next != nullptr &&
        (written_for != next_is_written_for ? next_is_written_for
                                            : t.forced_round >= next->forced_round)) {
      continue;
    }
    next = &t;
    next_is_written_for = written_for;
  }
  return fruitless_rounds_ < most ? next : nullptr;
}

// A thread that waits in a bounded loop begins its next event.
void Scheduler::LeaveBoundedLoop(Thread& thread) {
  if (SpinSatisfied(thread)) return;
  thread.pending.kind = OperationKind::kForcedRound;
  thread.forced_round = position_ + 1;
  bool is_new = IsWrittenFor(thread, 0, 0);
  for (; forced_until_ < position_ && !is_new; ++forced_until_) {
    is_new = (trace_.events[forced_until_].flags & kPastBound) == 0;
  }
  forced_until_ = position_;
  fruitless_rounds_ = is_new ? 0 : fruitless_rounds_ + 1;
}

}  // namespace mc::sched
