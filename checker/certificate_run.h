// CertificateRun: mc --check-certificate=FILE HARNESS.
//
// First every trace is executed again, by its schedule alone, and what happens is compared with
// what is recorded: accesses, choices, changes of objects, how the threads end. Then
// CertificateCheck looks whether any is missing.
#ifndef MC_CHECKER_CERTIFICATE_RUN_H_
#define MC_CHECKER_CERTIFICATE_RUN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "checker/certificate/certificate_file.h"
#include "checker/certificate/trace_code.h"
#include "checker/findings.h"
#include "checker/harness_process.h"
#include "checker/options.h"
#include "checker/pp_set.h"
#include "checker/report.h"
#include "checker/symbolizer.h"

namespace mc::checker {

class CertificateRun {
 public:
  explicit CertificateRun(const Options& options);

  // The exit status of mc --check-certificate: 0 accepted, 1 rejected, 2 cannot be read or checked.
  int Run();

 private:
  enum class Outcome { kAccepted, kRejected, kError, kInterrupted };

  absl::Status Prepare();
  absl::Status StartHarness();
  absl::Status CompareHarness() const;
  // -- running the traces again
  Outcome Execute();
  size_t SendBatch(size_t first);
  Outcome ExecuteBatch(size_t first, size_t end);
  bool OnMessage(const Message& message, Outcome* outcome);
  bool Compare(const std::string& records, Outcome* outcome);
  bool SameEvent(uint32_t recorded, uint32_t executed);
  std::string Difference(const RecordedTrace& recorded, const RecordedTrace& executed);
  Outcome OnLoss(const HarnessProcess::Event& event);

  Outcome Check();
  Outcome Reject(std::string why);
  int Finish(Outcome outcome);
  void ShowProgress(const char* what, size_t done) const;

  Options options_;
  Palette palette_;
  Certificate certificate_;
  PpSet pps_;
  std::unique_ptr<HarnessProcess> harness_;
  std::unique_ptr<Symbolizer> symbolizer_;
  std::unique_ptr<Findings> findings_;
  // What was executed of the current batch; numbers of events and ends are of its own.
  uint64_t job_ = 0;
  TraceReader reader_;
  RecordedTraces executed_;
  size_t first_ = 0;                  // trace of the batch
  size_t compared_ = 0;               // traces of the certificate, in all
  std::vector<uint32_t> same_event_;  // by executed event: the recorded one it equals
  uint64_t obligations_ = 0;
  std::string error_;
};

}  // namespace mc::checker

#endif  // MC_CHECKER_CERTIFICATE_RUN_H_
