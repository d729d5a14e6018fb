#include "checker/certificate/certificate_check.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace mc::checker {

using sched::Cell;
using sched::CellKind;
using sched::OperationKind;
using sched::ThreadId;
using sched::ThreadStatus;

namespace {

constexpr size_t kTracesBetweenProgress = 64;
constexpr uint32_t kNoChoiceNumber = 0xffffffff;

bool ConflictsWithAny(const RecordedEvent& event, const std::vector<RecordedAccess>& accesses) {
  return std::ranges::any_of(event.accesses, [&](const RecordedAccess& a) {
    return std::ranges::any_of(accesses, [&](const RecordedAccess& b) { return Conflict(a, b); });
  });
}

bool WaitsInBoundedLoop(const RecordedOperation& operation) {
  return operation.kind == OperationKind::kBoundedLoop ||
         operation.kind == OperationKind::kForcedRound;
}

bool IsHandlerPhase(const RecordedEvent& event) {
  return event.operation.kind == OperationKind::kHandlerPhase;
}

std::string NameOfThread(ThreadId thread) { return absl::StrCat("T", thread); }

}  // namespace

CertificateCheck::CertificateCheck(const RecordedTraces& traces)
    : traces_(traces), order_(traces), rules_(order_), cut_(order_) {
  for (const RecordedEvent& event : traces.events) {
    for (const RecordedAccess& access : event.accesses) {
      alive_modelled_ |= sched::KindOf(access.begin) == CellKind::kAlive;
    }
  }
}

// "T1's event 3 (step 7)"
std::string CertificateCheck::Name(size_t position) const {
  const RecordedEvent& event = order_.event(position);
  return absl::StrCat(NameOfThread(event.thread), "'s event ", event.index, " (step ", position,
                      ")");
}

Rejection CertificateCheck::Reject(int condition, std::string text) const {
  return {condition, absl::StrCat("trace ", trace_, ": ", text)};
}

bool CertificateCheck::Continue(size_t done) {
  if (done % kTracesBetweenProgress != 0 || !on_progress_) return true;
  stopped_ = !on_progress_(done);
  return !stopped_;
}

std::optional<Rejection> CertificateCheck::Run() {
  if (traces_.traces.empty()) return Rejection{1, "there is no trace"};
  if (Found wrong = CheckRules()) return wrong;
  for (trace_ = 0; trace_ < traces_.traces.size(); ++trace_) {
    if (!Continue(trace_)) return std::nullopt;
    if (Found wrong = CheckShape()) return wrong;
    const size_t from = order_.Follow(trace_);
    if (Found wrong = CheckPast(from)) return wrong;
    if (!rules_.LearnCounts(ends())) {
      return Reject(3, "a semaphore has another count at first than in an earlier trace");
    }
    if (Found wrong = CheckExecutable(from)) return wrong;
    if (Found wrong = CheckMaximal()) return wrong;
    if (const size_t same = order_.Enter(); same != trace_) {
      return Reject(5, absl::StrCat("it is trace ", same, " once more"));
    }
  }
  for (trace_ = 0; trace_ < traces_.traces.size(); ++trace_) {
    if (!Continue(trace_)) return std::nullopt;
    order_.Follow(trace_);
    if (Found wrong = CheckClosed()) return wrong;
  }
  return std::nullopt;
}

// -- 0: nothing without a rule -------------------------------------------------------------------

CertificateCheck::Found CertificateCheck::CheckRules() const {
  constexpr const char* kBoundedLoops =
      "a loop is bounded, so not all executions are among the traces";
  for (const RecordedEvent& event : traces_.events) {
    if (WaitsInBoundedLoop(event.operation)) return Rejection{0, kBoundedLoops};
  }
  for (const RecordedEnds& ends : traces_.ends) {
    if (ends.outcome == sched::ExecutionOutcome::kBlocked) {
      return Rejection{0, "an execution was given up"};
    }
    for (const RecordedEnd& end : ends.threads) {
      if (WaitsInBoundedLoop(end.pending)) return Rejection{0, kBoundedLoops};
    }
  }
  return std::nullopt;
}

// -- 1: well-formed ------------------------------------------------------------------------------

CertificateCheck::Found CertificateCheck::CheckShape() const {
  std::vector<uint32_t> counts(order_.threads());
  const std::vector<uint32_t>& events = traces_.traces[trace_].events;
  for (size_t p = 0; p < events.size(); ++p) {
    const RecordedEvent& event = traces_.events[events[p]];
    if (event.index != counts[event.thread]++) {
      return Reject(1, absl::StrCat("step ", p, ", T", event.thread, "'s event ", event.index,
                                    ", is event ", counts[event.thread] - 1, " of its thread"));
    }
  }
  for (size_t t = 0; t < order_.threads(); ++t) {
    const uint32_t told = t < ends().threads.size() ? ends().threads[t].events : 0;
    if (told != counts[t]) {
      return Reject(1, absl::StrCat(NameOfThread(static_cast<ThreadId>(t)), " has ", counts[t],
                                    " events, not ", told));
    }
  }
  return std::nullopt;
}

// -- 2: function of the past ---------------------------------------------------------------------

CertificateCheck::Found CertificateCheck::CheckPast(size_t from) const {
  for (size_t p = from; p < order_.size(); ++p) {
    const uint32_t known = order_.EventNumberOfKey(order_.key(p));
    if (known == order_.EventNumber(p) || traces_.events[known] == order_.event(p)) continue;
    return Reject(2, absl::StrCat(Name(p),
                                  " is another one than in an earlier trace, although the same "
                                  "happened before it"));
  }
  return std::nullopt;
}

// -- 3: executable -------------------------------------------------------------------------------

CertificateCheck::Found CertificateCheck::CheckExecutable(size_t from) {
  cut_.TakePrefix(from);
  for (size_t p = from; p < order_.size(); ++p) {
    if (Found wrong = CheckBegins(p)) return wrong;
    if (Found wrong = CheckLedger(p)) return wrong;
    cut_.Add(p);
  }
  return std::nullopt;
}

// Was the event enabled? `cut_` holds those before it.
CertificateCheck::Found CertificateCheck::CheckBegins(size_t position) {
  const RecordedEvent& event = order_.event(position);
  if (!rules_.Exists(cut_, event.thread)) {
    return Reject(3, absl::StrCat(Name(position),
                                  ": its thread is not created yet, or the process has ended"));
  }
  if (IsHandlerPhase(event)) {
    const std::optional<ThreadId> other = AnyEnabled(event.thread);
    if (!other) return std::nullopt;
    return Reject(3, absl::StrCat(Name(position), " begins the exit handlers while ",
                                  NameOfThread(*other), " can run"));
  }
  const NextBlock next = {event.thread, event.operation, event.spin_cells};
  const RecordedOperation operation = rules_.OperationIn(cut_, next);
  if (operation != event.operation) {
    return Reject(3, absl::StrCat(Name(position), " goes on from a wait that nothing has ended"));
  }
  if (rules_.Enabled(cut_, next, operation)) return std::nullopt;
  return Reject(3, absl::StrCat(Name(position), " could not run: what it waits for is not there"));
}

// A thread other than `except` that can run after the cut.
std::optional<ThreadId> CertificateCheck::AnyEnabled(ThreadId except) const {
  for (size_t t = 0; t < order_.threads(); ++t) {
    const auto thread = static_cast<ThreadId>(t);
    NextBlock next;
    if (thread != except && rules_.FindNext(cut_, ends(), thread, &next) &&
        rules_.Enabled(cut_, next, rules_.OperationIn(cut_, next))) {
      return thread;
    }
  }
  return std::nullopt;
}

// Do the changes begin where the last ones ended? Of semaphores, they are relative.
CertificateCheck::Found CertificateCheck::CheckLedger(size_t position) const {
  const RecordedEvent& event = order_.event(position);
  for (const RecordedLedger& change : event.ledger) {
    const CellKind kind = sched::KindOf(change.object);
    const bool of_thread = kind == CellKind::kReadersHalf;
    if (kind == CellKind::kSemaphore) continue;
    for (size_t p = position; p-- > 0;) {
      const RecordedEvent& earlier = order_.event(p);
      if (of_thread && earlier.thread != event.thread) continue;
      const auto last = std::ranges::find(earlier.ledger, change.object, &RecordedLedger::object);
      if (last == earlier.ledger.end()) continue;
      // To initialise it again forgets who holds it.
      if (last->after != change.before && change.before != 0) {
        return Reject(3, absl::StrCat(Name(position), " changes a lock that is not as ", Name(p),
                                      " left it"));
      }
      break;
    }
  }
  return std::nullopt;
}

// -- 4: maximal ----------------------------------------------------------------------------------

CertificateCheck::Found CertificateCheck::CheckMaximal() {
  cut_.TakePrefix(order_.size());
  if (const std::optional<ThreadId> thread = AnyEnabled(sched::kNoThread)) {
    return Reject(4, absl::StrCat("it ends although ", NameOfThread(*thread), " can run"));
  }
  bool handled = false;
  for (size_t p = 0; p < order_.size(); ++p) handled |= IsHandlerPhase(order_.event(p));
  for (size_t t = 0; t < ends().threads.size(); ++t) {
    const auto thread = static_cast<ThreadId>(t);
    NextBlock next;
    if (!handled && rules_.FindNext(cut_, ends(), thread, &next) &&
        next.operation.kind == OperationKind::kHandlerPhase) {
      return Reject(4, "it ends before the exit handlers");
    }
  }
  return std::nullopt;
}

// -- 6: closed -----------------------------------------------------------------------------------

CertificateCheck::Found CertificateCheck::CheckClosed() {
  if (Found wrong = CheckRaces()) return wrong;
  if (Found wrong = CheckWaits()) return wrong;
  if (Found wrong = CheckBlocked()) return wrong;
  return CheckChoices();
}

CertificateCheck::Found CertificateCheck::CheckRaces() {
  for (const ConflictingPair& race : order_.races()) {
    if (Found wrong = CheckReversed(race.first, order_.event(race.second).thread, race.second)) {
      return wrong;
    }
  }
  return std::nullopt;
}

// What a blocking operation had to wait for need not be what it touched right before.
CertificateCheck::Found CertificateCheck::CheckWaits() {
  for (size_t j = 0; j < order_.size(); ++j) {
    const RecordedEvent& event = order_.event(j);
    if (event.operation.kind == OperationKind::kNone) continue;
    const auto pending = Enabledness::PendingFootprint(event.operation, event.thread, false);
    if (Found wrong = CheckPending(event.thread, event.index, j, pending)) return wrong;
  }
  return std::nullopt;
}

// Whatever touches what event `index` of q, at position j, or to come, waits for, and does not
// happen before the thread's event before that.
CertificateCheck::Found CertificateCheck::CheckPending(ThreadId q, uint32_t index, size_t j,
                                                       const std::vector<RecordedAccess>& pending) {
  if (pending.empty()) return std::nullopt;
  for (size_t t = 0; t < order_.threads(); ++t) {
    const auto thread = static_cast<ThreadId>(t);
    if (thread == q) continue;
    size_t k = index == 0 ? 0 : order_.Clock(order_.Find(q, index - 1))[t];
    for (; k < order_.EventsOf(thread) && order_.Find(thread, k) < j; ++k) {
      const size_t i = order_.Find(thread, k);
      if (!ConflictsWithAny(order_.event(i), pending)) continue;
      if (Found wrong = CheckReversed(i, q, j)) return wrong;
    }
  }
  return std::nullopt;
}

// The threads that wait at the end, or, if the process ended, did not come any further.
CertificateCheck::Found CertificateCheck::CheckBlocked() {
  for (size_t t = 0; t < ends().threads.size(); ++t) {
    const auto q = static_cast<ThreadId>(t);
    const RecordedEnd& end = ends().threads[t];
    if (end.status != ThreadStatus::kRunnable) continue;
    const auto pending = Enabledness::PendingFootprint(end.pending, q, alive_modelled_);
    if (Found wrong = CheckPending(q, end.events, kNoEventPosition, pending)) return wrong;
  }
  return std::nullopt;
}

CertificateCheck::Found CertificateCheck::CheckChoices() {
  for (size_t i = 0; i < order_.size(); ++i) {
    const RecordedEvent& event = order_.event(i);
    std::vector<uint32_t> choices;
    for (const RecordedChoice& choice : event.choices) {
      for (uint32_t value = 0; value < choice.arity; ++value) {
        if (value == choice.value) continue;
        cut_.TakeWithout(i);
        const auto number = static_cast<uint32_t>(choices.size());
        if (!IsNew(i, event.thread, order_.key(i), number, value)) continue;
        choices.push_back(value);
        if (!AnyTraceShows(event.thread, choices)) {
          return Reject(
              6, absl::StrCat(Name(i), " chooses ", choice.value, " of ", choice.arity,
                              " at its choice ", number, "; no trace shows the choice ", value));
        }
        choices.pop_back();
      }
      choices.push_back(choice.value);
    }
  }
  return std::nullopt;
}

// Thread q, whose event is at position j (or which is blocked at the end), runs after all that does
// not happen after the event at i. If it can, a trace has to show it.
CertificateCheck::Found CertificateCheck::CheckReversed(size_t i, ThreadId q, size_t j) {
  if (IsUniversal(order_.event(i)) || (j != kNoEventPosition && IsUniversal(order_.event(j)))) {
    return std::nullopt;
  }
  cut_.TakeWithout(i);
  const uint32_t index = j == kNoEventPosition ? ends().threads[q].events : order_.event(j).index;
  const uint32_t what = j == kNoEventPosition ? kNoKey : order_.key(j);
  if (!IsNew(i, q, what, kNoChoiceNumber, traces_.traces[trace_].ends)) return std::nullopt;
  NextBlock next;
  for (;;) {
    if (cut_.CountOf(q) != index || !rules_.FindNext(cut_, ends(), q, &next)) return std::nullopt;
    const RecordedOperation operation = rules_.OperationIn(cut_, next);
    if (rules_.Enabled(cut_, next, operation)) break;
    if (!rules_.DropReaders(operation, i, &cut_)) return std::nullopt;
  }
  const std::vector<uint32_t> choices =
      j == kNoEventPosition ? std::vector<uint32_t>() : ChoicesBeforeChange(j);
  if (AnyTraceShows(q, choices)) return std::nullopt;
  return Reject(
      6, absl::StrCat(j == kNoEventPosition ? absl::StrCat("event ", index, " of ", NameOfThread(q),
                                                           ", which is blocked at the end,")
                                            : Name(j),
                      " could come before ", Name(i), "; no trace shows that"));
}

// Has this not been looked for yet? `cut_` is what comes before.
bool CertificateCheck::IsNew(size_t i, ThreadId q, uint32_t what, uint32_t choice, uint32_t value) {
  uint64_t low = 0x243f6a8885a308d3u, high = 0x13198a2e03707344u;
  const auto mix = [&](uint64_t word) {
    low = (low ^ word) * 0x9e3779b97f4a7c15u;
    low ^= low >> 29;
    high = (high + word + 1) * 0xc2b2ae3d27d4eb4fu;
    high ^= high >> 31;
  };
  for (size_t t = 0; t < order_.threads(); ++t) {
    const uint32_t count = cut_.CountOf(static_cast<ThreadId>(t));
    mix(count == 0 ? kNoKey : order_.key(order_.Find(static_cast<ThreadId>(t), count - 1)));
  }
  mix(order_.key(i));
  mix(q);
  mix(what);
  mix(choice);
  // How threads end depends on more than `what` only if the thread has no event there.
  mix(choice == kNoChoiceNumber && what != kNoKey ? 0 : value);
  const bool is_new = settled_.insert({low, high}).second;
  obligations_ += is_new ? 1 : 0;
  return is_new;
}

// The choices that the event at j makes before the first access that is another one, or finds
// something else, without what is missing from the cut.
std::vector<uint32_t> CertificateCheck::ChoicesBeforeChange(size_t j) const {
  const RecordedEvent& event = order_.event(j);
  size_t first = event.accesses.size();
  for (size_t p = 0; p < j; ++p) {
    if (cut_.Contains(p) || order_.event(p).thread == event.thread) continue;
    for (const RecordedAccess& missing : order_.event(p).accesses) {
      for (size_t k = 0; k < first; ++k) {
        if (Conflict(missing, event.accesses[k])) first = k;
      }
    }
  }
  std::vector<uint32_t> choices;
  for (const RecordedChoice& choice : event.choices) {
    if (choice.position <= first) choices.push_back(choice.value);
  }
  return choices;
}

// Does a trace contain the cut, and an event of q right after it that begins with the choices?
bool CertificateCheck::AnyTraceShows(ThreadId q, const std::vector<uint32_t>& choices) const {
  const std::vector<uint32_t>* candidates = nullptr;
  for (size_t t = 0; t < order_.threads(); ++t) {
    const auto thread = static_cast<ThreadId>(t);
    const uint32_t count = cut_.CountOf(thread);
    if (count == 0) continue;
    const auto& with = order_.TracesWith(order_.key(order_.Find(thread, count - 1)));
    if (candidates == nullptr || with.size() < candidates->size()) candidates = &with;
  }
  if (candidates == nullptr) {
    for (size_t trace = 0; trace < order_.entered(); ++trace) {
      if (Shows(trace, q, choices)) return true;
    }
    return false;
  }
  // A search goes on near by: the trace is likely to be among the next ones.
  const auto here = std::ranges::lower_bound(*candidates, trace_);
  const auto shows = [&](uint32_t trace) { return Shows(trace, q, choices); };
  return std::any_of(here, candidates->end(), shows) ||
         std::any_of(candidates->begin(), here, shows);
}

bool CertificateCheck::Shows(size_t trace, ThreadId q, const std::vector<uint32_t>& choices) const {
  const uint32_t key = order_.KeyIn(trace, q, cut_.CountOf(q));
  if (key == kNoKey) return false;
  const std::span<const uint32_t> clock = order_.ClockOfKey(key);
  for (size_t t = 0; t < order_.threads(); ++t) {
    const auto thread = static_cast<ThreadId>(t);
    const uint32_t count = cut_.CountOf(thread);
    if (thread != q && clock[t] > count) return false;
    if (count != 0 &&
        order_.KeyIn(trace, thread, count - 1) != order_.key(order_.Find(thread, count - 1))) {
      return false;
    }
  }
  const std::vector<RecordedChoice>& made = order_.EventOfKey(key).choices;
  return made.size() >= choices.size() &&
         std::ranges::equal(choices, std::span(made).first(choices.size()), {}, {},
                            &RecordedChoice::value);
}

}  // namespace mc::checker
