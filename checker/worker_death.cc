#include "checker/worker_death.h"

#include <signal.h>
#include <sys/wait.h>

#include <cstdint>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace mc::checker {

std::string DescribeWaitStatus(int status) {
  if (WIFSIGNALED(status)) {
    return absl::StrCat("killed by signal ", WTERMSIG(status), " (", strsignal(WTERMSIG(status)),
                        ")");
  }
  return absl::StrCat("exited with status ", WEXITSTATUS(status));
}

int SignalFromOutside(int status, const sched::LastWords& words) {
  if (!WIFSIGNALED(status)) return 0;
  const int number = WTERMSIG(status);
  if (words.foreign_signal == static_cast<uint32_t>(number)) return number;
  if (words.own_signal == static_cast<uint32_t>(number)) return 0;
  // No operation of the program itself is answered with one of these.
  for (int stop : {SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGQUIT}) {
    if (number == stop) return number;
  }
  return 0;
}

std::string DescribeForeignSignal(int number) {
  std::string text =
      absl::StrCat("the worker process was killed from outside by signal ", number, " (",
                   strsignal(number), "), which says nothing about the program\n");
  if (number == SIGKILL) {
    absl::StrAppend(&text,
                    "The system does so when memory runs out (see its log; --memory=SIZE makes mc "
                    "keep to less) or the processor time that ulimit -t allows is used up. ");
  }
  return absl::StrCat(text, "What was found before counts; run mc again for the rest.");
}

}  // namespace mc::checker
