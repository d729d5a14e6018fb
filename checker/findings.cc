#include "checker/findings.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "checker/text.h"
#include "racedet/access_kind.h"
#include "sched/event.h"

namespace mc::checker {
namespace {

using racedet::CandidateStatus;

std::vector<std::string> ParseNames(std::string_view text) {
  std::vector<std::string> names;
  for (std::string_view name : Split(text, ';')) names.emplace_back(name);
  return names;
}

CandidateStatus StatusFromName(std::string_view name) {
  if (name == "confirmed") return CandidateStatus::kConfirmed;
  if (name == "malloc-recycle") return CandidateStatus::kMallocRecycle;
  return CandidateStatus::kSuspected;
}

int ParseThread(const Message& message, std::string_view field) {
  const uint64_t thread = message.Number(field);
  return message.Has(field) && thread != sched::kNoThread ? static_cast<int>(thread) : -1;
}

RaceSide ParseSide(const Message& message, std::string_view side) {
  const std::string name(side);
  RaceSide result;
  result.pc = message.Number(name);
  result.kind = message.Text(name + "_kind");
  result.thread = ParseThread(message, name + "_thread");
  result.stack = ParseStack(message.Text(name + "_stack"));
  return result;
}

// What makes two reports the same bug: the place and its caller, or, where there is none, the text.
std::string IdentityOf(const Bug& bug) {
  std::string identity = absl::StrCat(View(sched::NameOf(bug.kind)), " ", bug.pc);
  for (size_t i = 0; i < std::min<size_t>(bug.stack.size(), 2); ++i) {
    absl::StrAppend(&identity, " ", bug.stack[i]);
  }
  // Deadlocks are told apart by who waits where, which the details say.
  if (bug.kind == sched::BugKind::kDeadlock || bug.kind == sched::BugKind::kLivelock ||
      bug.kind == sched::BugKind::kLeak) {
    absl::StrAppend(&identity, " ", bug.details);
  }
  if (bug.pc == 0) absl::StrAppend(&identity, " ", bug.message);
  return identity;
}

std::string Describe(const Race& race) {
  return absl::StrCat(
      race.a.kind, " and ", race.b.kind, " of ",
      race.object.empty() ? "shared memory" : race.object,
      race.data_race ? " are not ordered by happens-before" : " may happen in either order");
}

}  // namespace

std::vector<uint64_t> ParseStack(std::string_view text) {
  std::vector<uint64_t> stack;
  for (std::string_view frame : Split(text, ',')) {
    stack.push_back(ParseNumber<uint64_t>(frame).value_or(0));
  }
  return stack;
}

std::string_view NameOf(CandidateStatus status) {
  switch (status) {
    case CandidateStatus::kSuspected:
      return "suspected";
    case CandidateStatus::kConfirmed:
      return "confirmed";
    case CandidateStatus::kMallocRecycle:
      break;
  }
  return "malloc-recycle";
}

// Jobs may have seen one instruction do different things.
void Findings::RaiseKinds(const Message& message, Race* race) {
  const bool as_known = message.Number("a") == race->a.pc;
  bool raised = false;
  for (RaceSide* side : {&race->a, &race->b}) {
    const std::string_view kind =
        message.Text((side == &race->a) == as_known ? "a_kind" : "b_kind");
    if (racedet::AccessKindFromName(kind) <= racedet::AccessKindFromName(side->kind)) continue;
    side->kind = kind;
    raised = true;
  }
  if (!raised) return;
  for (const auto& bug : bugs_) {
    if (bug->race == race) bug->message = Describe(*race);
  }
}

Race* Findings::FindOrAdd(const Message& message) {
  Race*& race = by_pair_[std::minmax(message.Number("a"), message.Number("b"))];
  if (race != nullptr) {
    RaiseKinds(message, race);
    return race;
  }
  races_.push_back(std::make_unique<Race>());
  race = races_.back().get();
  race->a = ParseSide(message, "a");
  race->b = ParseSide(message, "b");
  race->object = ObjectOf(message);
  return race;
}

std::string Findings::ObjectOf(const Message& message) {
  const std::string variable = symbolizer_->VariableAt(message.Number("address"));
  const std::string_view object = message.Text("object");
  // What the harness could not name.
  const bool is_address = object.empty() || object.starts_with("memory at ");
  return variable.empty() || !is_address ? symbolizer_->ReplaceCodeAddresses(object) : variable;
}

void Findings::RaiseStatus(const Message& message, bool was_known, Race* race) {
  const CandidateStatus status = StatusFromName(message.Text("status"));
  if (status == CandidateStatus::kMallocRecycle) return;
  race->promoted |= message.Number("promoted") != 0 || (was_known && !race->IsCandidate());
  const std::string_view earlier = message.Text("earlier");
  if (!earlier.empty()) {
    const bool a_first = (earlier == "a") == (message.Number("a") == race->a.pc);
    (a_first ? race->a_first_seen : race->b_first_seen) = true;
  }
  // Two jobs may each have seen one order.
  if (status == CandidateStatus::kConfirmed || (race->a_first_seen && race->b_first_seen)) {
    race->status = CandidateStatus::kConfirmed;
  } else if (!race->IsCandidate()) {
    race->status = CandidateStatus::kSuspected;
  }
}

const Race& Findings::AddRace(const Message& message, const std::string& pps, Bug** new_bug) {
  *new_bug = nullptr;
  const bool was_known = by_pair_.contains(std::minmax(message.Number("a"), message.Number("b")));
  Race& race = *FindOrAdd(message);
  RaiseStatus(message, was_known, &race);
  race.unordered |= message.Number("unordered") != 0;
  race.data_race |= message.Number("data_race") != 0;
  if (!Fails(race)) return race;

  Bug bug;
  bug.kind = sched::BugKind::kDataRace;
  bug.message = Describe(race);
  bug.thread = ParseThread(message, "b_thread");
  bug.pc = race.b.pc;
  bug.stack = race.b.stack;
  bug.steps = ParseSteps(message.Text("schedule"));
  bug.threads = ParseNames(message.Text("threads"));
  bug.preemptions = message.Number("preemptions");
  bug.executions = message.Number("executions");
  bug.pps = pps;
  bug.strategy = message.Text("strategy");
  bug.race = &race;
  *new_bug = AddBug(std::move(bug));
  return race;
}

bool Findings::Fails(const Race& race) const {
  switch (policy_) {
    case FailOnRace::kNever:
      return false;
    case FailOnRace::kConfirmed:
      return race.IsCandidate() && race.data_race;
    case FailOnRace::kSuspected:
      return race.IsCandidate() && (race.a.IsPlain() || race.b.IsPlain());
  }
  return false;
}

Bug* Findings::AddBug(const Message& message, const std::string& pps) {
  Bug bug;
  bug.kind = sched::BugKindFromName(message.Text("kind")).value_or(sched::BugKind::kCustom);
  bug.message = symbolizer_->ReplaceCodeAddresses(message.Text("message"));
  bug.details = symbolizer_->ReplaceCodeAddresses(message.Text("details"));
  bug.thread = ParseThread(message, "thread");
  bug.pc = message.Number("pc");
  bug.stack = ParseStack(message.Text("stack"));
  bug.steps = ParseSteps(message.Text("schedule"));
  bug.threads = ParseNames(message.Text("threads"));
  bug.preemptions = message.Number("preemptions");
  bug.executions = message.Number("executions");
  bug.pps = pps;
  bug.strategy = message.Text("strategy");
  return AddBug(std::move(bug));
}

Bug* Findings::AddBug(Bug bug) {
  if (!bug.stack.empty() && bug.stack.front() == bug.pc) bug.stack.erase(bug.stack.begin());
  std::string identity;
  if (bug.race != nullptr) {
    const auto [first, second] = LinesOf(*bug.race);
    identity = absl::StrCat("data-race ", std::min(first, second), " ", std::max(first, second));
  } else {
    identity = IdentityOf(bug);
  }
  Bug*& known = by_identity_[identity];
  if (known != nullptr) return nullptr;
  bugs_.push_back(std::make_unique<Bug>(std::move(bug)));
  known = bugs_.back().get();
  for (ScheduleStep& step : known->steps) {
    if (step.pc != 0) step.place = symbolizer_->Locate(step.pc).Where();
  }
  return known;
}

CandidateView Findings::ViewOf(const Race& race) const {
  const bool b_is_earlier = race.b_first_seen && !race.a_first_seen;
  const RaceSide& earlier = b_is_earlier ? race.b : race.a;
  const RaceSide& later = b_is_earlier ? race.a : race.b;
  CandidateView view;
  view.earlier_pc = earlier.pc;
  view.later_pc = later.pc;
  view.earlier_pp = symbolizer_->AccessPpOf(earlier.pc);
  view.later_pp = symbolizer_->AccessPpOf(later.pc);
  view.earlier_atomic = earlier.IsAtomic();
  view.later_atomic = later.IsAtomic();
  view.order_known = race.a_first_seen || race.b_first_seen;
  view.status = race.status;
  return view;
}

std::pair<std::string, std::string> Findings::LinesOf(const Race& race) const {
  return {symbolizer_->AccessPpOf(race.a.pc), symbolizer_->AccessPpOf(race.b.pc)};
}

uint64_t Findings::malloc_recycle_discarded() const {
  return static_cast<uint64_t>(std::count_if(
      races_.begin(), races_.end(), [](const auto& race) { return !race->IsCandidate(); }));
}

}  // namespace mc::checker
