#include "checker/agent/job.h"

#include <stdlib.h>

#include <algorithm>
#include <functional>

#include "checker/agent/recorded_schedules.h"
#include "checker/agent/schedule_text.h"
#include "dpor/law_check.h"
#include "dpor/replay_strategy.h"
#include "dpor/strategy_table.h"
#include "sched/c_library.h"

namespace mc::checker {
namespace {

// Among the learned sites: nothing is left out, since more than synchronisation orders accesses.
constexpr uint64_t kEverySite = 0;
// Among them, the place of a loop that has a bound: 0xPC+0xDEPTH+0xOBJECT.
constexpr char kLoopFollows = '+';

struct RefinementName {
  std::string_view name;
  sched::Refinement bit;
};
constexpr RefinementName kRefinements[] = {
    {"read-locks", sched::kRefineReadLocks}, {"posts", sched::kRefinePosts},
    {"barriers", sched::kRefineBarriers},    {"empty-signal", sched::kRefineEmptySignal},
    {"silent-rmw", sched::kRefineSilentRmw}, {"shared-sites", sched::kRefineSharedSites},
};

#ifdef MC_TEST_MUTANTS
struct MutationName {
  std::string_view name;
  sched::EventModelMutation mutation;
};
using sched::EventModelMutation;
constexpr MutationName kMutations[] = {
    {"block-test", EventModelMutation::kBlockTest},
    {"try-fail", EventModelMutation::kTryFail},
    {"cas-fail", EventModelMutation::kCasFail},
    {"sem-fail", EventModelMutation::kSemFail},
    {"signal-empty", EventModelMutation::kSignalEmpty},
    {"wait-cv", EventModelMutation::kWaitCv},
    {"wake", EventModelMutation::kWake},
    {"timeout-cv", EventModelMutation::kTimeoutCv},
    {"unlock", EventModelMutation::kUnlock},
    {"join", EventModelMutation::kJoin},
    {"create", EventModelMutation::kCreate},
    {"barrier-arrive", EventModelMutation::kBarrierArrive},
    {"barrier-depart", EventModelMutation::kBarrierDepart},
    {"alive", EventModelMutation::kAlive},
    {"heap-order", EventModelMutation::kHeapOrder},
    {"barrier-commute", EventModelMutation::kBarrierCommute},
};
#endif

bool ParseRanges(std::string_view text, std::vector<sched::CodeRange>* ranges) {
  for (std::string_view item : Split(text, ';')) {
    const std::string range(item);
    char* end = nullptr;
    sched::CodeRange r;
    r.begin = strtoull(range.c_str(), &end, 0);
    if (*end != ',') return false;
    r.end = strtoull(end + 1, &end, 0);
    if (*end != 0 || r.end <= r.begin) return false;
    ranges->push_back(r);
  }
  std::sort(ranges->begin(), ranges->end(),
            [](const auto& a, const auto& b) { return a.begin < b.begin; });
  return true;
}

bool ParseOptions(const Message& m, sched::ExecutionOptions* options, std::string* error) {
  options->preemption_points.classes = static_cast<uint32_t>(m.Number("classes"));
  if (!ParseRanges(m.Text("ranges"), &options->preemption_points.accesses)) {
    *error = "malformed ranges";
    return false;
  }
  options->exit_mode =
      m.Text("exit") == "immediate" ? sched::ExitMode::kImmediate : sched::ExitMode::kWait;
  const std::string_view heap = m.Text("heap");
  options->heap_policy = heap == "recycle" ? sched::HeapPolicy::kRecycle
                         : heap == "fresh" ? sched::HeapPolicy::kFresh
                                           : sched::HeapPolicy::kThread;
  options->heap_overruns = m.Number("overruns") != 0;
  options->spurious_wakeups = m.Number("spurious") != 0;
  options->fair = m.Number("fair") != 0;
  options->narrate = m.Number("narrate") != 0;
  options->checkpoints = m.Number("no_checkpoints") == 0;
  options->seed = m.Number("seed");
  if (m.Number("max_steps") != 0) options->max_events = m.Number("max_steps");
  for (std::string_view name : Split(m.Text("disabled"), ';')) {
    const auto* found = std::find_if(std::begin(kRefinements), std::end(kRefinements),
                                     [&](const RefinementName& r) { return r.name == name; });
    if (found == std::end(kRefinements)) {
      *error = "unknown refinement " + std::string(name);
      return false;
    }
    options->disabled_refinements |= found->bit;
  }
  options->barrier_full_model = (options->disabled_refinements & sched::kRefineBarriers) != 0;
#ifdef MC_TEST_MUTANTS
  for (const MutationName& mutation : kMutations) {
    if (mutation.name == m.Text("mutate")) options->mutation = mutation.mutation;
  }
#endif
  return true;
}

}  // namespace

std::unique_ptr<Job> Job::FromMessage(const Message& m, SpillFile* spill, std::string* error) {
  auto job = std::make_unique<Job>();
  job->spill_ = spill;
  job->id_ = m.Number("id");
  job->strategy_ = m.Text("strategy");
  job->executions_ = m.Number("executions");
  job->depth_ = static_cast<uint32_t>(m.Number("depth"));
  job->delays_ = static_cast<uint32_t>(m.Number("delays"));
  job->policy_ = dpor::PolicyFromName(m.Text("policy")).value_or(dpor::Policy::kStay);
  if (m.Has("preemptions")) {
    job->preemptions_ = static_cast<uint32_t>(m.Number("preemptions"));
  }
  job->schedule_ = m.Text("schedule");
  job->test_ = m.Text("test");
  for (std::string_view name : Split(m.Text("threads"), ';')) job->thread_names_.emplace_back(name);
  job->tree_ = m.Number("tree") != 0;
  job->options_.full_record = job->tree_;
  job->output_ = m.Number("output") != 0;
  job->final_states_ = m.Number("final_states") != 0;
  job->traces_ = m.Number("traces") != 0;
  job->detects_ = m.Number("no_detection") == 0;
  job->records_ = m.Number("record") != 0;
  job->workers_ = static_cast<uint32_t>(std::max<uint64_t>(1, m.Number("workers")));
  job->shares_at_once_ = m.Number("eager") != 0;
  job->memory_ = m.Number("memory");
  job->options_.memory_limit = job->memory_;
  if (job->memory_ != 0) spill->SetUp(m.Text("spill"), m.Number("requests"));
  if (!ParseOptions(m, &job->options_, error)) return nullptr;
  if (m.Number("full_barriers") != 0) job->UseFullBarrierModel();
  for (std::string_view site : Split(m.Text("sites"), ';')) {
    char* end = nullptr;
    const std::string text(site);
    const uint64_t pc = strtoull(text.c_str(), &end, 0);
    if (*end == kLoopFollows) {
      sched::LoopPlace place{pc, strtoull(end + 1, &end, 0), 0};
      if (*end == kLoopFollows) place.object = strtoull(end + 1, nullptr, 0);
      job->bounded_loops_.push_back(place);
    } else if (pc == kEverySite) {
      job->UseFullFootprints();
    } else {
      job->learned_.push_back(pc);
    }
  }
  if (m.Text("race") == "hb") job->rule_ = racedet::CandidateRule::kHappensBefore;
  job->options_.bounds_loops = !job->is_replay() && !job->is_recorded();
  if (!job->MakeSearch(error)) return nullptr;
  if (job->workers_ > 1 && job->search_->shared() == nullptr) {
    job->StayAlone("only searches by odpor can be shared");
  }
  job->MakeDetector();
  return job;
}

bool Job::MakeSearch(std::string* error) {
  search_ = nullptr;
  shared_ = nullptr;
  if (is_replay()) {
    std::vector<dpor::Step> steps;
    if (!DecodeSteps(schedule_, &steps)) {
      *error = "malformed schedule";
      return false;
    }
    search_ = std::make_unique<dpor::ReplayStrategy>(std::move(steps));
    return true;
  }
  if (is_recorded()) {
    auto schedules = std::make_unique<RecordedSchedules>();
    if (!schedules->Parse(schedule_)) {
      *error = "malformed schedules";
      return false;
    }
    search_ = std::move(schedules);
    return true;
  }
  if (strategy_ == "law-check") {
    search_ = std::make_unique<dpor::LawCheck>(options_.seed, executions_,
                                               [] { return sched::g_scheduler.FinalStateHash(); });
    return true;
  }
  dpor::SearchOptions options;
  options.seed = options_.seed;
  if (executions_ != 0) options.executions = executions_;
  if (depth_ != 0) options.depth = depth_;
  if (delays_ != 0) options.delays = delays_;
  options.policy = policy_;
  options.preemptions = preemptions_;
  search_ = dpor::MakeSearch(strategy_, options);
  if (search_ == nullptr) {
    *error = "unknown strategy " + strategy_;
    return false;
  }
  if (memory_ != 0) search_->LimitMemory(spill_, &spill_->budget());
  return true;
}

uint32_t Job::workers() const {
  // What is shown as it happens comes from one process.
  return !why_alone_.empty() || tree_ || records_ || output_ || options_.narrate ||
                 search_->shared() == nullptr
             ? 1
             : workers_;
}

dpor::Frontier& Job::OpenFrontier() {
  if (shared_ == nullptr) {
    shared_ = std::make_unique<Shared>();
    search_->shared()->Share(shared_.get());
  }
  return shared_->frontier;
}

// What waits at the frontier counts as much as an item that was finished did on average.
double Job::Estimate() const {
  const double estimate = search_->Estimate();
  if (shared_ == nullptr || search_->complete()) return estimate;
  const dpor::Frontier& frontier = shared_->frontier;
  const size_t finished = frontier.finished() - items_before_;
  const auto runs = static_cast<double>(search_->runs() - runs_before_);
  if (estimate_before_ > 0 && finished == 0) return std::max(estimate, estimate_before_);
  const double mean = runs / static_cast<double>(std::max<size_t>(1, finished));
  return estimate + mean * static_cast<double>(frontier.pending());
}

void Job::MakeDetector() {
  const bool blocks_are_long = (options_.preemption_points.classes & sched::kPpEveryAccess) != 0;
  detector_ = std::make_unique<racedet::CandidateDetector>(rule_, candidates_, blocks_are_long);
}

void Job::Activate(sched::Scheduler& scheduler) {
  scheduler.Configure(options_);
  for (uint64_t pc : learned_) scheduler.sites().Learn(pc);
  scheduler.BoundLoops(bounded_loops_);
  scheduler.SetObservers(detects_ ? std::vector<sched::Observer*>{detector_.get()}
                                  : std::vector<sched::Observer*>());
  search_->Resume();
}

void Job::Restart(sched::Scheduler& scheduler) {
  estimate_before_ = 0;
  runs_before_ = items_before_ = 0;
  repeated = 0;
  seen_states_.clear();
  recorded_ = TraceWriter();
  std::string error;
  MakeSearch(&error);
  MakeDetector();
  Activate(scheduler);
}

std::string Job::LearnedSites() const {
  std::string text = options_.full_footprints ? sched::Hex(kEverySite) : "";
  for (uint64_t pc : learned_) {
    if (!text.empty()) text += ';';
    text += sched::Hex(pc);
  }
  for (const sched::LoopPlace& loop : bounded_loops_) {
    if (!text.empty()) text += ';';
    text += sched::Hex(loop.pc) + kLoopFollows + sched::Hex(loop.depth) + kLoopFollows +
            sched::Hex(loop.object);
  }
  return text;
}

bool Job::LearnsSites() const {
  // A recorded schedule brings the sites that were known when it was made.
  return !is_replay() && (options_.preemption_points.classes & sched::kPpEveryAccess) != 0 &&
         (options_.disabled_refinements & sched::kRefineSharedSites) == 0;
}

bool Job::LearnsFrom(const racedet::Candidate& candidate) const {
  if (!LearnsSites() || candidate.status == racedet::CandidateStatus::kMallocRecycle) return false;
  // Let e of another thread come before the access s, and let happens-before order them. The last
  // step of that order into the thread of s is an acquire before s. Where every operation that
  // acquires has a PP of its own, or is an atomic access learned from its own candidates, it begins
  // s's block or lies before it; so e comes before the whole block, and nothing is lost if no PP
  // lies before s. Without those PPs an acquire may lie inside the block: then every candidate
  // counts.
  const uint32_t classes = options_.preemption_points.classes;
  return candidate.unordered || (classes & sched::kPpSync) != sched::kPpSync;
}

bool Job::Learn(uint64_t pc_a, uint64_t pc_b) {
  bool is_new = false;
  for (uint64_t pc : {pc_a, pc_b}) {
    if (pc == 0 || sched::IsCLibraryCode(pc) ||
        std::find(learned_.begin(), learned_.end(), pc) != learned_.end())
      continue;
    learned_.push_back(pc);
    is_new = true;
  }
  return is_new;
}

// Whatever the supervisor would tell apart (Findings) has to be told.
bool Job::IsNewBug(const sched::BugReport& bug) {
  const auto mix = [](uint64_t key, uint64_t more) {
    return (key ^ more) * 0x9e3779b97f4a7c15u + (key >> 32);
  };
  uint64_t key = mix(static_cast<uint64_t>(bug.kind) + 1, bug.pc);
  const size_t first = !bug.stack.empty() && bug.stack.front() == bug.pc ? 1 : 0;
  for (size_t k = first; k < std::min(bug.stack.size(), first + 2); ++k) {
    key = mix(key, bug.stack[k]);
  }
  // A deadlock is told by who waits where, which is in the details.
  if (bug.kind == sched::BugKind::kDeadlock || bug.kind == sched::BugKind::kLivelock ||
      bug.kind == sched::BugKind::kLeak) {
    key = mix(key, std::hash<std::string>{}(bug.details));
  }
  if (bug.pc == 0) key = mix(key, std::hash<std::string>{}(bug.message));
  return seen_bugs_.insert(key).second;
}

}  // namespace mc::checker
