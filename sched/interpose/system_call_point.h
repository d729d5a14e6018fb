// A function of the C library that makes system calls by which threads can tell something of each
// other (kernel_cells.h): threads are preempted at it as at a lock.
#ifndef MC_SCHED_INTERPOSE_SYSTEM_CALL_POINT_H_
#define MC_SCHED_INTERPOSE_SYSTEM_CALL_POINT_H_

#include <cstdint>

#include "sched/interpose/hook.h"

namespace mc::sched {

// Lives around the call; the program runs in between.
class SystemCallPoint {
 public:
  explicit SystemCallPoint(uint64_t pc, bool is_one = true) : is_one_(g_program_running && is_one) {
    if (!is_one_) return;
    EngineScope scope;
    g_scheduler.SystemCallInLoop(pc);
    BeforeOperation(kPpLock, pc, OperationDetail::kSystemCall);
    g_scheduler.current().system_call_pc = pc;
  }
  ~SystemCallPoint() {
    if (!is_one_) return;
    EngineScope scope;
    g_scheduler.current().system_call_pc = 0;
    AfterOperation(kPpUnlock);
  }
  SystemCallPoint(const SystemCallPoint&) = delete;
  SystemCallPoint& operator=(const SystemCallPoint&) = delete;

 private:
  bool is_one_;
};

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_SYSTEM_CALL_POINT_H_
