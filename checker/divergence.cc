#include "checker/divergence.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "checker/report.h"
#include "checker/text.h"

namespace mc::checker {
namespace {

std::string Named(const Message& message, std::string_view field, Symbolizer* symbolizer) {
  return symbolizer->ReplaceCodeAddresses(message.Text(field));
}

}  // namespace

std::string DescribeDivergence(const Message& message, Symbolizer* symbolizer) {
  std::vector<std::string> names;
  for (std::string_view name : Split(message.Text("threads"), ';')) names.emplace_back(name);
  const std::string expected = Named(message, "expected", symbolizer);
  const std::string found = Named(message, "found", symbolizer);
  std::string details = Named(message, "message", symbolizer);
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

std::string DescribeThreadsAt(const Message& message, Symbolizer* symbolizer) {
  const std::string standing = Named(message, "standing", symbolizer);
  if (standing.empty()) return "";
  std::string text = "Threads there:\n";
  for (absl::string_view line : absl::StrSplit(standing, '\n')) {
    absl::StrAppend(&text, "  ", line, "\n");
  }
  return text;
}

std::string ExplainDivergedSearch(const Message& message, Symbolizer* symbolizer) {
  return absl::StrCat(
      "diverged: an execution that repeats the beginning of an earlier one did something else at "
      "step ",
      message.Number("step"), ". ", DescribeDivergence(message, symbolizer), "\n",
      DescribeThreadsAt(message, symbolizer),
      "What a program does may depend on nothing but the schedule. Look for what differs from run "
      "to run: time that is read past the system's clocks (rdtsc), uninitialised memory, what a "
      "file, a pipe, the "
      "network or another process holds, and libraries that were not built with mc-c++ and keep "
      "state of their own.\n"
      "If there is nothing of that kind in the program, it is a fault of mc: please report it, "
      "with "
      "the program.");
}

}  // namespace mc::checker
