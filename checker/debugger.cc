#include "checker/debugger.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "checker/message.h"
#include "checker/text.h"

namespace mc::checker {
namespace {

// mc_on_failure: what the runtime calls when a failure shows; mc_failure_pc: where the program's
// frame is then (sched/scheduler.h).
constexpr std::string_view kSetUp = R"(
set breakpoint pending on
set startup-with-shell off
set disable-randomization on
# The execution takes place in a child of the process that gdb starts.
set follow-fork-mode child
set detach-on-fork on
set print thread-events off
set confirm off
# The runtime turns these into failures itself, after which the breakpoint is reached.
handle SIGSEGV SIGBUS SIGFPE SIGILL SIGABRT SIGSYS nostop noprint pass
define mc-program-frame
  set $mc_frames = 0
  set $mc_wanted = *(unsigned long *)&mc_failure_pc
  # Elsewhere, as at the line of a race, the frame is right already.
  set $mc_at_failure = (unsigned long)$pc - (unsigned long)&mc_on_failure < 16
  if !$mc_at_failure
    set $mc_wanted = (unsigned long)$pc
  end
  while $mc_frames < 100 && $mc_wanted != 0 && (unsigned long)$pc != $mc_wanted
    up-silently
    set $mc_frames = $mc_frames + 1
  end
  frame
  if $mc_wanted == 0
    echo The failure is in no frame of the program: it shows when no thread can go on.\n
  end
end
document mc-program-frame
Select the frame of the program in which the failure shows.
end
break mc_on_failure
)";

bool HasGdb() {
  const char* path = getenv("PATH");
  for (std::string_view directory : Split(path == nullptr ? "" : path, ':')) {
    if (access(absl::StrCat(View(directory), "/gdb").c_str(), X_OK) == 0) return true;
  }
  return false;
}

std::string BreakAt(const std::string& place) {
  const size_t colon = place.rfind(':');
  if (colon == std::string::npos || !ParseNumber<int>(place.substr(colon + 1))) return "";
  const std::string file =
      absl::StrReplaceAll(place.substr(0, colon), {{"\\", "\\\\"}, {"\"", "\\\""}});
  return absl::StrCat("break -source \"", file, "\" -line ", place.substr(colon + 1), "\n");
}

}  // namespace

Debugger::~Debugger() {
  if (script_fd_ >= 0) close(script_fd_);
}

absl::StatusOr<std::vector<std::string>> Debugger::Command(const std::string& race_place) {
  if (!HasGdb()) {
    return absl::FailedPreconditionError("--gdb: the program gdb was not found: install it");
  }
  const bool interactive = isatty(STDIN_FILENO) == 1;
  std::string script(kSetUp);
  if (interactive) absl::StrAppend(&script, "commands\nsilent\nmc-program-frame\nend\n");
  absl::StrAppend(&script, BreakAt(race_place), "run\n");
  if (!interactive) {
    // Shows it once, then lets the program run to its end: mc has its verdict from that.
    absl::StrAppend(&script,
                    "if $_thread != 0\nbacktrace\nmc-program-frame\ndelete\ncontinue\nend\n");
  }
  script_fd_ = memfd_create("mc-gdb-commands", MFD_CLOEXEC);
  if (script_fd_ < 0 ||
      write(script_fd_, script.data(), script.size()) != static_cast<ssize_t>(script.size())) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot keep the commands for gdb: ", strerror(errno)));
  }
  std::vector<std::string> words = {"gdb", "-q"};
  if (!interactive) words.push_back("-batch");
  words.push_back("-x");
  words.push_back(absl::StrCat("/proc/", getpid(), "/fd/", script_fd_));
  words.push_back("--args");
  return words;
}

}  // namespace mc::checker
