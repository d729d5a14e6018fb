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
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

int InterruptionCount() { return g_requests.load(); }

}  // namespace mc::checker
