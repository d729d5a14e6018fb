// The swim lanes as a graph of the dot language, and running the dot program.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>

#include "absl/strings/str_cat.h"
#include "checker/picture.h"
#include "checker/picture_order.h"
#include "checker/picture_text.h"
#include "checker/text.h"

extern char** environ;

namespace mc::checker {
namespace {

// A file without a name, gone when closed.
class TemporaryFile {
 public:
  TemporaryFile() : file_(std::tmpfile()) {}
  ~TemporaryFile() {
    if (file_ != nullptr) std::fclose(file_);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  bool valid() const { return file_ != nullptr; }
  int descriptor() const { return fileno(file_); }
  bool Write(const std::string& text) {
    const bool written = std::fwrite(text.data(), 1, text.size(), file_) == text.size();
    return written && std::fflush(file_) == 0 && lseek(descriptor(), 0, SEEK_SET) == 0;
  }
  std::string ReadAll() {
    std::string text;
    char buffer[65536];
    std::rewind(file_);
    while (const size_t count = std::fread(buffer, 1, sizeof(buffer), file_)) {
      text.append(buffer, count);
    }
    return text;
  }

 private:
  std::FILE* file_;
};

}  // namespace

// Files instead of pipes: the process can neither fill nor wait for them.
absl::Status RunDot(const std::string& graph, std::string* svg) {
  TemporaryFile input, output, errors;
  if (!input.valid() || !output.valid() || !errors.valid() || !input.Write(graph)) {
    return absl::UnavailableError(
        absl::StrCat("cannot write a temporary file: ", std::strerror(errno)));
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input.descriptor(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output.descriptor(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.descriptor(), STDERR_FILENO);
  char program[] = "dot", format[] = "-Tsvg";
  char* arguments[] = {program, format, nullptr};
  pid_t process = 0;
  const int error = posix_spawnp(&process, program, &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT) {
    return absl::FailedPreconditionError(
        "the Graphviz program `dot`, which lays out the tree, was not found: install Graphviz, or "
        "choose a file name that ends in .dot, which needs no layout");
  }
  if (error != 0) {
    return absl::UnavailableError(absl::StrCat("cannot run dot: ", std::strerror(error)));
  }
  int status = 0;
  while (waitpid(process, &status, 0) < 0) {
    if (errno != EINTR) {
      return absl::UnavailableError(absl::StrCat("lost dot: ", std::strerror(errno)));
    }
  }
  if (status != 0) {
    return absl::InternalError(absl::StrCat("dot failed (wait status ", status,
                                            "): ", View(Shortened(errors.ReadAll(), 400))));
  }
  *svg = output.ReadAll();
  return absl::OkStatus();
}

std::string LanesAsDot(const PictureExecution& execution, const PictureOptions& options) {
  const size_t total = execution.steps.size();
  const size_t first = total - std::min(total, options.max_lane_steps);
  const std::vector<PictureStep> steps(execution.steps.begin() + static_cast<ptrdiff_t>(first),
                                       execution.steps.end());
  std::string dot = absl::StrCat(
      "digraph lanes {\n  label=\"", DotEscaped(options.title),
      "\";\n  labelloc=t; fontname=\"sans-serif\"; fontsize=16; nodesep=0.5; ranksep=0.2; "
      "splines=line; outputorder=edgesfirst;\n"
      "  node [shape=box, style=\"filled,rounded\", fontname=\"sans-serif\", fontsize=11];\n"
      "  edge [fontname=\"sans-serif\", fontsize=9, color=\"#444444\"];\n");
  // A row for each moment, numbered at the left; a column for each thread, with its name on top.
  std::map<uint32_t, std::string> last_of_thread;
  for (const PictureStep& step : steps) {
    const auto [last, fresh] =
        last_of_thread.emplace(step.thread, absl::StrCat("thread", step.thread));
    if (!fresh) continue;
    absl::StrAppend(&dot, "  ", last->second, " [group=t", step.thread, ", penwidth=2, label=\"",
                    DotEscaped(ThreadTitle(step)), "\", fillcolor=\"",
                    View(FillOfThread(step.thread)), "\", color=\"",
                    View(StrokeOfThread(step.thread)), "\"];\n");
  }
  std::string previous_row = "row0";
  std::string rows =
      absl::StrCat("  row0 [shape=plaintext, style=\"\", label=\"",
                   first > 0 ? absl::StrCat(Count(first, "earlier step"), "\\nnot shown") : "",
                   "\"];\n  { rank=same; row0");
  for (const auto& [thread, head] : last_of_thread) absl::StrAppend(&rows, " -> ", head);
  absl::StrAppend(&rows, " [style=invis]; }\n");
  for (size_t i = 0; i < steps.size(); ++i) {
    const PictureStep& step = steps[i];
    const std::string name = absl::StrCat("step", first + i + 1);
    const std::string row = absl::StrCat("row", first + i + 1);
    const std::string_view fill = step.failing  ? kFailingFill
                                  : step.racing ? kRacingFill
                                                : FillOfThread(step.thread);
    const std::string_view stroke = step.failing  ? kFailingStroke
                                    : step.racing ? kRacingStroke
                                                  : StrokeOfThread(step.thread);
    absl::StrAppend(&dot, "  ", name, " [group=t", step.thread, ", label=\"",
                    DotEscaped(WhatOf(step)), step.where.empty() ? "" : "\\n",
                    DotEscaped(ShortenedAtFront(step.where, 42)), "\", tooltip=\"",
                    DotEscaped(step.details), "\", fillcolor=\"", View(fill), "\", color=\"",
                    View(stroke), "\"];\n");
    absl::StrAppend(&dot, "  ", last_of_thread[step.thread], " -> ", name,
                    " [style=dotted, arrowhead=none, weight=8];\n");
    last_of_thread[step.thread] = name;
    absl::StrAppend(&rows, "  ", row, " [shape=plaintext, style=\"\", label=\"", first + i + 1,
                    "\"];\n  { rank=same; ", row, "; ", name, "; }\n");
    absl::StrAppend(&rows, "  ", previous_row, " -> ", row, " [style=invis];\n");
    previous_row = row;
  }
  for (const OrderArrow& arrow : ReducedHappensBefore(steps)) {
    absl::StrAppend(&dot, "  step", first + arrow.from + 1, " -> step", first + arrow.to + 1,
                    " [constraint=false, tooltip=\"", DotEscaped(CellText(arrow.cell)), "\"];\n");
  }
  return absl::StrCat(dot, rows, "}\n");
}

}  // namespace mc::checker
