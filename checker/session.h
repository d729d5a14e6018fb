// Session: one run of mc over a harness: starts it, searches each of its tests, reports.
#ifndef MC_CHECKER_SESSION_H_
#define MC_CHECKER_SESSION_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "checker/certificate/certificate_file.h"
#include "checker/harness_process.h"
#include "checker/options.h"
#include "checker/progress_display.h"
#include "checker/report.h"
#include "checker/schedule.h"
#include "checker/search_journal.h"
#include "checker/symbolizer.h"
#include "checker/worker_runner.h"

namespace mc::checker {

class Session {
 public:
  explicit Session(const Options& options);

  // The exit status of mc (DESIGN section 4).
  int Run();

 private:
  absl::Status StartHarness();
  int ListTests() const;
  absl::Status ChooseTests(std::vector<std::string>* tests) const;
  absl::Status ResolvePps();
  TestResult RunTest(const std::string& test, absl::Duration time);
  // -- --checkpoint (session_checkpoint.cc)
  absl::Status OpenJournals();
  // nullptr without --checkpoint.
  absl::StatusOr<std::unique_ptr<SearchJournal>> OpenJournal(const std::string& test);
  void CloseJournal(const SearchJournal& journal, WorkerRunner* runner, TestResult* result);
  void OnBug(Bug* bug, const std::string& test, size_t number);
  Schedule ScheduleWithoutSteps(const std::string& test) const;
  void FinishCertificate(CertificateWriter* certificate, const WorkerRunner& runner,
                         const TestResult& result);
  void WriteFinalStates(const std::string& test, const WorkerRunner& runner,
                        const TestResult& result);
  void Draw(const WorkerRunner& runner, const TestResult& result);
  void Note(const absl::Status& status);
  int Finish();

  Options options_;
  Palette palette_;
  ProgressDisplay display_;
  absl::Time begin_;
  std::unique_ptr<HarnessProcess> harness_;
  std::unique_ptr<Symbolizer> symbolizer_;
  RunReport report_;
  std::string final_states_;
  std::unique_ptr<JournalFolder> journals_;
};

// What a user enters to see the bug once more.
std::string ReplayCommand(const Options& options, const Bug& bug);

// Writes the files the options ask for; returns the first error.
absl::Status WriteReports(const Options& options, const RunReport& report, Symbolizer* symbolizer);

// 0, 1, 2 or 3 of DESIGN section 4.
int ExitStatusOf(const Options& options, const RunReport& report);

bool UseColor(const Options& options);

// A file name's worth of a test's name.
std::string FileNamePart(const std::string& text);

}  // namespace mc::checker

#endif  // MC_CHECKER_SESSION_H_
