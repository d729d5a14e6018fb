// Job: the search of one state space, as the worker keeps it between slices.
//
// Holds everything that belongs to one PP set: the options of its executions, the search with its
// tree, the candidates seen, the sites learned under `all`. Suspended it costs just that memory.
#ifndef MC_CHECKER_AGENT_JOB_H_
#define MC_CHECKER_AGENT_JOB_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "checker/agent/spill_file.h"
#include "checker/certificate/trace_code.h"
#include "checker/message.h"
#include "dpor/frontier.h"
#include "dpor/search.h"
#include "dpor/sharing.h"
#include "racedet/candidate_detector.h"
#include "racedet/candidate_table.h"
#include "sched/scheduler.h"

namespace mc::checker {

class Job {
 public:
  // From a `job` message. On failure *error says what is wrong with it. `spill`, which outlives the
  // job, is for what there is no memory for.
  static std::unique_ptr<Job> FromMessage(const Message& message, SpillFile* spill,
                                          std::string* error);

  uint64_t id() const { return id_; }
  const std::string& test() const { return test_; }
  const std::vector<std::string>& thread_names() const { return thread_names_; }
  bool streams_executions() const { return tree_; }
  bool narrates() const { return options_.narrate; }
  bool shows_output() const { return output_; }
  bool collects_final_states() const { return final_states_; }
  bool collects_traces() const { return traces_; }
  bool is_replay() const { return strategy_ == "replay"; }
  // It runs the traces of a certificate.
  bool is_recorded() const { return strategy_ == "recorded"; }
  // Whether executions are recorded for a certificate, and what was recorded of this search.
  bool records_traces() const { return records_; }
  TraceWriter& recorded() { return recorded_; }

  dpor::Search& search() { return *search_; }
  racedet::CandidateTable& candidates() { return candidates_; }

  // How many processes may run this search together: 1 if it has to be done alone.
  uint32_t workers() const;
  // From the first execution on, whether that pays or not; for tests.
  bool shares_at_once() const { return shares_at_once_; }
  // From now on one, also if the search begins again; because of what, for people.
  void StayAlone(std::string reason) {
    if (why_alone_.empty()) why_alone_ = std::move(reason);
  }
  const std::string& why_alone() const { return why_alone_; }
  // How much memory an execution may take, in bytes; 0: no limit.
  uint64_t memory() const { return memory_; }
  // What is open to other workers of the search; made by the first call, gone when it begins again.
  dpor::Frontier& OpenFrontier();
  dpor::Frontier* frontier() { return shared_ == nullptr ? nullptr : &shared_->frontier; }
  // Of runs() at the end, by the search and what is open to others.
  double Estimate() const;

  // Between slices: writes down all that is known of the search. False if that cannot be done: it
  // has not begun, is to begin again, or is of a kind that cannot.
  bool WriteState(dpor::Words* words);
  // Of a job that has not run: takes up what another process wrote. False if it cannot be read.
  bool ReadState(std::span<const uint32_t> words);
  // What the supervisor has sent of it, in pieces.
  std::string state_text;

  // Makes the scheduler run executions of this job.
  void Activate(sched::Scheduler& scheduler);
  // Throws the search away and begins again: a new PP (a site learned) or another event model.
  // Candidates stay.
  void Restart(sched::Scheduler& scheduler);
  // Adds sites to the PPs of `all`; true if one is new (then Restart is due).
  bool Learn(uint64_t pc_a, uint64_t pc_b);
  // Whether sites are learned at all: under `all`, unless every access is a PP.
  bool LearnsSites() const;
  // Whether the candidate's two sites have to be PPs of `all`.
  bool LearnsFrom(const racedet::Candidate& candidate) const;
  std::string LearnedSites() const;  // 0xPC;0xPC;...
  // The search takes long: what looks like a loop is one.
  void BecomeImpatient() { options_.impatient = options_.looks_for_loops = true; }
  bool is_impatient() const { return options_.impatient; }
  // A loop seems endless, and gets a bound. Without a pc: it has still to be found.
  void LearnLoop(const sched::LoopPlace& place) {
    options_.looks_for_loops |= place.pc == 0 || place.object != 0;
    if (place.pc == 0) return;
    bounded_loops_.push_back(place);
    UseFullFootprints();  // what ends it enables, too, so no access may be left out
  }
  void UseFullBarrierModel() { options_.barrier_full_model = true; }
  bool uses_full_barrier_model() const { return options_.barrier_full_model; }
  // A thread waits in a loop for what is written under a lock, say: such a write enables, so no
  // access may be left out any more.
  void UseFullFootprints() { options_.full_footprints = true; }

  // Is this the first execution of the job in which the one access failed and conflicts with the
  // other?
  bool IsNewFailure(uint64_t failed_pc, uint64_t other_pc) {
    return !is_replay() && seen_failures_.insert({failed_pc, other_pc}).second;
  }
  // True the first time a bug of this kind at this place is seen in this job.
  bool IsNewBug(const sched::BugReport& bug);
  // True the first time this final state, or this trace, is seen.
  bool IsNewFinalState(uint64_t hash) { return seen_states_.insert(hash).second; }

  double seconds = 0;            // spent so far
  uint64_t repeated = 0;         // transitions of kept prefixes executed again, in this search
  bool restart_due = false;      // a site was learned in the last execution before a stop
  bool handlers_waited = false;  // in another process

 private:
  bool MakeSearch(std::string* error);
  void MakeDetector();

  uint64_t id_ = 0;
  std::string strategy_;
  uint64_t executions_ = 0;  // of a sampling strategy: how many
  dpor::Policy policy_ = dpor::Policy::kStay;
  uint32_t depth_ = 0, delays_ = 0;      // of the strategies pct and delay; 0: their defaults
  std::optional<uint32_t> preemptions_;  // of a search with a bound
  std::string schedule_;
  std::string test_;
  std::vector<std::string> thread_names_;
  bool tree_ = false, output_ = false, final_states_ = false, records_ = false, traces_ = false;
  bool detects_ = true;  // false: only to see what the detection of races costs
  TraceWriter recorded_;
  sched::ExecutionOptions options_;
  racedet::CandidateRule rule_ = racedet::CandidateRule::kLimitedHappensBefore;
  struct Shared final : dpor::FrontierLink {
    void Tell(const dpor::Words& message) override { Ask(message, &unused); }
    void Ask(const dpor::Words& message, dpor::Words* answer) override {
      frontier.Serve(0, message, answer);
    }
    dpor::Frontier frontier;
    dpor::Words unused;
  };
  uint32_t workers_ = 1;
  bool shares_at_once_ = false;
  std::string why_alone_;  // empty: it is not
  uint64_t memory_ = 0;
  SpillFile* spill_ = nullptr;
  std::unique_ptr<Shared> shared_;  // outlives the search
  // Of a search that another process began: when it was written down.
  double estimate_before_ = 0;
  uint64_t runs_before_ = 0;
  size_t items_before_ = 0;
  std::unique_ptr<dpor::Search> search_;
  racedet::CandidateTable candidates_;
  std::unique_ptr<racedet::CandidateDetector> detector_;
  std::vector<uint64_t> learned_;
  std::set<std::pair<uint64_t, uint64_t>> seen_failures_;
  std::vector<sched::LoopPlace> bounded_loops_;
  std::unordered_set<uint64_t> seen_bugs_, seen_states_;
};

}  // namespace mc::checker

#endif  // MC_CHECKER_AGENT_JOB_H_
