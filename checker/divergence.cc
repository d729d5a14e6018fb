#include "checker/divergence.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "checker/footprint_text.h"
#include "checker/report.h"
#include "checker/text.h"

namespace mc::checker {
namespace {

std::string Named(const Message& message, std::string_view field, Symbolizer* symbolizer) {
  return symbolizer->ReplaceCodeAddresses(message.Text(field));
}

// The last part of a path.
std::string BaseName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string Joined(const std::string& what, const std::string& place) {
  return place.empty() ? what : absl::StrCat(what, " at ", place);
}

// "T1 (0.0): expected 'lock at a.cc:12', found 'read at b.cc:3'; ...", without the step. `*raw` is
// what only developers understand of it, or empty.
std::string DescribeDivergence(const Message& message, Symbolizer* symbolizer, std::string* raw) {
  std::vector<std::string> names;
  for (std::string_view name : Split(message.Text("threads"), ';')) names.emplace_back(name);
  const std::string expected = Named(message, "expected", symbolizer);
  const std::string found = Named(message, "found", symbolizer);
  const FootprintText explained =
      ExplainFootprints(Named(message, "message", symbolizer), symbolizer);
  std::string details = explained.words;
  *raw = explained.raw;
  // The step is told by whoever tells the rest.
  const std::string step = absl::StrCat("step ", message.Number("step"), ": ");
  if (std::string_view(details).starts_with(step)) details.erase(0, step.size());

  std::string text;
  if (message.Has("thread")) {
    text = ThreadLabel(static_cast<uint32_t>(message.Number("thread")), names) + ": ";
  }
  if (!expected.empty()) absl::StrAppend(&text, "expected '", expected, "'");
  if (!found.empty()) {
    absl::StrAppend(&text, expected.empty() ? "" : ", ", "found '", found, "'");
  }
  const bool says_what = !expected.empty() || !found.empty();
  if (!details.empty()) absl::StrAppend(&text, says_what ? "; " : "", details);
  if (found.empty() && details.empty()) absl::StrAppend(&text, ", but it cannot run");
  return text;
}

std::string ForDevelopers(const std::string& raw) {
  return raw.empty() ? "" : absl::StrCat("\nDetails for developers of mc: ", raw);
}

// A line for each thread; "" if the message does not say.
std::string DescribeThreadsAt(const Message& message, Symbolizer* symbolizer) {
  const std::string standing = Named(message, "standing", symbolizer);
  if (standing.empty()) return "";
  std::string text = "Threads there:\n";
  for (absl::string_view line : absl::StrSplit(standing, '\n')) {
    absl::StrAppend(&text, "  ", line, "\n");
  }
  return text;
}

// The first step of which the schedule says something else than what was done, as far as it says
// anything: the lines may have been edited, and lines of a file may be known under another path.
std::string FirstDifference(const Schedule& schedule, const PictureExecution& execution) {
  const size_t count = std::min(execution.steps.size(), schedule.steps.size());
  for (size_t i = 0; i < count; ++i) {
    const ScheduleStep& recorded = schedule.steps[i];
    const PictureStep& done = execution.steps[i];
    const bool same_what = recorded.what.empty() || recorded.what == done.what;
    const bool same_place =
        recorded.place.empty() || BaseName(recorded.place) == BaseName(done.where);
    if (same_what && same_place) continue;
    return absl::StrCat("The first step that is not what was recorded is step ", i, ", line ",
                        recorded.line, ": recorded '", Joined(recorded.what, recorded.place),
                        "', now '", Joined(done.what, done.where), "'.\n");
  }
  return "";
}

}  // namespace

std::string ExplainLastingCalls(std::string_view calls) {
  if (calls.empty()) return "";
  return absl::StrCat(
      "The program changes what mc cannot put back between executions: it calls ", View(calls),
      ". What one execution leaves, the next one finds. Let the test make at its beginning all "
      "that it finds there, in files of its own that it removes before or overwrites, or keep it "
      "in "
      "memory (memfd_create, socketpair).\n");
}

std::string ExplainDivergedSearch(const Message& message, Symbolizer* symbolizer) {
  std::string raw;
  const std::string description = DescribeDivergence(message, symbolizer, &raw);
  return absl::StrCat(
      "diverged: an execution that repeats the beginning of an earlier one did something else at "
      "step ",
      message.Number("step"), ". ", description, "\n", DescribeThreadsAt(message, symbolizer),
      ExplainLastingCalls(message.Text("lasting")),
      "What a program does may depend on nothing but the schedule. Look for what differs from run "
      "to run: time that is read past the system's clocks (rdtsc), uninitialised memory, what a "
      "file, a pipe, the "
      "network or another process holds, and libraries that were not built with mc-c++ and keep "
      "state of their own.\n"
      "If there is nothing of that kind in the program, it is a fault of mc: please report it, "
      "with "
      "the program.",
      ForDevelopers(raw));
}

std::string ExplainDivergedReplay(const Message& message, const Schedule& schedule,
                                  const PictureExecution& done, Symbolizer* symbolizer) {
  const uint64_t step = message.Number("step");
  std::string raw;
  const std::string description = DescribeDivergence(message, symbolizer, &raw);
  std::string text = absl::StrCat("diverged at step ", step);
  if (step < schedule.steps.size()) {
    const ScheduleStep& expected = schedule.steps[step];
    absl::StrAppend(&text, ", line ", expected.line, ": ",
                    ThreadLabel(expected.thread, schedule.threads), " was to run");
    const std::string recorded = Joined(expected.what, expected.place);
    if (!recorded.empty()) absl::StrAppend(&text, " (recorded: '", recorded, "')");
  }
  return absl::StrCat(
      text, "; ", description, "\n", FirstDifference(schedule, done),
      DescribeThreadsAt(message, symbolizer), ExplainLastingCalls(message.Text("lasting")),
      "Either the file was edited or damaged, or the program does not do what it did when the "
      "schedule was recorded: other arguments, environment, files or libraries, or something that "
      "is no function of the schedule. Run mc again to record a new one.",
      ForDevelopers(raw));
}

}  // namespace mc::checker
