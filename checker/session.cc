#include "checker/session.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "checker/interruption.h"
#include "checker/output_files.h"
#include "checker/picture.h"
#include "checker/schedule.h"
#include "checker/standard_output.h"
#include "checker/text.h"
#include "checker/unseen_functions.h"
#include "dpor/strategy_table.h"

namespace mc::checker {
namespace {

// An endless strategy's share of one job under iterative deepening.
constexpr uint64_t kRandomExecutionsPerJob = 1000;

// The arguments of a running process.
std::vector<std::string> ArgumentsOf(pid_t pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/cmdline"), std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  if (!words.empty()) words.erase(words.begin());
  return words;
}

// Of --memory: the rest is the program's.
constexpr uint64_t kPartOfRequests = 4;

bool IsSample(std::string_view strategy) {
  return strategy == "random" || strategy == "pct" || strategy == "pos";
}

// Not /tmp, which may be in memory.
std::string SpillFolder() {
  const char* folder = getenv("TMPDIR");
  return folder == nullptr || *folder == 0 ? "/var/tmp" : folder;
}

// What the strategy leaves out by itself, in words; empty if nothing, or if only its end tells.
std::string BoundOf(const SearchSettings& settings) {
  // A sample of the executions says nothing about the others.
  if (settings.strategy == "pct") {
    const uint32_t depth = settings.depth == 0 ? dpor::kDefaultDepth : settings.depth;
    return absl::StrCat("a random sample for bugs of depth ", depth);
  }
  if (IsSample(settings.strategy)) return "a random sample";
  if (settings.strategy == "delay") {
    const uint32_t delays = settings.delays == 0 ? dpor::kDefaultDelays : settings.delays;
    return absl::StrCat("at most ", delays, delays == 1 ? " delay" : " delays");
  }
  if (settings.strategy == "law-check") return "a check of the event model";
  return settings.preemptions ? PreemptionBound(*settings.preemptions) : "";
}

}  // namespace

std::string FileNamePart(const std::string& text) {
  std::string out = text;
  for (char& c : out) {
    if (isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '-' && c != '.') c = '_';
  }
  return out;
}

bool UseColor(const Options& options) {
  if (options.color != "auto") return options.color == "always";
  return isatty(STDOUT_FILENO) == 1 && getenv("NO_COLOR") == nullptr;
}

absl::Status WriteReports(const Options& options, const RunReport& report, Symbolizer* symbolizer) {
  absl::Status status;
  if (!options.json.empty()) status.Update(WriteJson(options.json, report, symbolizer));
  if (!options.junit.empty()) status.Update(WriteJUnit(options.junit, report, symbolizer));
  if (!options.sarif.empty()) status.Update(WriteSarif(options.sarif, report, symbolizer));
  return status;
}

int ExitStatusOf(const Options& options, const RunReport& report) {
  switch (report.verdict()) {
    case Verdict::kBug:
      return 1;
    case Verdict::kError:
      return 2;
    default:
      return options.require_complete && !report.complete() ? 3 : 0;
  }
}

std::string ReplayCommand(const Options& options, const Bug& bug) {
  // With more memory the schedule runs on.
  const std::string limit = bug.kind == sched::BugKind::kOutOfMemory && options.memory != 0
                                ? absl::StrCat("--memory=", SizeText(options.memory), " ")
                                : "";
  return absl::StrCat("mc ", limit, "--replay=", ShellQuoted(bug.schedule_file), " ",
                      ShellQuoted(options.harness));
}

Session::Session(const Options& options)
    : options_(options),
      palette_(UseColor(options)),
      display_(options.verbosity != Verbosity::kQuiet),
      begin_(absl::Now()) {}

int Session::Run() {
  CatchInterruptions();
  report_.harness = options_.harness;
  report_.seed = options_.settings.seed;
  report_.fair = options_.settings.fair;
  std::vector<std::string> tests;
  absl::Status status = StartHarness();
  if (status.ok() && options_.list) return ListTests();
  if (status.ok()) status = ChooseTests(&tests);
  if (status.ok()) status = ResolvePps();
  if (status.ok()) status = OpenJournals();
  if (absl::IsCancelled(status)) {
    report_.interrupted = true;
  } else {
    Note(status);
  }
  if (status.ok()) {
    const absl::Time deadline = begin_ + options_.time;
    for (size_t i = 0; i < tests.size() && !Interrupted(); ++i) {
      // What one test does not use, the others may.
      const auto left = static_cast<double>(tests.size() - i);
      report_.tests.push_back(RunTest(tests[i], (deadline - absl::Now()) / left));
      display_.Clear();
      if (tests.size() > 1) {
        Print(FormatTestLine(report_.tests.back(), symbolizer_.get(), palette_) + "\n");
      }
    }
    if (!options_.final_states.empty()) Note(WriteTextFile(options_.final_states, final_states_));
  }
  return Finish();
}

absl::Status Session::StartHarness() {
  HarnessOptions harness;
  harness.path = options_.harness;
  harness.arguments = options_.arguments;
  harness.attach_control_fd = options_.attach_control_fd;
  harness.attach_shared_fd = options_.attach_shared_fd;
  harness.memory_limit = options_.memory;
  absl::StatusOr<std::unique_ptr<HarnessProcess>> started = HarnessProcess::Start(harness);
  if (!started.ok()) return started.status();
  harness_ = std::move(*started);
  if (options_.attach_control_fd >= 0) {
    options_.harness = harness_->hello().executable;
    options_.arguments = ArgumentsOf(harness_->hello().pid);
  }
  report_.harness = options_.harness;
  symbolizer_ = std::make_unique<Symbolizer>(harness_->hello().modules);
  if (!options_.list) report_.unseen_functions = FindUnseenFunctions(harness_->hello().modules);
  return absl::OkStatus();
}

int Session::ListTests() const {
  const std::vector<std::string>& tests = harness_->hello().tests;
  for (const std::string& test : tests) Print(test + "\n");
  if (tests.empty()) {
    fprintf(stderr, "mc: %s registers no tests: without --list, its main is checked\n",
            options_.harness.c_str());
  }
  return 0;
}

absl::Status Session::ChooseTests(std::vector<std::string>* tests) const {
  const std::vector<std::string>& registered = harness_->hello().tests;
  if (!options_.certificate.empty() && options_.test.empty() && registered.size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("--certificate is of one test: --test=NAME says which of ",
                     absl::StrJoin(registered, ", ")));
  }
  if (options_.test.empty()) {
    *tests = registered.empty() ? std::vector<std::string>{""} : registered;
    return absl::OkStatus();
  }
  if (std::find(registered.begin(), registered.end(), options_.test) == registered.end()) {
    const std::string nearest = NearestOf(options_.test, registered);
    return absl::NotFoundError(
        absl::StrCat("there is no test '", options_.test, "' in ", options_.harness,
                     registered.empty() ? ": it registers none"
                     : nearest.empty()  ? absl::StrCat("; it has ", absl::StrJoin(registered, ", "))
                                        : absl::StrCat(", did you mean ", nearest, "?")));
  }
  *tests = {options_.test};
  return absl::OkStatus();
}

// The user's access PPs under the names that candidates will have.
absl::Status Session::ResolvePps() {
  PpSet resolved(options_.pps.classes());
  for (const std::string& line : options_.pps.accesses()) {
    const std::vector<std::string> names = symbolizer_->Resolve(line);
    if (names.empty()) {
      return absl::NotFoundError(absl::StrCat("--pp: there is no code at access:", line, " in ",
                                              options_.harness, "; is it built with -g?"));
    }
    for (const std::string& name : names) resolved.AddAccess(name);
  }
  options_.pps = resolved;
  return absl::OkStatus();
}

TestResult Session::RunTest(const std::string& test, absl::Duration time) {
  const absl::Time begin = absl::Now();
  TestResult result;
  result.test = test;
  result.findings = std::make_shared<Findings>(options_.fail_on_race, symbolizer_.get());
  result.iterative = options_.SearchesIteratively();
  const absl::StatusOr<std::unique_ptr<SearchJournal>> journal = OpenJournal(test);
  if (!journal.ok()) {
    result.end = SearchEnd::kFailed;
    result.error = std::string(journal.status().message());
    return result;
  }
  // A worker of its own: what one test leaves behind in the engine is nothing to another.
  harness_->StopWorker();

  WorkerOptions worker;
  worker.settings = options_.settings;
  worker.test = test;
  worker.stream_executions = !options_.visualize.empty();
  worker.memory = options_.memory;
  worker.request_memory = options_.request_memory.value_or(options_.memory / kPartOfRequests);
  worker.spill_folder = SpillFolder();
  worker.workers = options_.workers;
  worker.eager_workers = options_.eager_workers;
  worker.final_states = !options_.final_states.empty();
  worker.traces = options_.traces;
  // An iterative search divides its budget among the jobs itself.
  if (!result.iterative && options_.executions && worker.settings.samples == 0) {
    worker.settings.samples = *options_.executions;
  }
  CertificateWriter certificate(options_.certificate);
  if (!options_.certificate.empty()) worker.certificate = &certificate;
  WorkerRunner runner(worker, harness_.get(), result.findings.get(), symbolizer_.get());
  if (*journal != nullptr) runner.set_journal(journal->get(), options_.checkpoint_every);
  runner.set_on_bug([&](Bug* bug) { OnBug(bug, test, result.findings->bugs().size()); });

  EngineOptions engine_options;
  engine_options.iterative = result.iterative;
  engine_options.only = options_.pps;
  engine_options.time = time;
  engine_options.keep_going = options_.keep_going;
  engine_options.cut_at_bugs = !options_.saturate;
  if (options_.executions) engine_options.executions = *options_.executions;
  if (result.iterative && IsSample(options_.settings.strategy)) {
    engine_options.executions_per_job = kRandomExecutionsPerJob;
  }
  engine_options.bound = BoundOf(options_.settings);
  result.bound = engine_options.bound;
  JobEngine engine(engine_options, &runner, absl::Now);
  engine.set_on_progress(
      [&](const Job& job) { display_.Show(engine, job, result.findings->bugs().size()); });
  result.end = engine.Run();
  if (*journal != nullptr) CloseJournal(**journal, &runner, &result);
  display_.Clear();

  for (const auto& job : engine.jobs()) result.jobs.push_back(*job);
  result.total = engine.Total();
  result.saturated = engine.saturated();
  result.untested = engine.UntestedCandidates();
  if (!result.iterative) result.missing = engine.MissingFrom(options_.pps);
  if (!runner.failure().ok() && !absl::IsCancelled(runner.failure())) {
    result.error = std::string(runner.failure().message());
  }
  report_.handlers_waited |= runner.handlers_waited();
  if (report_.why_alone.empty()) report_.why_alone = runner.why_alone();
  report_.spilled_requests = std::max(report_.spilled_requests, runner.spilled_requests());
  if (report_.spill_problem.empty()) report_.spill_problem = runner.spill_problem();
  for (const BoundedLoop& loop : runner.bounded_loops()) {
    if (result.saturated) break;  // by a search that met none
    Bug place;
    place.pc = loop.pc;
    place.stack = loop.stack;
    report_.bounded_loops.insert(PlaceOf(place, symbolizer_.get()).WhereAndFunction());
  }
  result.seconds += absl::ToDoubleSeconds(absl::Now() - begin);
  report_.interrupted |= result.end == SearchEnd::kInterrupted;
  report_.max_rss_kb =
      std::max({report_.max_rss_kb, harness_->MaxRssKb(), runner.helpers_rss_kb()});
  if (worker.final_states) WriteFinalStates(test, runner, result);
  if (worker.stream_executions) Draw(runner, result);
  if (worker.certificate != nullptr) FinishCertificate(&certificate, runner, result);
  if (options_.verbosity != Verbosity::kQuiet) {
    Print(FormatSummary(result, options_.verbosity == Verbosity::kVerbose, symbolizer_.get(),
                        palette_));
  }
  return result;
}

// What the schedules of a search have in common.
Schedule Session::ScheduleWithoutSteps(const std::string& test) const {
  Schedule schedule;
  schedule.harness = options_.harness;
  schedule.build_id = harness_->hello().build_id;
  schedule.arguments = options_.arguments;
  if (!harness_->hello().entry.empty()) schedule.entry = harness_->hello().entry;
  schedule.test = test;
  schedule.settings = options_.settings;
  return schedule;
}

void Session::FinishCertificate(CertificateWriter* certificate, const WorkerRunner& runner,
                                const TestResult& result) {
  if (result.jobs.empty()) return;
  const Job& job = result.jobs.front();
  CertificateOrigin origin;
  origin.search = ScheduleWithoutSteps(result.test);
  origin.search.preemption_points = job.pps.Text();
  origin.search.threads = runner.threads();
  origin.search.shared_sites = runner.shared_sites(job.id);
  origin.full_barriers = runner.full_barriers();
  if (!job.complete()) {
    origin.why_incomplete = "the search ended early";
  } else if (job.bounds_loops) {
    origin.why_incomplete = "not all rounds of a loop that seems endless were searched";
  }
  origin.complete = origin.why_incomplete.empty();
  Note(certificate->Finish(origin));
}

void Session::OnBug(Bug* bug, const std::string& test, size_t number) {
  Schedule schedule = ScheduleWithoutSteps(test);
  schedule.failure = sched::NameOf(bug->kind);
  schedule.message = bug->message;
  schedule.where = PlaceOf(*bug, symbolizer_.get()).Where();
  schedule.preemption_points = bug->pps;
  schedule.threads = bug->threads;
  schedule.shared_sites = bug->shared_sites;
  schedule.steps = bug->steps;
  std::string name = std::filesystem::path(options_.harness).filename().string();
  if (!test.empty()) absl::StrAppend(&name, "-", test);
  absl::StrAppend(&name, "-", number, "-", View(sched::NameOf(bug->kind)), ".schedule");
  const std::string path = (std::filesystem::path(options_.output) / FileNamePart(name)).string();
  const absl::Status status = WriteScheduleFile(path, schedule);
  if (status.ok()) {
    bug->schedule_file = path;
  } else {
    bug->schedule_problem = std::string(status.message());
    Note(status);
  }
  display_.Clear();
  Print(FormatBug(*bug, number, ReplayCommand(options_, *bug), symbolizer_.get(), palette_));
}

void Session::WriteFinalStates(const std::string& test, const WorkerRunner& runner,
                               const TestResult& result) {
  const std::string prefix = test.empty() ? "" : absl::StrCat(test, " ");
  std::set<std::string> lines;
  for (const std::string& state : runner.final_states()) {
    lines.insert(absl::StrCat(prefix, "state ", state, "\n"));
  }
  for (const auto& bug : result.findings->bugs()) {
    std::string where = PlaceOf(*bug, symbolizer_.get()).Where();
    if (bug->IsDataRace()) {  // of two lines, whichever side was met first
      const auto [a, b] = result.findings->LinesOf(*bug->race);
      where = std::max(a, b);
    }
    lines.insert(absl::StrCat(prefix, "bug ", View(sched::NameOf(bug->kind)), " ", where, "\n"));
  }
  absl::StrAppend(&final_states_, absl::StrJoin(lines, ""));
}

// The tree of the last job: the one that found the bug, or that verified.
void Session::Draw(const WorkerRunner& runner, const TestResult& result) {
  if (runner.executions().empty()) return;
  const int job_id = runner.executions().back().job;
  const Job& job = result.jobs[static_cast<size_t>(job_id) - 1];
  std::vector<PictureExecution> executions;
  for (const ExploredExecution& explored : runner.executions()) {
    if (explored.job != job_id) continue;
    PictureExecution& execution = executions.emplace_back();
    execution.outcome = explored.outcome == "bug"       ? PictureOutcome::kBug
                        : explored.outcome == "blocked" ? PictureOutcome::kBlocked
                                                        : PictureOutcome::kOk;
    for (const ScheduleStep& step : explored.steps) {
      PictureStep& drawn = execution.steps.emplace_back();
      drawn.thread = step.thread;
      drawn.thread_name = ThreadLabel(step.thread, runner.threads());
      drawn.what = step.what;
      drawn.choices = step.choices;
      if (step.pc != 0) drawn.where = symbolizer_->Locate(step.pc).Where();
    }
  }
  PictureOptions picture;
  picture.title =
      absl::StrCat(options_.harness, " ", result.test, " with preemption points ", job.pps.Text());
  std::string path = options_.visualize;
  if (!result.test.empty() && options_.test.empty()) {
    const std::filesystem::path given(path);
    path = (given.parent_path() /
            (given.stem().string() + "-" + FileNamePart(result.test) + given.extension().string()))
               .string();
  }
  Note(DrawTree(path, executions, picture));
}

// Keeps the first error for the report.
void Session::Note(const absl::Status& status) {
  if (!status.ok() && report_.error.empty()) report_.error = std::string(status.message());
}

int Session::Finish() {
  display_.Clear();
  report_.seconds += absl::ToDoubleSeconds(absl::Now() - begin_);
  report_.interrupted |= Interrupted();
  Symbolizer nothing({});
  Symbolizer* symbolizer = symbolizer_ != nullptr ? symbolizer_.get() : &nothing;
  Note(WriteReports(options_, report_, symbolizer));
  if (const std::string error = report_.FirstError(); !error.empty()) {
    fprintf(stderr, "mc: %s\n", error.c_str());
  }
  harness_.reset();
  Print(FormatNotes(report_, options_.verbosity == Verbosity::kVerbose));
  Print(FormatFinalLine(report_, symbolizer, palette_) + "\n");
  return ExitStatusOf(options_, report_);
}

}  // namespace mc::checker
