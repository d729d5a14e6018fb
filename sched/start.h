// How a harness process starts: as an ordinary program, or under the supervisor.
#ifndef MC_SCHED_START_H_
#define MC_SCHED_START_H_

#include <signal.h>

namespace mc::sched {

using MainFunction = int (*)(int, char**, char**);

// The program's main and its arguments, as the C library started it.
struct ProgramEntry {
  MainFunction main = nullptr;
  int argc = 0;
  char** argv = nullptr;
  char** environment = nullptr;
};

// Called in place of main when the process runs under a supervisor. Implemented by checker/agent,
// which sched must not know: it installs itself here (before main).
using AgentFunction = int (*)(const ProgramEntry& entry);
extern AgentFunction g_agent;

// From here on code is either the engine's or the program's (see allocation_hooks.h).
void MarkEngineStarted();

// The time zone is the one that has just been looked up.
void NoteZoneAtStart();

// Was a thread made before main, by a constructor? Its work is over, or lost, when main begins.
bool ThreadBeforeMain();
extern bool g_thread_before_main;

// Signal handlers for faults of the program and for write-protected snapshot pages.
void InstallSignalHandlers();

// The C library's fork, kill and _exit, whatever runs.
int RealFork();
int RealKill(int pid, int signal_number);
[[noreturn]] void RealExitNow(int status);

// The C library's sigaction (ours keeps the program from replacing the handlers above).
int RealSigaction(int number, const struct sigaction* action, struct sigaction* old);

}  // namespace mc::sched

#endif  // MC_SCHED_START_H_
