#include "checker/system_limits.h"

#include <pthread.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace mc::checker {
namespace {

// Standard files, channels to the harness, reports, and what the harness itself and its libraries
// need on top when they start.
constexpr rlim_t kLeastOpenFiles = 32;
constexpr rlim_t kEnoughStack = 8 << 20;

struct Call {
  const std::function<int()>* function;
  int result = 0;
};

void* RunCall(void* argument) {
  auto* const call = static_cast<Call*>(argument);
  call->result = (*call->function)();
  return nullptr;
}

}  // namespace

std::string ProblemWithLimits() {
  rlimit files;
  if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= kLeastOpenFiles) return "";
  return absl::StrCat("only ", files.rlim_cur, " open files are allowed (ulimit -n), and mc needs ",
                      kLeastOpenFiles, ": raise the limit, as with ulimit -n 1024");
}

std::string ExplainSystemError(int error) {
  std::string text = strerror(error);
  switch (error) {
    case EMFILE:
      return text + ": allow more (ulimit -n)";
    case ENFILE:
      return text + ": the system as a whole has no more (sysctl fs.file-max)";
    case EAGAIN:
      return text +
             ": no more processes are allowed (ulimit -u, or the pids limit of the container or "
             "of systemd): allow more, or end some";
    case EFBIG:
      return text +
             ": larger files are not allowed (ulimit -f), and shared memory counts as a file";
    case ENOMEM:
      return text + ": there is no memory, or no more is allowed (ulimit -v)";
    default:
      return text;
  }
}

int RunWithEnoughStack(const std::function<int()>& function) {
  rlimit stack;
  if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur >= kEnoughStack) return function();
  Call call{&function};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kEnoughStack);
  pthread_t thread;
  const int error = pthread_create(&thread, &attributes, &RunCall, &call);
  pthread_attr_destroy(&attributes);
  if (error != 0) return function();  // it may do
  pthread_join(thread, nullptr);
  return call.result;
}

}  // namespace mc::checker
