// CertificateCheck: is nothing missing among these traces? (spec optimal-dpor 11)
//
// A non-empty set of maximal executions that is *closed* (whatever could come in another order, or
// be chosen otherwise, in one of them is in some of them) is complete (2.8). That is checked here
// from what is recorded alone, by six conditions:
//   1 well-formed           indices ascend, the ends fit
//   2 function of the past  what happens after the same past is the same
//   3 executable            each event was enabled, each change of an object begins where the last
//                           one left it
//   4 maximal               at the end no thread can run
//   5 once                  no trace is there twice
//   6 closed                each reversal and each other choice is in some trace
// This trusts the event model (which events conflict, who waits for what) and the record itself,
// which the caller compares with an execution of each trace. It shares no code with the search.
//
// Costs: the square of the length of a trace, in time; 4 bytes for each event of each trace and
// some 200 for each different event with another past. A trace needs about as many look-ups as it
// has conflicts.
#ifndef MC_CHECKER_CERTIFICATE_CERTIFICATE_CHECK_H_
#define MC_CHECKER_CERTIFICATE_CERTIFICATE_CHECK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "checker/certificate/causal_order.h"
#include "checker/certificate/enabledness.h"
#include "checker/certificate/recorded_trace.h"

namespace mc::checker {

struct Rejection {
  int condition = 0;  // 1 to 6; 0: there is no rule for what the traces contain
  std::string text;   // for people: which trace, which events
};

class CertificateCheck {
 public:
  // `traces` must outlive the check.
  explicit CertificateCheck(const RecordedTraces& traces);

  // Called now and then with the number of traces that are checked; false stops the check, which
  // then accepts nothing.
  void set_on_progress(std::function<bool(size_t)> callback) { on_progress_ = std::move(callback); }

  // What is wrong with the traces, if anything.
  std::optional<Rejection> Run();
  bool stopped() const { return stopped_; }
  // Different reversals and choices that were looked for.
  uint64_t obligations() const { return obligations_; }

 private:
  using Found = std::optional<Rejection>;

  // -- each trace by itself
  Found CheckRules() const;
  Found CheckShape() const;  // before the trace is followed
  Found CheckPast(size_t from) const;
  Found CheckExecutable(size_t from);
  Found CheckBegins(size_t position);
  Found CheckLedger(size_t position) const;
  Found CheckMaximal();
  std::optional<sched::ThreadId> AnyEnabled(sched::ThreadId except) const;
  // -- all together
  Found CheckClosed();
  Found CheckRaces();
  Found CheckWaits();
  Found CheckBlocked();
  Found CheckPending(sched::ThreadId q, uint32_t index, size_t j,
                     const std::vector<RecordedAccess>& pending);
  Found CheckChoices();
  Found CheckReversed(size_t i, sched::ThreadId q, size_t j);
  bool IsNew(size_t i, sched::ThreadId q, uint32_t what, uint32_t choice, uint32_t value);
  std::vector<uint32_t> ChoicesBeforeChange(size_t j) const;
  bool AnyTraceShows(sched::ThreadId q, const std::vector<uint32_t>& choices) const;
  bool Shows(size_t trace, sched::ThreadId q, const std::vector<uint32_t>& choices) const;

  const RecordedEnds& ends() const { return traces_.ends[traces_.traces[trace_].ends]; }
  std::string Name(size_t position) const;
  Rejection Reject(int condition, std::string text) const;
  bool Continue(size_t done);

  const RecordedTraces& traces_;
  CausalOrder order_;
  Enabledness rules_;
  Cut cut_;
  bool alive_modelled_ = false;
  size_t trace_ = 0;  // the current one
  absl::flat_hash_set<std::pair<uint64_t, uint64_t>> settled_;
  uint64_t obligations_ = 0;
  bool stopped_ = false;
  std::function<bool(size_t)> on_progress_;
};

}  // namespace mc::checker

#endif  // MC_CHECKER_CERTIFICATE_CERTIFICATE_CHECK_H_
