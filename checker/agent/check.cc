// mc::Check: model checking from inside an ordinary process, usually a GoogleTest.
//
// The process forks a zygote, whose memory is the snapshot the executions start from, and starts mc
// to supervise it. So the test process itself is never at risk, and goes on whatever happens.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "checker/agent/agent.h"
#include "checker/message.h"
#include "checker/protocol.h"
#include "sched/interpose/export.h"

extern "C" int mc_check_(void (*body)(void*), void* context, const char* options, char* message,
                         unsigned long message_size);

namespace mc::checker {
namespace {

constexpr int kVerified = 0, kBug = 1, kError = 2, kNoBugFound = 3;

uint64_t g_checks = 0;  // calls of mc_check_ so far

// mc lies beside the runtime library: ../../bin when installed, ../../tools in a build tree.
std::string SupervisorPath() {
  if (const char* path = getenv("MC")) return path;
  Dl_info info;
  std::string base = ".";
  if (dladdr(reinterpret_cast<const void*>(&mc_check_), &info) != 0 && info.dli_fname != nullptr) {
    base = info.dli_fname;
    base.erase(base.find_last_of('/') + 1);
  }
  const std::string installed = base + "../../bin/mc";
  return access(installed.c_str(), X_OK) == 0 ? installed : base + "../../tools/mc";
}

// Runs mc on the zygote at the other end of `control`; its output, and its exit status in *status.
std::string RunSupervisor(int control, int shared, const char* options, int* status) {
  int output[2];
  if (pipe(output) != 0) return strerror(errno);
  const pid_t self = getpid();
  const pid_t supervisor = sched::RealFork();
  if (supervisor == 0) {
    // If this process is killed, nobody wants the answer any more.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != self) sched::RealExitNow(2);
    dup2(output[1], 1);
    close(output[0]);
    std::vector<std::string> arguments = {
        SupervisorPath(),
        "--internal-attach=" + std::to_string(control) + "," + std::to_string(shared),
        "--color=never"};
    for (std::string_view option : Split(options, '\n')) arguments.emplace_back(option);
    std::vector<char*> raw;
    for (std::string& argument : arguments) raw.push_back(argument.data());
    raw.push_back(nullptr);
    execv(raw[0], raw.data());
    fprintf(stderr, "mc::Check: cannot run %s: %s\n", raw[0], strerror(errno));
    sched::RealExitNow(2);
  }
  close(output[1]);
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t count = read(output[0], buffer, sizeof buffer);
    if (count > 0) {
      text.append(buffer, static_cast<size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      break;
    }
  }
  close(output[0]);
  while (waitpid(supervisor, status, 0) < 0 && errno == EINTR) {
  }
  return text;
}

int VerdictOf(int status, const std::string& text) {
  if (!WIFEXITED(status)) return kError;
  if (WEXITSTATUS(status) == 1) return kBug;
  if (WEXITSTATUS(status) != 0) return kError;
  return text.find("mc: VERIFIED") != std::string::npos ? kVerified : kNoBugFound;
}

}  // namespace
}  // namespace mc::checker

MC_EXPORT int mc_check_(void (*body)(void*), void* context, const char* options, char* message,
                        unsigned long message_size) {
  using namespace mc::checker;
  const auto say = [&](int verdict, const std::string& text) {
    snprintf(message, message_size, "%s", text.c_str());
    return verdict;
  };
  if (mc::sched::g_program_running) {
    mc::sched::EngineScope scope;
    mc::sched::g_scheduler.HarnessError(
        "mc::Check was called in a program that mc itself checks: run the program directly, "
        "without mc");
  }
  const uint64_t number = ++g_checks;
  ProgramBody program;
  program.body = body;
  program.context = context;
  if (WantsCheck(number)) ServeCheck(program, number);
  int control[2];
  const auto cannot_start = [&] {
    return say(kError, std::string("mc cannot be started: ") + strerror(errno) +
                           " (see ulimit -n for open files, ulimit -u for processes)");
  };
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, control) != 0) return cannot_start();
  const int shared = memfd_create("mc-shared", 0);
  if (shared < 0 || ftruncate(shared, sizeof(SharedState)) != 0) {
    return cannot_start();
  }
  fflush(nullptr);
  const pid_t zygote = mc::sched::RealFork();
  if (zygote < 0) return cannot_start();
  if (zygote == 0) {
    close(control[0]);
    mc::sched::RealExitNow(
        ServeAsZygote(program, control[1], shared, "check:" + std::to_string(number)));
  }
  close(control[1]);
  int status = 0;
  const std::string text = RunSupervisor(control[0], shared, options, &status);
  close(control[0]);
  close(shared);
  int zygote_status = 0;
  while (waitpid(zygote, &zygote_status, 0) < 0 && errno == EINTR) {
  }
  return say(VerdictOf(status, text), text);
}
