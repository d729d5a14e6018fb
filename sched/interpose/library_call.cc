#include "sched/interpose/library_call.h"

#include <errno.h>

#include "sched/engine_scope.h"

namespace mc::sched {

void BeforeLibraryCall(uint64_t pc) {
  EngineScope scope;
  const char anywhere = 0;  // only the place of the call counts
  g_scheduler.BeforeAccess(reinterpret_cast<uintptr_t>(&anywhere), 1, kRead, 0, pc);
}

void RecordTouchedInScope(std::initializer_list<Touch> touched, uint64_t pc) {
  const int saved_errno = errno;
  for (const Touch& touch : touched) {
    if (touch.place == nullptr || touch.size == 0) continue;
    const auto address = reinterpret_cast<uintptr_t>(touch.place);
    g_scheduler.CheckAlive(address, touch.size, touch.mode, pc);
    const MemoryOrder order =
        (touch.flags & kAtomic) != 0 ? MemoryOrder::kAcqRel : MemoryOrder::kRelaxed;
    g_scheduler.RecordMemory(address, touch.size, touch.mode, touch.flags, pc, order);
  }
  errno = saved_errno;
}

void RecordTouched(std::initializer_list<Touch> touched, uint64_t pc) {
  EngineScope scope;
  RecordTouchedInScope(touched, pc);
}

}  // namespace mc::sched
