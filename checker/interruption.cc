#include "checker/interruption.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>

namespace mc::checker {
namespace {

std::atomic<int> g_requests{0};

void OnSignal(int signal) {
  if (g_requests.fetch_add(1) >= 2) _exit(128 + signal);
}

}  // namespace

void CatchInterruptions() {
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  sigemptyset(&action.sa_mask);
  // No SA_RESTART: a wait for the harness must end.
  // SIGXCPU: little processor time is left (ulimit -t).
  for (int number : {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGXCPU}) {
    struct sigaction before = {};
    const bool ignored = sigaction(number, nullptr, &before) == 0 && before.sa_handler == SIG_IGN;
    if (number != SIGHUP || !ignored) sigaction(number, &action, nullptr);
  }
}

void RequestInterruption() {
  int none = 0;
  g_requests.compare_exchange_strong(none, 1);
}

int InterruptionCount() { return g_requests.load(); }

}  // namespace mc::checker
