#include "checker/worker_death.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "absl/strings/str_cat.h"

namespace mc::checker {
namespace {

// A block of less than that part of the limit is not what took the memory.
constexpr uint64_t kPartOfLargeBlock = 8;

}  // namespace

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
  for (int stop : {SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGXCPU}) {
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
  } else if (number == SIGXCPU) {
    absl::StrAppend(&text, "The processor time that ulimit -t allows is used up: allow more. ");
  }
  return absl::StrCat(text, "What was found before counts; run mc again for the rest.");
}

bool EndedForLackOfMemory(int status, const sched::LastWords& words) {
  return WIFEXITED(status) && WEXITSTATUS(status) == sched::kOutOfMemoryStatus &&
         words.out_of_memory != 0;
}

Bug BugOfTooMuchMemory(const sched::LastWords& words, uint64_t limit) {
  Bug bug;
  bug.kind = sched::BugKind::kOutOfMemory;
  bug.message = "one execution took more memory than allowed (--memory)";
  const uint64_t size = words.block_size;
  if (words.out_of_memory != 0) {
    bug.details = absl::StrCat("It asked for ", size, " bytes more.");
    // The program may have damaged them.
    const size_t frames = std::min<size_t>(words.frames, std::size(words.stack));
    bug.stack.assign(words.stack, words.stack + frames);
  } else if (size >= limit / kPartOfLargeBlock) {
    bug.details = absl::StrCat("There it asked for its largest block, of ", size, " bytes.");
  } else {
    return bug;
  }
  bug.pc = words.block_pc;
  bug.thread = static_cast<int>(words.block_thread);
  return bug;
}

}  // namespace mc::checker
