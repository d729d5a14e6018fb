#include "sched/interpose/memory_limit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "sched/interpose/kernel_call.h"
#include "sched/scheduler.h"
#include "sched/start.h"

namespace mc::sched {
namespace {

constexpr uint64_t kLooksPerLimit = 64;

// 0 if the kernel does not tell.
uint64_t ResidentBytes() {
  const long file = KernelCall(SYS_open, AddressOf("/proc/self/statm"), O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[128] = {};
  KernelCall(SYS_read, file, AddressOf(text), sizeof text - 1);
  KernelCall(SYS_close, file);
  char* resident = nullptr;  // after the size of the address space
  strtoull(text, &resident, 10);
  return strtoull(resident, nullptr, 10) * static_cast<uint64_t>(getpagesize());
}

}  // namespace

void LookAtMemory(uint64_t size, uint64_t pc) {
  const uint64_t limit = g_scheduler.options().memory_limit;
  const uint64_t live = g_scheduler.heap().live_bytes();
  if (limit == 0 || live < limit / 2) {
    g_scheduler.LookAtMemoryFrom(limit == 0 ? ~uint64_t{0} : limit / 2);
    return;
  }
  const uint64_t resident = ResidentBytes();
  if (resident <= limit || live < resident / 2) {
    g_scheduler.LookAtMemoryFrom(live + size + limit / kLooksPerLimit);
    return;
  }
  LastWords* const words = g_scheduler.last_words();
  if (words == nullptr) return;
  std::vector<uint64_t> stack;
  CaptureStack(&stack);
  const size_t frames = std::min(stack.size(), std::size(words->stack));
  std::copy_n(stack.begin(), frames, words->stack);
  words->frames = static_cast<uint32_t>(frames);
  words->Tell({size, pc, g_scheduler.current().id});
  words->out_of_memory = 1;
  words->failure_thread = g_scheduler.current().id;
  words->failure_pc = pc;
  words->failure = static_cast<uint32_t>(BugKind::kOutOfMemory) + 1;
  StopInDebugger(stack);
  RealExitNow(kOutOfMemoryStatus);
}

}  // namespace mc::sched
