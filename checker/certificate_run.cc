#include "checker/certificate_run.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "checker/certificate/certificate_check.h"
#include "checker/interruption.h"
#include "checker/session.h"
#include "checker/standard_output.h"
#include "checker/text.h"
#include "checker/worker_death.h"
#include "checker/worker_runner.h"

namespace mc::checker {
namespace {

constexpr absl::Duration kPatience = absl::Minutes(3);
constexpr size_t kMostInBatch = 1024;
constexpr size_t kMostTextInBatch = size_t{1} << 20;

// The conditions of a CertificateCheck, by number.
constexpr std::string_view kConditions[] = {
    "cannot be checked", "is not well-formed", "is no function of the past",
    "is not executable", "is not maximal",     "has a trace twice",
    "is not closed"};

// KEPT/STEP;STEP;...
void AppendSchedule(const RecordedTraces& traces, const std::vector<uint32_t>& before,
                    const std::vector<uint32_t>& events, std::string* text) {
  const auto rest = std::ranges::mismatch(before, events).in2;
  absl::StrAppend(text, text->empty() ? "" : "|", rest - events.begin(), "/");
  for (auto e = rest; e != events.end(); ++e) {
    const RecordedEvent& event = traces.events[*e];
    absl::StrAppend(text, e == rest ? "" : ";", event.thread);
    for (size_t k = 0; k < event.choices.size(); ++k) {
      absl::StrAppend(text, k == 0 ? ":" : ".", event.choices[k].value);
    }
  }
}

std::string_view FirstDifference(const RecordedEvent& a, const RecordedEvent& b) {
  if (a.thread != b.thread || a.index != b.index) return "another thread runs";
  if (a.operation != b.operation) return "it begins with another operation";
  if (a.choices != b.choices) return "it makes other choices";
  if (a.accesses != b.accesses) return "it makes other accesses";
  if (a.ledger != b.ledger) return "it changes other objects, or otherwise";
  if (a.spin_cells != b.spin_cells) return "it waits for other cells";
  return "it ends in another way";
}

}  // namespace

CertificateRun::CertificateRun(const Options& options)
    : options_(options), palette_(UseColor(options)) {}

int CertificateRun::Run() {
  CatchInterruptions();
  absl::Status status = Prepare();
  if (status.ok() && !certificate_.origin.complete) {
    return Finish(Reject(absl::StrCat("it says itself that it is not complete: ",
                                      certificate_.origin.why_incomplete)));
  }
  if (status.ok()) status = StartHarness();
  if (!status.ok()) {
    error_ = std::string(status.message());
    return Finish(absl::IsCancelled(status) ? Outcome::kInterrupted : Outcome::kError);
  }
  const Outcome outcome = Execute();
  return Finish(outcome == Outcome::kAccepted ? Check() : outcome);
}

absl::Status CertificateRun::Prepare() {
  absl::StatusOr<Certificate> certificate = ReadCertificate(options_.check_certificate);
  if (!certificate.ok()) return certificate.status();
  certificate_ = *std::move(certificate);
  const Schedule& search = certificate_.origin.search;
  const absl::StatusOr<PpSet> pps = PpSet::Parse(search.preemption_points);
  if (!pps.ok()) return pps.status();
  pps_ = *pps;
  if (options_.harness.empty()) options_.harness = search.harness;
  if (!options_.arguments.empty() && options_.arguments != search.arguments) {
    return absl::InvalidArgumentError(
        absl::StrCat("certificate '", options_.check_certificate,
                     "' is of the harness with other arguments: give none, to take its own"));
  }
  options_.arguments = search.arguments;
  return absl::OkStatus();
}

absl::Status CertificateRun::StartHarness() {
  HarnessOptions harness;
  harness.path = options_.harness;
  harness.arguments = options_.arguments;
  harness.entry = certificate_.origin.search.entry;
  harness.memory_limit = options_.memory;
  absl::StatusOr<std::unique_ptr<HarnessProcess>> started = HarnessProcess::Start(harness);
  if (!started.ok()) return started.status();
  harness_ = *std::move(started);
  if (absl::Status status = CompareHarness(); !status.ok()) return status;
  symbolizer_ = std::make_unique<Symbolizer>(harness_->hello().modules);
  findings_ = std::make_unique<Findings>(options_.fail_on_race, symbolizer_.get());
  return harness_->ForkWorker();
}

absl::Status CertificateRun::CompareHarness() const {
  const Hello& hello = harness_->hello();
  const Schedule& search = certificate_.origin.search;
  const std::string name = absl::StrCat("certificate '", options_.check_certificate, "' is of ");
  if (hello.build_id != search.build_id) {
    return absl::FailedPreconditionError(
        absl::StrCat(name, "another build of the harness or of another harness (build id ",
                     search.build_id, ", but ", options_.harness, " has ", hello.build_id,
                     "): write a new one with mc --certificate=FILE"));
  }
  if (hello.entry != search.entry) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, "the entry '", search.entry, "', which ", options_.harness, " has not"));
  }
  if (!search.test.empty() &&
      std::find(hello.tests.begin(), hello.tests.end(), search.test) == hello.tests.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, "the test '", search.test, "', which ", options_.harness, " has not"));
  }
  return absl::OkStatus();
}

// -- Running the traces again --------------------------------------------------------------------

CertificateRun::Outcome CertificateRun::Execute() {
  const size_t count = certificate_.recorded.traces.size();
  for (size_t first = 0; first < count;) {
    const size_t end = SendBatch(first);
    const Outcome outcome = ExecuteBatch(first, end);
    if (outcome != Outcome::kAccepted) return outcome;
    first = end;
    ShowProgress("executed again", first);
  }
  harness_->StopWorker();
  return Outcome::kAccepted;
}

// Defines a job that runs some traces from `first` on; returns the first that it does not.
size_t CertificateRun::SendBatch(size_t first) {
  const Schedule& search = certificate_.origin.search;
  const RecordedTraces& recorded = certificate_.recorded;
  std::string text;
  size_t end = first;
  for (;
       end < recorded.traces.size() && end - first < kMostInBatch && text.size() < kMostTextInBatch;
       ++end) {
    static const std::vector<uint32_t>& nothing = *new std::vector<uint32_t>();
    AppendSchedule(recorded, end == first ? nothing : recorded.traces[end - 1].events,
                   recorded.traces[end].events, &text);
  }
  std::vector<sched::CodeRange> ranges;
  for (const std::string& line : pps_.accesses()) {
    const std::vector<sched::CodeRange> more = symbolizer_->RangesOf(line);
    ranges.insert(ranges.end(), more.begin(), more.end());
  }
  if (job_ != 0) harness_->Send(Message("drop").Set("id", job_));
  SearchSettings settings = search.settings;
  settings.strategy = "recorded";
  std::string threads;
  for (const std::string& name : search.threads) {
    absl::StrAppend(&threads, threads.empty() ? "" : ";", name);
  }
  Message job = JobMessage(++job_, pps_, std::move(ranges), search.test, settings);
  job.Set("schedule", text).Set("record", uint64_t{1}).Set("threads", threads);
  job.Set("sites", search.shared_sites);
  job.Set("full_barriers", uint64_t{certificate_.origin.full_barriers});
  if (options_.memory != 0) job.Set("memory", options_.memory);
  harness_->Send(job);
  Message run("run");
  run.Set("id", job_).Set("executions", uint64_t{0}).Set("milliseconds", uint64_t{1} << 40);
  harness_->Send(run.Set("stop_on_bug", uint64_t{0}));
  return end;
}

CertificateRun::Outcome CertificateRun::ExecuteBatch(size_t first, size_t end) {
  first_ = first;
  reader_ = TraceReader();
  executed_ = RecordedTraces();
  same_event_.clear();
  Outcome outcome = Outcome::kAccepted;
  for (;;) {
    const HarnessProcess::Event event = harness_->Receive(kPatience);
    if (event.kind != HarnessProcess::EventKind::kMessage) return OnLoss(event);
    if (OnMessage(event.message, &outcome)) break;
  }
  if (outcome != Outcome::kAccepted || compared_ == end) return outcome;
  error_ = absl::StrCat("of the traces ", first, " to ", end - 1, " only ", compared_ - first,
                        " were executed");
  return Outcome::kError;
}

// True if that was the end of the batch.
bool CertificateRun::OnMessage(const Message& message, Outcome* outcome) {
  const std::string& type = message.type();
  if (message.Has("id") && message.Number("id") != job_) return false;
  if (type == "traces") {
    std::string records;
    if (FromText(message.Text("records"), &records)) return Compare(records, outcome);
    error_ = "the worker sent a damaged message";
    *outcome = Outcome::kError;
  } else if (type == "bug") {
    findings_->AddBug(message, certificate_.origin.search.preemption_points);
    return false;
  } else if (type == "race") {
    Bug* bug = nullptr;
    findings_->AddRace(message, certificate_.origin.search.preemption_points, &bug);
    return false;
  } else if (type == "restart") {
    *outcome =
        Reject(absl::StrCat("its executions show what the search did not take into account: ",
                            View(message.Text("reason"))));
  } else if (type == "diverged") {
    *outcome = Reject(absl::StrCat("trace ", first_ + message.Number("run"),
                                   " cannot be executed: ", View(message.Text("message"))));
  } else if (type == "error") {
    error_ = std::string(message.Text("message"));
    *outcome = Outcome::kError;
  } else if (type == "paused") {
    *outcome = Outcome::kInterrupted;
  } else {
    return type == "complete";
  }
  return true;
}

// Compares what was executed with the next traces of the certificate; true if it is not the same.
bool CertificateRun::Compare(const std::string& records, Outcome* outcome) {
  const std::string problem = reader_.Read(records, &executed_);
  const RecordedTraces& recorded = certificate_.recorded;
  for (const RecordedTrace& trace : executed_.traces) {
    if (!problem.empty() || compared_ == recorded.traces.size()) break;
    const std::string difference = Difference(recorded.traces[compared_], trace);
    if (!difference.empty()) {
      *outcome =
          Reject(absl::StrCat("trace ", compared_, " is another one when executed: ", difference));
      return true;
    }
    ++compared_;
  }
  executed_.traces.clear();
  if (problem.empty()) return false;
  error_ = absl::StrCat("the worker sent damaged records: ", problem);
  *outcome = Outcome::kError;
  return true;
}

bool CertificateRun::SameEvent(uint32_t recorded, uint32_t executed) {
  if (same_event_.size() <= executed) same_event_.resize(executed_.events.size(), kNoKey);
  if (same_event_[executed] == recorded) return true;
  if (executed_.events[executed] != certificate_.recorded.events[recorded]) return false;
  same_event_[executed] = recorded;
  return true;
}

std::string CertificateRun::Difference(const RecordedTrace& recorded,
                                       const RecordedTrace& executed) {
  const size_t length = std::min(recorded.events.size(), executed.events.size());
  for (size_t p = 0; p < length; ++p) {
    if (SameEvent(recorded.events[p], executed.events[p])) continue;
    const RecordedEvent& event = certificate_.recorded.events[recorded.events[p]];
    return absl::StrCat("step ", p, ", T", event.thread, "'s event ", event.index, ": ",
                        View(FirstDifference(event, executed_.events[executed.events[p]])));
  }
  if (recorded.events.size() != executed.events.size()) return "it has another length";
  if (certificate_.recorded.ends[recorded.ends] == executed_.ends[executed.ends]) return "";
  return "its threads end in another way";
}

CertificateRun::Outcome CertificateRun::OnLoss(const HarnessProcess::Event& event) {
  switch (event.kind) {
    case HarnessProcess::EventKind::kInterrupted:
      return Outcome::kInterrupted;
    case HarnessProcess::EventKind::kTimeout:
      error_ = "the harness has said nothing for minutes";
      return Outcome::kError;
    case HarnessProcess::EventKind::kGone: {
      const std::string how = harness_->HowItEnded();
      error_ = absl::StrCat("the harness process is gone", how.empty() ? "" : ": ", how);
      return Outcome::kError;
    }
    default:
      break;
  }
  if (event.kind == HarnessProcess::EventKind::kWorkerDied) {
    if (const int number = SignalFromOutside(event.status, harness_->shared().last_words)) {
      error_ = DescribeForeignSignal(number);
      return Interrupted() ? Outcome::kInterrupted : Outcome::kError;
    }
  }
  return Reject(absl::StrCat("a trace from ", compared_,
                             " on cannot be executed: the program crashed, hung or took too much "
                             "memory"));
}

// -- Is nothing missing? -------------------------------------------------------------------------

CertificateRun::Outcome CertificateRun::Check() {
  CertificateCheck check(certificate_.recorded);
  check.set_on_progress([this](size_t done) {
    ShowProgress("checked", done);
    return !Interrupted();
  });
  const std::optional<Rejection> rejection = check.Run();
  if (check.stopped()) return Outcome::kInterrupted;
  obligations_ = check.obligations();
  if (!rejection) return Outcome::kAccepted;
  return Reject(absl::StrCat(
      "it ", View(kConditions[rejection->condition]),
      rejection->condition == 0 ? "" : absl::StrCat(" (condition ", rejection->condition, ")"),
      ": ", rejection->text));
}

CertificateRun::Outcome CertificateRun::Reject(std::string why) {
  error_ = std::move(why);
  return Outcome::kRejected;
}

void CertificateRun::ShowProgress(const char* what, size_t done) const {
  if (options_.verbosity == Verbosity::kQuiet || isatty(STDERR_FILENO) != 1) return;
  fprintf(stderr, "\r\033[K%zu of %zu traces %s", done, certificate_.recorded.traces.size(), what);
}

int CertificateRun::Finish(Outcome outcome) {
  if (options_.verbosity != Verbosity::kQuiet && isatty(STDERR_FILENO) == 1) {
    fputs("\r\033[K", stderr);
  }
  harness_.reset();
  const std::string traces = Count(certificate_.recorded.traces.size(), "trace");
  switch (outcome) {
    case Outcome::kAccepted: {
      const std::string all = absl::StrCat(
          "accepted: ", traces, " with preemption points ",
          certificate_.origin.search.preemption_points, ", executed again, and none is missing (",
          Count(obligations_, "reversal"), " and choices looked for)");
      // Nobody has looked for candidates that are no preemption points.
      const bool verifies = certificate_.origin.search.preemption_points == "all";
      if (findings_->bugs().empty()) {
        Print(absl::StrCat(
            "mc: ",
            verifies ? palette_.Green("VERIFIED") : "NO BUG FOUND with these preemption points;",
            " certificate ", all, "\n"));
        return 0;
      }
      const Bug& bug = MainBug(*findings_);
      Print(absl::StrCat("mc: ", palette_.Red("BUG"), " ", View(sched::NameOf(bug.kind)), " at ",
                         PlaceOf(bug, symbolizer_.get()).Where(),
                         findings_->bugs().size() == 1
                             ? ""
                             : absl::StrCat(" and ", findings_->bugs().size() - 1, " more"),
                         " in executions of the certificate, which is ", all, "\n"));
      return 0;
    }
    case Outcome::kRejected:
      fprintf(stderr, "mc: certificate '%s' is rejected: %s\n", options_.check_certificate.c_str(),
              error_.c_str());
      Print(absl::StrCat("mc: ", palette_.Red("ERROR"), " certificate rejected: ", error_, "\n"));
      return 1;
    case Outcome::kInterrupted:
      Print(absl::StrCat("mc: ", palette_.Red("ERROR"),
                         " certificate not checked to the end: interrupted\n"));
      return 2;
    default:
      fprintf(stderr, "mc: %s\n", error_.c_str());
      Print(absl::StrCat("mc: ", palette_.Red("ERROR"), " ", error_.substr(0, error_.find('\n')),
                         "\n"));
      return 2;
  }
}

}  // namespace mc::checker
