// Worker: the process that runs executions and reports what it sees (checker/protocol.h).
#ifndef MC_CHECKER_AGENT_WORKER_H_
#define MC_CHECKER_AGENT_WORKER_H_

#include <chrono>
#include <map>
#include <memory>

#include "checker/agent/channel.h"
#include "checker/agent/crew.h"
#include "checker/agent/helper.h"
#include "checker/agent/job.h"
#include "checker/agent/spill_file.h"
#include "checker/protocol.h"
#include "sched/start.h"

namespace mc::checker {

// What one execution runs: the program's main, a registered test, or the body of an mc::Check.
struct ProgramBody {
  sched::ProgramEntry entry;
  void (*body)(void*) = nullptr;  // mc::Check
  void* context = nullptr;
};

class Worker : private CrewListener {
 public:
  Worker(Channel& channel, SharedState* shared, const ProgramBody& body);
  // Serves messages until told to quit. The return value is the process's exit status.
  int Serve();

 private:
  using Clock = std::chrono::steady_clock;

  enum class SliceEnd { kComplete, kLimit, kTime, kStop, kBug, kError };

  void Define(const Message& message);
  void Run(const Message& message);
  void Save(uint64_t id);
  bool TakeUp(Job& job);
  SliceEnd RunSlice(Job& job, uint64_t executions, std::chrono::milliseconds time,
                    bool stop_on_bug);
  // After one execution; false ends the slice with *end.
  bool AfterExecution(Job& job, bool stop_on_bug, SliceEnd* end);
  bool ReportFailureToRun(Job& job);
  void ReportDivergence(Job& job);
  bool ReportCandidates(Job& job);  // true if a site was learned: restart
  bool LearnFromFailedAccesses(Job& job);
  bool LearnFromFailedAccess(Job& job, sched::ThreadId thread, const sched::MicroAccess& failed);
  void ReportFailedAccess(const Job& job, const sched::MicroAccess& failed,
                          const sched::MicroAccess& other);
  void ReportCandidate(Job& job, const racedet::Candidate& candidate);
  bool ReportBugs(Job& job);  // true if there was one
  void ReportExecution(Job& job);
  void RecordTrace(Job& job);
  void SendRecordedTraces(Job& job);
  void ReportFinalState(Job& job);
  void ReportTrace(Job& job);
  void Narrate(Job& job);
  // -- several processes for one search (worker_crew.cc)
  // Makes a crew if that pays.
  void MaybeFormCrew(Job& job, uint64_t executions_left, bool stop_on_bug);
  // Between executions: what helpers say, and what they wait for. False ends the slice with *end.
  bool WorkWithCrew(Job& job, bool stop_on_bug, SliceEnd* end);
  // There is nothing to do until a helper has something to give.
  void AwaitHelpers();
  void DisbandCrew(Job& job);
  [[noreturn]] void ServeAsHelper(Job& job, bool stop_on_bug);
  void OnLine(std::string_view line) override;
  void OnCandidate(const racedet::Candidate& candidate) override;
  void OnRestart(std::string_view reason) override;
  void OnBye(const CrewBye& bye) override;

  void BeginAgain(Job& job, const char* reason);
  bool BeginsAgainAlone(Job& job);
  void RestartWithWhatWasLearned(Job& job);
  void ReportRestart(Job& job, const char* reason);
  void ReportProgress(Job& job, Clock::time_point now);
  void AddProgress(Job& job, Message* message);
  std::string ThreadNames() const;
  std::string DescribeObject(sched::Cell cell) const;
  std::string DescribeThreads() const;

  Channel* channel_;
  SharedState* shared_;
  SpillFile spill_;
  std::map<uint64_t, std::unique_ptr<Job>> jobs_;
  Job* active_ = nullptr;
  bool initialised_ = false;
  std::vector<uint32_t> changes_;
  Clock::time_point slice_begin_, next_progress_;
  double seconds_before_slice_ = 0;

  std::unique_ptr<Crew> crew_;
  std::unique_ptr<HelperEnd> helper_;  // in a helper
  bool crew_was_tried_ = false;        // in this slice
  uint64_t runs_without_crew_ = 0;     // when the crew was formed
  size_t items_without_crew_ = 0;
  // What the crew has said since it was last asked.
  bool crew_found_bug_ = false, crew_learned_ = false;
  std::string crew_restart_;
};

}  // namespace mc::checker

#endif  // MC_CHECKER_AGENT_WORKER_H_
