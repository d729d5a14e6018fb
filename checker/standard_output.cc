#include "checker/standard_output.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "checker/interruption.h"

namespace mc::checker {
namespace {

int g_error = 0;

}  // namespace

void PrepareStandardFiles() {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);  // a file that gets too large: the same
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // What was closed stays as good as closed: reading gives nothing, writing fails.
    const int opened = open("/dev/null", fd == STDIN_FILENO ? O_RDONLY : O_PATH);
    if (opened >= 0 && opened != fd) close(opened);
  }
}

void Print(std::string_view text) {
  if (g_error != 0) return;
  if (fwrite(text.data(), 1, text.size(), stdout) == text.size() && fflush(stdout) == 0) return;
  g_error = errno == 0 ? EIO : errno;
  RequestInterruption();
}

std::string OutputProblem() { return g_error == 0 ? "" : strerror(g_error); }

}  // namespace mc::checker
