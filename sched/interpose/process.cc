// The end of the process and what would leave it: exit, abort, assert, raise, fork and their kin.
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdarg>
#include <string>

#include "sched/exit_handlers.h"
#include "sched/interpose/exception_type.h"
#include "sched/interpose/export.h"
#include "sched/interpose/program_signals.h"
#include "sched/scheduler.h"
#include "sched/start.h"

namespace mc::sched {
namespace {

template <typename Function>
Function RealOf(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

[[noreturn]] void RealExit(const char* name, int status) {
  RealOf<void (*)(int)>(name)(status);
  __builtin_trap();
}

}  // namespace

int RealFork() { return RealOf<pid_t (*)()>("fork")(); }
int RealKill(int pid, int signal_number) {
  return RealOf<int (*)(pid_t, int)>("kill")(pid, signal_number);
}
void RealExitNow(int status) { RealExit("_exit", status); }

namespace {

[[noreturn]] void NotSupported(const char* name) {
  EngineScope scope;
  g_scheduler.HarnessError(std::string("the harness calls ") + name +
                           ", which mc cannot check: it controls one process. Replace the call in "
                           "the test, or leave this part out of it.");
}

[[noreturn]] void AssertionFailed(const char* assertion, const char* file, unsigned line,
                                  const char* function, uint64_t pc) {
  EngineScope scope;
  std::string text = "assertion `" + std::string(assertion) + "` failed";
  if (file != nullptr) {
    text += " at " + std::string(file) + ":" + std::to_string(line);
  }
  if (function != nullptr) text += " in " + std::string(function);
  g_scheduler.FailThread(BugKind::kAssertion, text, pc);
}

[[noreturn]] void Aborted(uint64_t pc) {
  EngineScope scope;
  RunAbortHandler();
  const std::string type = CurrentExceptionType();
  if (!type.empty() && NoHandlerWasFound()) {
    g_scheduler.FailThread(BugKind::kUncaughtException, "uncaught exception of type " + type, pc);
  }
  g_scheduler.FailThread(BugKind::kAbort, "abort() was called", pc);
}

}  // namespace
}  // namespace mc::sched

using mc::sched::EngineScope;
using mc::sched::g_program_running;
using mc::sched::g_scheduler;
using mc::sched::NotSupported;
using mc::sched::RealExit;
using mc::sched::RealOf;

MC_EXPORT __attribute__((noreturn)) void exit(int status) {
  if (!g_program_running) RealExit("exit", status);
  EngineScope scope;
  g_scheduler.ExitProcess(status, true, MC_CALLER_PC());
}
MC_EXPORT __attribute__((noreturn)) void _exit(int status) {
  if (!g_program_running) RealExit("_exit", status);
  EngineScope scope;
  g_scheduler.ExitProcess(status, false, MC_CALLER_PC());
}
MC_EXPORT __attribute__((noreturn)) void _Exit(int status) {
  if (!g_program_running) RealExit("_Exit", status);
  EngineScope scope;
  g_scheduler.ExitProcess(status, false, MC_CALLER_PC());
}
MC_EXPORT __attribute__((noreturn)) void quick_exit(int status) {
  mc::sched::RunQuickExitHandlers();
  if (!g_program_running) RealExit("_exit", status);
  EngineScope scope;
  g_scheduler.ExitProcess(status, false, MC_CALLER_PC());
}
MC_EXPORT __attribute__((noreturn)) void abort() {
  if (g_program_running) mc::sched::Aborted(MC_CALLER_PC());
  RealOf<void (*)()>("abort")();
  __builtin_trap();
}
MC_EXPORT __attribute__((noreturn)) void __assert_fail(const char* assertion, const char* file,
                                                       unsigned line, const char* function) {
  if (g_program_running) {
    mc::sched::AssertionFailed(assertion, file, line, function, MC_CALLER_PC());
  }
  RealOf<void (*)(const char*, const char*, unsigned, const char*)>("__assert_fail")(
      assertion, file, line, function);
  __builtin_trap();
}
MC_EXPORT __attribute__((noreturn)) void __assert_perror_fail(int error, const char* file,
                                                              unsigned line, const char* function) {
  __assert_fail(strerror(error), file, line, function);
}
MC_EXPORT __attribute__((noreturn)) void __assert(const char* assertion, const char* file,
                                                  int line) {
  __assert_fail(assertion, file, static_cast<unsigned>(line), nullptr);
}
// libstdc++'s own assertions (_GLIBCXX_ASSERTIONS).
namespace std {
__attribute__((visibility("default"), noreturn)) void __glibcxx_assert_fail(
    const char* file, int line, const char* function, const char* condition) noexcept {
  __assert_fail(condition == nullptr ? "standard library precondition" : condition, file,
                static_cast<unsigned>(line), function);
}
}  // namespace std

MC_EXPORT pid_t fork() {
  if (!g_program_running) return RealOf<pid_t (*)()>("fork")();
  NotSupported("fork()");
}
MC_EXPORT pid_t vfork() {
  if (!g_program_running) return RealOf<pid_t (*)()>("fork")();
  NotSupported("vfork()");
}
MC_EXPORT int clone(int (*function)(void*), void* stack, int flags, void* argument, ...) {
  if (g_program_running) NotSupported("clone()");
  va_list rest;
  va_start(rest, argument);
  void* const parent = va_arg(rest, void*);
  void* const storage = va_arg(rest, void*);
  void* const child = va_arg(rest, void*);
  va_end(rest);
  return RealOf<int (*)(int (*)(void*), void*, int, void*, void*, void*, void*)>("clone")(
      function, stack, flags, argument, parent, storage, child);
}
MC_EXPORT int posix_spawn(pid_t* process, const char* path,
                          const posix_spawn_file_actions_t* actions,
                          const posix_spawnattr_t* attributes, char* const* arguments,
                          char* const* environment) {
  if (g_program_running) NotSupported("posix_spawn()");
  return RealOf<decltype(&posix_spawn)>("posix_spawn")(process, path, actions, attributes,
                                                       arguments, environment);
}
MC_EXPORT int posix_spawnp(pid_t* process, const char* file,
                           const posix_spawn_file_actions_t* actions,
                           const posix_spawnattr_t* attributes, char* const* arguments,
                           char* const* environment) {
  if (g_program_running) NotSupported("posix_spawnp()");
  return RealOf<decltype(&posix_spawnp)>("posix_spawnp")(process, file, actions, attributes,
                                                         arguments, environment);
}
MC_EXPORT int execve(const char* path, char* const* arguments, char* const* environment) {
  if (g_program_running) NotSupported("execve()");
  return RealOf<int (*)(const char*, char* const*, char* const*)>("execve")(path, arguments,
                                                                            environment);
}
MC_EXPORT int execv(const char* path, char* const* arguments) {
  if (g_program_running) NotSupported("execv()");
  return RealOf<int (*)(const char*, char* const*)>("execv")(path, arguments);
}
MC_EXPORT int execvp(const char* file, char* const* arguments) {
  if (g_program_running) NotSupported("execvp()");
  return RealOf<int (*)(const char*, char* const*)>("execvp")(file, arguments);
}
MC_EXPORT int system(const char* command) {
  if (g_program_running) NotSupported("system()");
  return RealOf<int (*)(const char*)>("system")(command);
}
MC_EXPORT FILE* popen(const char* command, const char* mode) {
  if (g_program_running) NotSupported("popen()");
  return RealOf<FILE* (*)(const char*, const char*)>("popen")(command, mode);
}
