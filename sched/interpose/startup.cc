// The start of the process: takes control before the program's main.
#include <dlfcn.h>
#include <execinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <time.h>
#include <unistd.h>

#include "sched/allocation_hooks.h"
#include "sched/interpose/export.h"
#include "sched/interpose/program_caller.h"
#include "sched/interpose/program_imports.h"
#include "sched/interpose/standard_locale.h"
#include "sched/interpose/standard_memory_resources.h"
#include "sched/interpose/standard_streams.h"
#include "sched/scheduler.h"
#include "sched/start.h"

namespace mc::sched {

AgentFunction g_agent = nullptr;

namespace {

bool g_engine_started = false;
MainFunction g_program_main = nullptr;

// Addresses must repeat from process to process, or a schedule would not replay.
void DisableAddressRandomisation(char** argv) {
  const int old = personality(0xffffffff);
  if (old == -1 || (old & ADDR_NO_RANDOMIZE) != 0) return;
  if (personality(static_cast<unsigned long>(old) | ADDR_NO_RANDOMIZE) == -1) return;
  const int now = personality(0xffffffff);
  if (now == -1 || (now & ADDR_NO_RANDOMIZE) == 0) return;
  // By its name, which lists of processes then show; or without, if the file is gone.
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length > 0) {
    path[length] = 0;
    execv(path, argv);
  }
  execv("/proc/self/exe", argv);
}

int StartMain(int argc, char** argv, char** environment) {
  if (getenv("MC_CONTROL_FD") == nullptr || g_agent == nullptr) {
    DisableAddressRandomisation(argv);
    return g_program_main(argc, argv, environment);
  }
  FindStandardLibrary();
  CompleteClassicLocale();
  FindStandardStreams();
  HookMemoryResources();
  g_scheduler.SetEndsAreSeen(ProgramCanSeeThreadEnds());
  ProgramEntry entry;
  entry.main = g_program_main;
  entry.argc = argc;
  entry.argv = argv;
  entry.environment = environment;
  return g_agent(entry);
}

}  // namespace

bool g_thread_before_main = false;

bool ThreadBeforeMain() { return g_thread_before_main; }
bool EngineStarted() { return g_engine_started; }
void MarkEngineStarted() {
  // The C library reads the time zone when it is first asked for a local time, by whatever thread.
  tzset();
  NoteZoneAtStart();
  // The first call loads a library.
  void* frame;
  backtrace(&frame, 1);
  g_engine_started = true;
}

}  // namespace mc::sched

MC_EXPORT int __libc_start_main(mc::sched::MainFunction main, int argc, char** argv, void (*init)(),
                                void (*fini)(), void (*loader_fini)(), void* stack_end) {
  using StartFunction =
      int (*)(mc::sched::MainFunction, int, char**, void (*)(), void (*)(), void (*)(), void*);
  mc::sched::g_program_main = main;
  const auto real = reinterpret_cast<StartFunction>(dlsym(RTLD_NEXT, "__libc_start_main"));
  return real(&mc::sched::StartMain, argc, argv, init, fini, loader_fini, stack_end);
}
