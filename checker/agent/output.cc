#include "checker/agent/output.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <unistd.h>

#include "sched/other_processes.h"

// Of the C library: gives a stream the buffer for wide characters that it has not got yet.
extern "C" void _IO_wdoallocbuf(FILE* stream);

namespace mc::checker {
namespace {

int g_saved[2] = {-1, -1};
char g_buffer[BUFSIZ];

}  // namespace

void PrepareOutput() {
  if (__fbufsize(stdout) == 0) {  // no constructor has printed
    setvbuf(stdout, g_buffer, isatty(1) != 0 ? _IOLBF : _IOFBF, sizeof g_buffer);
  }
  _IO_wdoallocbuf(stdout);
}

void SilenceOutput() {
  // A thread of the last execution may have stopped with the lock.
  fflush_unlocked(stdout);
  fflush_unlocked(stderr);
  const int sink = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (sink < 0) return;
  for (int i = 0; i < 2; ++i) {
    if (g_saved[i] < 0) {
      g_saved[i] = fcntl(1 + i, F_DUPFD_CLOEXEC, 100);
      sched::OwnDescriptor(g_saved[i], false);
    }
    dup2(sink, 1 + i);
  }
  close(sink);
}

void RestoreOutput() {
  for (int i = 0; i < 2; ++i) {
    if (g_saved[i] >= 0) dup2(g_saved[i], 1 + i);
  }
}

}  // namespace mc::checker
