#include "checker/progress_display.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "checker/report.h"
#include "checker/text.h"

namespace mc::checker {
namespace {

size_t TerminalWidth() {
  winsize size;
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

}  // namespace

ProgressDisplay::ProgressDisplay(bool on)
    : on_(on), terminal_(isatty(STDERR_FILENO) == 1), last_(absl::Now()) {}

void ProgressDisplay::Show(const JobEngine& engine, const Job& running, size_t bugs) {
  if (!on_) return;
  const absl::Time now = absl::Now();
  if (now - last_ < (terminal_ ? absl::Milliseconds(200) : absl::Seconds(5))) return;
  last_ = now;
  const auto& jobs = engine.jobs();
  const auto waiting = std::count_if(jobs.begin(), jobs.end(), [&](const auto& job) {
    return job.get() != &running &&
           (job->state == JobState::kFresh || job->state == JobState::kSuspended);
  });
  std::string line =
      absl::StrCat("job ", running.id, " {", running.pps.empty() ? "" : running.pps.Text(),
                   "}: ", FormatJobProgress(running));
  if (waiting > 0) absl::StrAppend(&line, "; ", waiting, " waiting");
  if (bugs > 0) absl::StrAppend(&line, "; ", Count(bugs, "bug"));
  if (!terminal_) {
    fprintf(stderr, "mc: %s\n", line.c_str());
    return;
  }
  line.resize(std::min(line.size(), TerminalWidth() - 1));
  fprintf(stderr, "\r\033[K%s", line.c_str());
  fflush(stderr);
  line_shown_ = true;
}

void ProgressDisplay::Clear() {
  if (!line_shown_) return;
  fputs("\r\033[K", stderr);
  fflush(stderr);
  line_shown_ = false;
}

}  // namespace mc::checker
