// Replay: runs one recorded schedule, narrated step by step (mc --replay=FILE).
#ifndef MC_CHECKER_REPLAY_H_
#define MC_CHECKER_REPLAY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "checker/debugger.h"
#include "checker/findings.h"
#include "checker/harness_process.h"
#include "checker/options.h"
#include "checker/picture.h"
#include "checker/report.h"
#include "checker/schedule.h"
#include "checker/symbolizer.h"

namespace mc::checker {

class Replay {
 public:
  explicit Replay(const Options& options);

  // The exit status of mc --replay: 1 reproduced, 0 ran without the failure, 2 diverged or error.
  int Run();

 private:
  // kLeft: gdb ended before the program did, or failed.
  enum class Outcome { kReproduced, kNoFailure, kLeft, kDiverged, kError, kInterrupted };

  absl::Status Prepare();
  absl::Status StartHarness();
  Outcome Execute();
  bool OnMessage(const Message& message, Outcome* outcome);
  void OnStep(const Message& message);
  void OnLog(const Message& message);
  void MarkSteps(const Message& message);
  void OnFailure(Bug* bug);
  bool OnLoss(const HarnessProcess::Event& event);
  void OnEndOfDebugging();
  Outcome Diverged(const Message& message);
  bool RecordsRace() const;
  bool Reproduced() const;
  const Bug& RecordedBug() const;
  int Finish(Outcome outcome);

  Options options_;
  bool harness_given_ = false;  // else the schedule says which
  Palette palette_;
  Schedule schedule_;
  PpSet pps_;
  Debugger debugger_;
  std::unique_ptr<HarnessProcess> harness_;
  std::unique_ptr<Symbolizer> symbolizer_;
  std::shared_ptr<Findings> findings_;
  PictureExecution execution_;
  JobProgress progress_;
  std::string error_;
  std::string lasting_calls_;  // of the program: what they change may differ from what was recorded
};

}  // namespace mc::checker

#endif  // MC_CHECKER_REPLAY_H_
