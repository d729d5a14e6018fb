#include "racedet/candidate_detector.h"

#include <algorithm>
#include <cstdlib>

#include "racedet/data_race.h"

namespace mc::racedet {

using sched::Cell;
using sched::CellKind;
using sched::Event;
using sched::MicroAccess;
using sched::Trace;

namespace {

// Whether the access is one of the program to memory. (A blocking test is the scheduler's own look:
// a woken spinner's cells.)
bool IsPlace(const MicroAccess& access) {
  return access.size != 0 && !(access.flags & (sched::kFence | sched::kBlockingTest)) &&
         sched::IsMemory(access.begin);
}

uint32_t EventOf(const Trace& trace, uint32_t access) {
  const auto after =
      std::upper_bound(trace.events.begin(), trace.events.end(), access,
                       [](uint32_t position, const Event& e) { return position < e.first_access; });
  // Events without accesses may begin at the same place as the one that has it: it is the last.
  return static_cast<uint32_t>(after - trace.events.begin()) - 1;
}

AccessSite SiteOf(const Trace& trace, const AccessClass& access, const LastAccess& last) {
  AccessSite site;
  site.pc = trace.accesses[last.position()].pc;
  site.thread = last.thread;
  site.mode = access.mode;
  site.flags = access.flags;
  site.event = EventOf(trace, last.position());
  return site;
}

}  // namespace

CandidateDetector::CandidateDetector(CandidateRule rule, CandidateTable& table,
                                     bool blocks_are_long)
    : rule_(rule),
      blocks_are_long_(blocks_are_long),
      table_(table),
      must_happen_before_(clocks_, log_),
      happens_before_(clocks_, log_),
      held_locks_(table, log_),
      history_(log_),
      settled_(table, rule == CandidateRule::kLimitedHappensBefore) {}

void CandidateDetector::Reset() {
  entered_ = 0;
  settled_.CutBack(0);
  log_.Clear();
  clocks_.CutBack(0);
  must_happen_before_.Reset();
  happens_before_.Reset();
  held_locks_.Reset();
  history_.Reset();
  for (uint32_t i = 0; i < waiting_.size(); ++i) waiting_[i] = {};
  marks_.clear();
}

void CandidateDetector::OnExecutionBegin(const Trace&, size_t kept) {
  if (kept == 0) {
    Reset();
  } else if (kept < marks_.size()) {
    const Mark& mark = marks_[kept];
    log_.UndoTo(mark.log);
    clocks_.CutBack(mark.clocks);
    history_.CutBack(mark.history);
    marks_.resize(kept);
  }
  entered_ = std::min(entered_, kept);
  settled_.CutBack(entered_);
}

void CandidateDetector::OnExecutionEnd(const Trace& trace) {
  constexpr size_t kMaxLines = 1u << 21;  // addresses that do not repeat
  if (lines_.size() > kMaxLines) {
    lines_.Clear();
    Reset();
  }
  bool all_settled;
  while (!Enter(trace, &all_settled)) Reset();
  if (all_settled) return;
  while (marks_.size() < trace.size()) Look(trace, marks_.size());
}

bool CandidateDetector::Enter(const Trace& trace, bool* all_settled) {
  if (of_one_thread_.size() < trace.accesses.size()) {
    of_one_thread_.resize(2 * trace.accesses.size());
  }
  *all_settled = true;
  bool as_before = true;
  for (; entered_ < trace.size(); ++entered_) {
    const Event& event = trace.events[entered_];
    lines_.BeginEvent(trace, event);
    settled_.BeginEvent(event, lines_.after_creation());
    const uint32_t end = event.first_access + event.access_count;
    for (uint32_t i = event.first_access; i < end; ++i) {
      const MicroAccess& access = trace.accesses[i];
      if (!IsPlace(access)) {
        *all_settled &= EnterSynchronisation(event, access, i);
        continue;
      }
      const SharedLines::Answer answer = lines_.Touch(trace, event, i);
      of_one_thread_[i] = answer == SharedLines::Answer::kOneThread;
      as_before &= answer != SharedLines::Answer::kBecameShared;
      if (!of_one_thread_[i]) *all_settled &= settled_.Enter(access);
    }
  }
  return as_before;
}

bool CandidateDetector::EnterSynchronisation(const Event& event, const MicroAccess& access,
                                             uint32_t position) {
  const auto thread = static_cast<sched::ThreadId>(sched::ObjectOf(access.begin));
  switch (sched::KindOf(access.begin)) {
    case CellKind::kThreadStart:
      if (access.mode == sched::kWrite) {
        lines_.Create(event, position, thread);
        settled_.Create(thread);
      }
      return true;
    case CellKind::kThreadExit:
      if ((access.flags & sched::kAcquire) && !(access.flags & sched::kBlockingTest)) {
        settled_.Join(thread);
      }
      return true;
    case CellKind::kSemaphore:  // it may turn out not to serve as a lock
      return rule_ != CandidateRule::kLimitedHappensBefore;
    default:
      settled_.ChangeLocks(access);
      return true;
  }
}

void CandidateDetector::Look(const Trace& trace, size_t position) {
  const Event& event = trace.events[position];
  const uint64_t end = uint64_t{event.first_access} + event.access_count;
  if (end > LastAccess::kMaxPosition) std::abort();  // a trace of 24 GB
  marks_.push_back({log_.size(), clocks_.size(), history_.size()});
  waiting_.GrowTo(event.thread + 1u);
  if (MayWait(trace, event)) {
    uint32_t& from = waiting_[event.thread].from;
    if (from == 0) log_.Set(from, static_cast<uint32_t>(position) + 1);
    return;
  }
  LookAtWaiting(trace, event.thread, position);
  LookNow(trace, event);
}

bool CandidateDetector::MayWait(const Trace& trace, const Event& event) {
  bool ends = false;
  const uint32_t end = event.first_access + event.access_count;
  for (uint32_t i = event.first_access; i < end; ++i) {
    const MicroAccess& a = trace.accesses[i];
    if (IsPlace(a)) {
      if (!of_one_thread_[i]) return false;
    } else if (a.flags & (sched::kAcquire | sched::kRelease | sched::kFence)) {
      if (sched::KindOf(a.begin) != CellKind::kThreadExit) return false;
      ends |= a.mode == sched::kWrite;
    }
  }
  if (ends) history_.ThreadDied(event.thread);
  return true;
}

// Makes up for the events of `thread` before `position` that were put off. Those behind it stay so:
// an attempt to join the thread that was itself put off, and failed, lies before them.
void CandidateDetector::LookAtWaiting(const Trace& trace, sched::ThreadId thread, size_t position) {
  if (thread >= waiting_.size() || waiting_[thread].from == 0) return;
  const size_t from = waiting_[thread].from - 1;
  if (from >= position) return;
  const size_t now = marks_.size() - 1;  // this one is looked at
  size_t rest = position;
  while (rest < now && trace.events[rest].thread != thread) ++rest;
  log_.Set(waiting_[thread].from, rest < now ? static_cast<uint32_t>(rest) + 1 : 0);
  for (size_t p = from; p < position; ++p) {
    if (trace.events[p].thread == thread) LookNow(trace, trace.events[p]);
  }
}

void CandidateDetector::LookNow(const Trace& trace, const Event& event) {
  const uint32_t end = event.first_access + event.access_count;
  for (uint32_t i = event.first_access; i < end; ++i) {  // before the event's own state is set
    const MicroAccess& a = trace.accesses[i];
    if (sched::KindOf(a.begin) != CellKind::kThreadExit || a.mode != sched::kRead) continue;
    const auto joined = static_cast<sched::ThreadId>(sched::ObjectOf(a.begin));
    LookAtWaiting(trace, joined, static_cast<size_t>(&event - trace.events.data()));
  }
  if (rule_ == CandidateRule::kLimitedHappensBefore) {
    must_happen_before_.BeginEvent(trace, event);
    held_locks_.BeginEvent(event);
  }
  happens_before_.BeginEvent(event);
  for (uint32_t i = event.first_access; i < end; ++i) {
    const MicroAccess& access = trace.accesses[i];
    if (!sched::IsMemory(access.begin) || (access.flags & sched::kFence)) {
      Synchronise(trace, event, access, i);
    } else if (IsPlace(access) && !of_one_thread_[i]) {
      AccessMemory(trace, event, access, i);
    }
  }
}

void CandidateDetector::Synchronise(const Trace& trace, const Event& event,
                                    const MicroAccess& access, uint32_t position) {
  happens_before_.Acquire(event, access);
  happens_before_.Release(event, access, position);
  if (rule_ == CandidateRule::kLimitedHappensBefore && !(access.flags & sched::kFence)) {
    held_locks_.Apply(trace, event, access);
  }
  if (access.begin == sched::MakeCell(CellKind::kThreadExit, event.thread) &&
      access.mode == sched::kWrite) {
    history_.ThreadDied(event.thread);
  }
}

class CandidateDetector::Comparison {
 public:
  // `before_acquire` and `now` are the thread's clocks before and after the access's own acquire.
  Comparison(CandidateDetector& detector, const Trace& trace, const AccessClass& later,
             ClockArena::Ref before_acquire, ClockArena::Ref now)
      : detector_(detector),
        table_(detector.table_),
        trace_(trace),
        later_(later),
        before_acquire_(before_acquire),
        now_(now),
        later_pc_(detector.table_.PcOf(later.site)),
        later_kind_(AccessKindOf(later.flags, later.mode)),
        overwrites_(!(later.flags & (sched::kAtomic | sched::kObjectBytes)) &&
                    later.mode != sched::kRead) {}

  // What can be said of all accesses of a class at once: whether any could add a fact.
  bool Wants(const AccessClass& earlier) {
    if (overwrites_ && (earlier.flags & sched::kAtomic)) {
      detector_.happens_before_.ForgetAtomic(earlier.begin);
    }
    if (earlier.threads == 1 && earlier.first.thread == later_.first.thread) return false;
    if (!sched::ModesConflict(earlier.mode, later_.mode)) return false;
    known_ = table_.KnownFacts(earlier.site, later_.site);
    races_ = Races(earlier.flags, later_.flags);
    order_ = OrderOf(earlier.site);
    kinds_ = CandidateTable::KindFacts(table_.PcOf(earlier.site),
                                       AccessKindOf(earlier.flags, earlier.mode), later_pc_,
                                       later_kind_);
    const uint32_t most = order_ | kinds_ | kUnordered | (races_ ? kDataRace : 0);
    if ((known_ & most) == most) return false;
    protection_ = table_.locksets().CommonProtection(earlier.lockset, later_.lockset);
    if (protection_ == Protection::kLocks) return false;
    both_atomic_ = earlier.flags & later_.flags & sched::kAtomic;
    return true;
  }

  void Visit(const AccessClass& earlier, const LastAccess& last) {
    const bool limited = detector_.rule_ == CandidateRule::kLimitedHappensBefore;
    const bool ordered_blocks =
        limited && last.position() < detector_.must_happen_before_.Bound(last.thread);
    if (ordered_blocks && !detector_.blocks_are_long_) return;
    const ClockArena::Ref clock = both_atomic_ ? before_acquire_ : now_;
    const bool unordered = last.position() >= detector_.clocks_.Get(clock, last.thread);
    const uint32_t order_and_kinds = order_ | kinds_;
    if (!unordered &&
        (!limited || ordered_blocks || (known_ & order_and_kinds) == order_and_kinds)) {
      return;
    }
    CandidateTable::Instance instance;
    instance.unordered = unordered;
    instance.data_race = unordered && races_;
    instance.recycled = last.lifetime() == Lifetime::kRecycled;
    const uint32_t facts =
        kinds_ | CandidateTable::FactsOf(table_.PcOf(earlier.site), last.thread, later_pc_,
                                         later_.first.thread, instance.unordered,
                                         instance.data_race, instance.recycled);
    if (CandidateTable::AddsNothing(known_, facts)) return;
    instance.earlier = SiteOf(trace_, earlier, last);
    instance.later = SiteOf(trace_, later_, later_.first);
    instance.cell = std::max(earlier.begin, later_.begin);
    if (protection_ == Protection::kNone) {
      table_.Add(instance);
      known_ = table_.KnownFacts(earlier.site, later_.site);
    } else {
      table_.AddUnlessProtected(instance, earlier.lockset, later_.lockset);
    }
  }

 private:
  // Which order of the pair an instance with an access of `earlier` would show; of an instruction
  // with itself, both count.
  uint32_t OrderOf(uint32_t earlier) const {
    const uint64_t pc = table_.PcOf(earlier);
    return pc < later_pc_   ? kLowerFirst
           : pc > later_pc_ ? kHigherFirst
                            : kLowerFirst | kHigherFirst;
  }

  CandidateDetector& detector_;
  CandidateTable& table_;
  const Trace& trace_;
  const AccessClass& later_;
  const ClockArena::Ref before_acquire_, now_;
  const uint64_t later_pc_;
  const AccessKind later_kind_;
  const bool overwrites_;
  // Of the class wanted last.
  Protection protection_ = Protection::kNone;
  uint32_t known_ = 0, order_ = 0, kinds_ = 0;
  bool races_ = false, both_atomic_ = false;
};

void CandidateDetector::AccessMemory(const Trace& trace, const Event& event,
                                     const MicroAccess& access, uint32_t position) {
  const sched::ThreadId thread = event.thread;
  AccessClass later;
  later.site = table_.SiteOf(access.pc);
  later.begin = access.begin;
  later.size = access.size;
  later.lockset = rule_ == CandidateRule::kLimitedHappensBefore ? held_locks_.LocksetOf(thread) : 0;
  later.flags = access.flags & AccessClass::kKindFlags;
  later.mode = access.mode;
  later.first.thread = thread;
  later.first.stamp = LastAccess::Stamp(
      position, access.flags & sched::kFree ? Lifetime::kFreed : Lifetime::kCurrent);

  const bool atomic = access.flags & sched::kAtomic;
  const ClockArena::Ref before_acquire = happens_before_.ClockOf(thread);
  if (atomic) happens_before_.Acquire(event, access);
  Comparison comparison(*this, trace, later, before_acquire, happens_before_.ClockOf(thread));
  history_.Record(later, comparison);
  if (atomic) happens_before_.Release(event, access, position);
}

}  // namespace mc::racedet
