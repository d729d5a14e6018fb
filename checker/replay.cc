#include "checker/replay.h"

#include <signal.h>

#include <algorithm>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "checker/divergence.h"
#include "checker/interruption.h"
#include "checker/session.h"
#include "checker/standard_output.h"
#include "checker/text.h"
#include "checker/worker_death.h"
#include "checker/worker_runner.h"
#include "sched/cell.h"
#include "sched/event.h"

namespace mc::checker {
namespace {

constexpr uint64_t kReplayJob = 1;
constexpr absl::Duration kPatience = absl::Minutes(3);

std::string ShownArguments(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return "(none)";
  return absl::StrJoin(arguments, " ", [](std::string* out, const std::string& argument) {
    absl::StrAppend(out, ShellQuoted(argument));
  });
}

std::string CellText(uint64_t cell, uint64_t size) {
  if (!sched::IsMemory(cell)) {
    return absl::StrFormat("object of kind %d at 0x%x", cell >> sched::kCellKindShift,
                           sched::ObjectOf(cell));
  }
  return absl::StrFormat("0x%x+%d", cell, size);
}

std::string_view ModeName(uint8_t mode) {
  switch (mode) {
    case sched::kRead:
      return "read";
    case sched::kWrite:
      return "write";
    case sched::kReadWrite:
      return "read and write";
    case sched::kAdd:
      return "add to";
    default:
      return "access";
  }
}

// CELL,SIZE,MODE,PC;...
struct NarratedAccess {
  PictureAccess access;
  uint64_t pc = 0;
};
std::vector<NarratedAccess> ParseAccesses(std::string_view text) {
  std::vector<NarratedAccess> accesses;
  for (std::string_view entry : Split(text, ';')) {
    const std::vector<std::string_view> parts = Split(entry, ',');
    if (parts.size() < 4) continue;
    NarratedAccess narrated;
    narrated.access.begin = ParseNumber<uint64_t>(parts[0]).value_or(0);
    narrated.access.size = ParseNumber<uint64_t>(parts[1]).value_or(0);
    narrated.access.mode = ParseNumber<uint8_t>(parts[2]).value_or(0);
    narrated.pc = ParseNumber<uint64_t>(parts[3]).value_or(0);
    accesses.push_back(narrated);
  }
  return accesses;
}

}  // namespace

Replay::Replay(const Options& options) : options_(options), palette_(UseColor(options)) {}

int Replay::Run() {
  CatchInterruptions();
  // gdb answers Ctrl-C itself.
  if (options_.gdb) {
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
  }
  absl::Status status = Prepare();
  if (status.ok()) status = StartHarness();
  if (!status.ok()) {
    error_ = std::string(status.message());
    return Finish(absl::IsCancelled(status) ? Outcome::kInterrupted : Outcome::kError);
  }
  return Finish(Execute());
}

absl::Status Replay::Prepare() {
  absl::StatusOr<Schedule> schedule = ReadScheduleFile(options_.replay);
  if (!schedule.ok()) return schedule.status();
  schedule_ = *std::move(schedule);
  const absl::StatusOr<PpSet> pps = PpSet::Parse(schedule_.preemption_points);
  if (!pps.ok()) return pps.status();
  pps_ = *pps;
  harness_given_ = !options_.harness.empty();
  if (!harness_given_) options_.harness = schedule_.harness;
  if (options_.arguments.empty()) {
    options_.arguments = schedule_.arguments;
  } else if (options_.arguments != schedule_.arguments) {
    fprintf(
        stderr,
        "mc: warning: the schedule was recorded with the arguments %s, and is replayed with %s: "
        "the program may do something else\n",
        ShownArguments(schedule_.arguments).c_str(), ShownArguments(options_.arguments).c_str());
  }
  return absl::OkStatus();
}

absl::Status Replay::StartHarness() {
  HarnessOptions harness;
  harness.path = options_.harness;
  harness.arguments = options_.arguments;
  harness.entry = schedule_.entry;
  harness.pass_output = true;
  harness.memory_limit = options_.memory;
  if (options_.gdb) {
    absl::StatusOr<std::vector<std::string>> command =
        debugger_.Command(RecordsRace() ? schedule_.where : "");
    if (!command.ok()) return command.status();
    harness.debugger = *std::move(command);
    harness.hello_timeout = absl::Hours(24);
    harness.hang_timeout = absl::InfiniteDuration();
  }
  absl::StatusOr<std::unique_ptr<HarnessProcess>> started = HarnessProcess::Start(harness);
  if (absl::IsNotFound(started.status()) && !harness_given_) {
    return absl::NotFoundError(absl::StrCat(started.status().message(),
                                            ". It is the one that the schedule names; if it has "
                                            "moved, give it: mc --replay=",
                                            ShellQuoted(options_.replay), " HARNESS"));
  }
  if (!started.ok()) return started.status();
  harness_ = *std::move(started);
  const Hello& hello = harness_->hello();
  if (hello.build_id != schedule_.build_id) {
    return absl::FailedPreconditionError(absl::StrCat(
        "schedule '", options_.replay,
        "' was recorded with another build of the harness (build id ", schedule_.build_id, ", but ",
        options_.harness, " has ", hello.build_id, "): run mc again to record a new one"));
  }
  if (hello.entry != schedule_.entry) {
    return absl::InvalidArgumentError(absl::StrCat("schedule '", options_.replay,
                                                   "', entry: ", options_.harness,
                                                   " has no entry '", schedule_.entry, "'"));
  }
  if (!schedule_.test.empty() &&
      std::find(hello.tests.begin(), hello.tests.end(), schedule_.test) == hello.tests.end()) {
    return absl::InvalidArgumentError(absl::StrCat("schedule '", options_.replay,
                                                   "', test: ", options_.harness, " has no test '",
                                                   schedule_.test, "'"));
  }
  symbolizer_ = std::make_unique<Symbolizer>(hello.modules);
  findings_ = std::make_shared<Findings>(options_.fail_on_race, symbolizer_.get());
  return harness_->ForkWorker();
}

Replay::Outcome Replay::Execute() {
  std::vector<sched::CodeRange> ranges;
  for (const std::string& line : pps_.accesses()) {
    const std::vector<sched::CodeRange> more = symbolizer_->RangesOf(line);
    ranges.insert(ranges.end(), more.begin(), more.end());
  }
  SearchSettings settings = schedule_.settings;
  settings.strategy = "replay";
  Message job = JobMessage(kReplayJob, pps_, std::move(ranges), schedule_.test, settings);
  job.Set("schedule", EncodeSteps(schedule_.steps)).Set("narrate", uint64_t{1});
  job.Set("output", uint64_t{1});
  if (options_.memory != 0) job.Set("memory", options_.memory);
  std::string threads;
  for (const std::string& name : schedule_.threads) {
    absl::StrAppend(&threads, threads.empty() ? "" : ";", name);
  }
  job.Set("threads", threads);
  job.Set("sites", schedule_.shared_sites);
  harness_->Send(job);
  Message run("run");
  // The search of one schedule ends by itself; until then there is no limit.
  run.Set("id", kReplayJob).Set("executions", uint64_t{0}).Set("milliseconds", uint64_t{1} << 40);
  run.Set("stop_on_bug", uint64_t{0});
  harness_->Send(run);
  Outcome outcome = Outcome::kNoFailure;
  const absl::Duration patience = options_.gdb ? absl::InfiniteDuration() : kPatience;
  for (;;) {
    const HarnessProcess::Event event = harness_->Receive(patience);
    switch (event.kind) {
      case HarnessProcess::EventKind::kTimeout:
        error_ = "the harness has said nothing for minutes";
        return Outcome::kError;
      case HarnessProcess::EventKind::kMessage:
        if (OnMessage(event.message, &outcome)) return outcome;
        break;
      case HarnessProcess::EventKind::kInterrupted:
        return Outcome::kInterrupted;
      default:
        if (options_.gdb) {
          OnEndOfDebugging();
        } else if (!OnLoss(event)) {
          return Outcome::kError;
        }
        return Reproduced()   ? Outcome::kReproduced
               : options_.gdb ? Outcome::kLeft
                              : Outcome::kNoFailure;
    }
  }
}

// True if that was the end.
bool Replay::OnMessage(const Message& message, Outcome* outcome) {
  const std::string& type = message.type();
  if (type == "step") {
    OnStep(message);
  } else if (type == "log") {
    OnLog(message);
  } else if (type == "bug") {
    MarkSteps(message);
    OnFailure(findings_->AddBug(message, schedule_.preemption_points));
  } else if (type == "race") {
    MarkSteps(message);
    Bug* bug = nullptr;
    findings_->AddRace(message, schedule_.preemption_points, &bug);
    OnFailure(bug);
  } else if (type == "diverged") {
    *outcome = Diverged(message);
    return true;
  } else if (type == "error") {
    error_ = std::string(message.Text("message"));
    *outcome = Outcome::kError;
    return true;
  } else if (type == "complete" || type == "paused") {
    progress_.executions = message.Number("executions");
    progress_.transitions = message.Number("transitions");
    lasting_calls_ = std::string(message.Text("lasting"));
    *outcome = Reproduced() ? Outcome::kReproduced : Outcome::kNoFailure;
    return true;
  }
  return false;
}

void Replay::OnStep(const Message& message) {
  PictureStep step;
  step.thread = static_cast<uint32_t>(message.Number("thread"));
  const std::string name(message.Text("name"));
  step.thread_name = absl::StrCat(
      "T", step.thread, name.empty() ? "" : absl::StrCat(" (", name == "0" ? "main" : name, ")"));
  step.what = message.Text("what");
  const uint64_t pc = message.Number("pc");
  if (pc != 0) step.where = symbolizer_->Locate(pc).Where();
  const size_t position = execution_.steps.size();
  if (position < schedule_.steps.size()) step.choices = schedule_.steps[position].choices;

  const bool switched = execution_.steps.empty() || execution_.steps.back().thread != step.thread;
  std::string line =
      absl::StrFormat("%6d  %s  %s", message.Number("position"),
                      switched ? palette_.Bold(step.thread_name) : palette_.Faint(step.thread_name),
                      step.what.empty() ? "runs" : step.what);
  if (message.Has("object") && !message.Text("object").empty()) {
    absl::StrAppend(&line, " ", View(message.Text("object")));
  }
  if (pc != 0) absl::StrAppend(&line, " at ", symbolizer_->Locate(pc).WhereAndFunction());
  absl::StrAppend(&line, "\n");
  for (const NarratedAccess& narrated : ParseAccesses(message.Text("accesses"))) {
    step.accesses.push_back(narrated.access);
    if (options_.verbosity != Verbosity::kVerbose) continue;
    absl::StrAppend(&line, "          ", View(ModeName(narrated.access.mode)), " ",
                    CellText(narrated.access.begin, narrated.access.size));
    if (narrated.pc != 0) absl::StrAppend(&line, " at ", symbolizer_->Locate(narrated.pc).Where());
    absl::StrAppend(&line, "\n");
  }
  execution_.steps.push_back(std::move(step));
  if (options_.verbosity != Verbosity::kQuiet) Print(line);
}

void Replay::OnLog(const Message& message) {
  const std::string text = symbolizer_->ReplaceCodeAddresses(message.Text("text"));
  if (!execution_.steps.empty()) {
    std::string& details = execution_.steps.back().details;
    absl::StrAppend(&details, details.empty() ? "" : "\n", text);
  }
  if (options_.verbosity != Verbosity::kQuiet) {
    Print(absl::StrCat("        T", message.Number("thread"), " says: ", text, "\n"));
  }
}

// What a picture shows of a bug or a race.
void Replay::MarkSteps(const Message& message) {
  auto step = [&](std::string_view field) -> PictureStep* {
    const uint64_t position = message.Number(field);
    return message.Has(field) && position < execution_.steps.size() ? &execution_.steps[position]
                                                                    : nullptr;
  };
  if (PictureStep* failing = step("event")) failing->failing = true;
  for (std::string_view field : {"a_event", "b_event"}) {
    if (PictureStep* racing = step(field)) racing->racing = true;
  }
}

void Replay::OnFailure(Bug* bug) {
  if (bug == nullptr) return;
  bug->schedule_file = options_.replay;
  const std::string command = ReplayCommand(options_, *bug);
  // The steps have just been told one by one.
  bug->steps.clear();
  Print(FormatBug(*bug, findings_->bugs().size(), command, symbolizer_.get(), palette_));
}

// Under gdb the program ends when the user ends it; whether it had failed by then it left behind.
void Replay::OnEndOfDebugging() {
  const sched::LastWords& words = harness_->shared().last_words;
  const uint32_t kind = words.failure;
  if (kind == 0 || kind > sched::kBugKindNames.size()) return;
  Bug bug;
  bug.kind = static_cast<sched::BugKind>(kind - 1);
  bug.message = "seen under gdb";
  bug.pc = words.failure_pc;
  bug.thread =
      words.failure_thread == sched::kNoThread ? -1 : static_cast<int>(words.failure_thread);
  bug.pps = schedule_.preemption_points;
  bug.threads = schedule_.threads;
  findings_->AddBug(std::move(bug));
}

// False if the loss says nothing about the program.
bool Replay::OnLoss(const HarnessProcess::Event& event) {
  if (const int number = event.kind == HarnessProcess::EventKind::kWorkerDied
                             ? SignalFromOutside(event.status, harness_->shared().last_words)
                             : 0) {
    error_ = DescribeForeignSignal(number);
    return false;
  }
  if (event.kind == HarnessProcess::EventKind::kGone) {
    const std::string how = harness_->HowItEnded();
    error_ = absl::StrCat("the harness process is gone", how.empty() ? "" : ": ", how);
    return false;
  }
  Bug bug;
  const sched::LastWords& words = harness_->shared().last_words;
  if (event.kind == HarnessProcess::EventKind::kHang) {
    bug.kind = sched::BugKind::kLivelock;
    bug.message = "the program ran on without reaching a scheduling point";
  } else if (event.kind == HarnessProcess::EventKind::kOutOfMemory ||
             EndedForLackOfMemory(event.status, words)) {
    bug = BugOfTooMuchMemory(words, options_.memory);
  } else {
    bug.kind = sched::BugKind::kCrash;
    bug.message = absl::StrCat("the harness process was lost: ", DescribeWaitStatus(event.status));
  }
  bug.pps = schedule_.preemption_points;
  bug.steps = RecoverSteps(harness_->shared());
  bug.threads = schedule_.threads;
  bug.shared_sites = schedule_.shared_sites;
  OnFailure(findings_->AddBug(std::move(bug)));
  return true;
}

Replay::Outcome Replay::Diverged(const Message& message) {
  error_ = absl::StrCat("schedule '", options_.replay, "' ",
                        ExplainDivergedReplay(message, schedule_, execution_, symbolizer_.get()));
  return Outcome::kDiverged;
}

bool Replay::RecordsRace() const {
  return schedule_.failure == sched::NameOf(sched::BugKind::kDataRace);
}

// The failure the schedule was recorded for; any, if it does not say.
bool Replay::Reproduced() const {
  const auto& bugs = findings_->bugs();
  if (schedule_.failure.empty()) return !bugs.empty();
  return std::any_of(bugs.begin(), bugs.end(),
                     [this](const auto& bug) { return RecordsRace() == bug->IsDataRace(); });
}

// Of the bugs that the execution has shown the one that the schedule was recorded for; if none is,
// the one to name first.
const Bug& Replay::RecordedBug() const {
  const Bug* same_kind = nullptr;
  for (const auto& bug : findings_->bugs()) {
    if (sched::NameOf(bug->kind) != schedule_.failure) continue;
    if (bug->message == schedule_.message) return *bug;
    if (same_kind == nullptr) same_kind = bug.get();
  }
  return same_kind != nullptr ? *same_kind : MainBug(*findings_);
}

int Replay::Finish(Outcome outcome) {
  // So that whatever the program still prints comes before the verdict.
  harness_.reset();
  Symbolizer nothing({});
  Symbolizer* symbolizer = symbolizer_ != nullptr ? symbolizer_.get() : &nothing;
  RunReport report;
  report.harness = options_.harness;
  report.seed = schedule_.settings.seed;
  if (outcome == Outcome::kInterrupted) {
    report.interrupted = true;
    error_.clear();
  }
  // What an execution shows that is not the recorded one is not what was asked.
  report.error_prevails = outcome == Outcome::kDiverged || outcome == Outcome::kError;
  TestResult result;
  result.test = schedule_.test;
  result.iterative = false;
  result.findings = findings_;
  result.total = progress_;
  result.error = error_;
  Job job;
  job.id = static_cast<int>(kReplayJob);
  job.pps = pps_;
  job.started = true;
  job.progress = progress_;
  result.jobs = {job};
  report.tests.push_back(std::move(result));
  absl::Status status = WriteReports(options_, report, symbolizer);
  if (!options_.visualize.empty() && !execution_.steps.empty()) {
    PictureOptions picture;
    picture.title = absl::StrCat(options_.harness, " ", schedule_.test, " ", schedule_.failure);
    execution_.outcome =
        outcome == Outcome::kReproduced ? PictureOutcome::kBug : PictureOutcome::kOk;
    status.Update(DrawLanes(options_.visualize, execution_, picture));
  }
  if (!status.ok()) {
    error_ = std::string(status.message());
    if (outcome == Outcome::kNoFailure) outcome = Outcome::kError;
  }
  if (!error_.empty()) fprintf(stderr, "mc: %s\n", error_.c_str());
  const std::string steps = Count(execution_.steps.size(), "step");
  const std::string first_line = error_.substr(0, error_.find('\n'));
  switch (outcome) {
    case Outcome::kReproduced: {
      const Bug& bug = RecordedBug();
      const std::string_view kind = sched::NameOf(bug.kind);
      const bool as_recorded = schedule_.failure.empty() || schedule_.failure == kind;
      Print(absl::StrCat(
          "mc: ", palette_.Red("BUG"), as_recorded ? " reproduced: " : " instead of the recorded ",
          as_recorded ? "" : absl::StrCat(schedule_.failure, ": "), View(kind), " at ",
          PlaceOf(bug, symbolizer).Where(), "; ",
          // Told one by one only at the end of the execution.
          execution_.steps.empty() && options_.gdb ? "seen under gdb" : steps, "\n"));
      return 1;
    }
    case Outcome::kNoFailure:
      fputs(ExplainLastingCalls(lasting_calls_).c_str(), stderr);
      Print(absl::StrCat("mc: ", palette_.Bold("NO BUG FOUND"),
                         " as the schedule ran without the failure; ", steps, "\n"));
      return 0;
    case Outcome::kLeft:
      Print(absl::StrCat("mc: ", palette_.Bold("NO BUG FOUND"),
                         " until gdb ended, which was before the program did\n"));
      return 0;
    case Outcome::kInterrupted:
      Print("mc: NO BUG FOUND until interrupted; " + steps + "\n");
      return 0;
    default:
      Print(absl::StrCat("mc: ", palette_.Red("ERROR"), " ", first_line, "\n"));
      return 2;
  }
}

}  // namespace mc::checker
