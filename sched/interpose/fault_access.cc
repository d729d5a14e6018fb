#include "sched/interpose/fault_access.h"

#include <unwind.h>

#include "sched/scheduler.h"

namespace mc::sched {
namespace {

uint64_t FaultingInstruction(const ucontext_t& context) {
  return static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
}

// Goes outwards from the handler: to the code that made the fault, through what the engine had
// called and the engine itself, to the program.
struct Search {
  uint64_t fault;
  bool in_interrupted_code = false;
  bool in_engine = false;
  uint64_t found = 0;
};

_Unwind_Reason_Code VisitFrame(_Unwind_Context* context, void* argument) {
  auto* search = static_cast<Search*>(argument);
  const uint64_t pc = _Unwind_GetIP(context);
  if (pc == search->fault) search->in_interrupted_code = true;
  if (!search->in_interrupted_code) return _URC_NO_REASON;
  if (IsEngineCode(pc)) {
    search->in_engine = true;
    return _URC_NO_REASON;
  }
  if (!search->in_engine) return _URC_NO_REASON;
  search->found = pc;
  return _URC_END_OF_STACK;
}

uint64_t CallerOfHook(uint64_t fault) {
  Search search{fault};
  _Unwind_Backtrace(VisitFrame, &search);
  return search.found != 0 ? search.found : fault;
}

bool Covers(const MicroAccess& access, uintptr_t address) {
  return access.begin <= address && address < access.end();
}

}  // namespace

bool IsMemoryFault(const siginfo_t& info) {
  return (info.si_signo == SIGSEGV || info.si_signo == SIGBUS) &&
         IsMemory(reinterpret_cast<uintptr_t>(info.si_addr));
}

MicroAccess FaultingAccess(const ucontext_t& context, const siginfo_t& info) {
  const auto address = reinterpret_cast<uintptr_t>(info.si_addr);
  if (!IsMemoryFault(info)) return {};
  if (const MicroAccess* const said = g_scheduler.FirstAccessTo(address)) return *said;
  constexpr greg_t kWrites = 2;
  MicroAccess access;
  access.begin = address;
  access.size = 1;
  access.mode = (context.uc_mcontext.gregs[REG_ERR] & kWrites) != 0 ? kWrite : kRead;
  access.pc = FaultingInstruction(context);
  return access;
}

MicroAccess FaultingAccessOfHook(const ucontext_t& context, const siginfo_t& info) {
  const auto address = reinterpret_cast<uintptr_t>(info.si_addr);
  const bool of_memory = IsMemoryFault(info);
  const MicroAccess& attempt = g_scheduler.current().attempt;
  if (of_memory && Covers(attempt, address)) return attempt;
  MicroAccess access;
  access.pc = CallerOfHook(FaultingInstruction(context));
  if (!of_memory) return access;
  const MicroAccess* const said = g_scheduler.FirstAccessTo(address);
  if (said != nullptr && said->pc == access.pc) return *said;
  access.begin = address;
  access.size = 1;
  access.flags = kAtomic;
  return access;
}

void RecordFaultOfHook(const MicroAccess& access) {
  if (access.size == 0) return;
  g_scheduler.RecordMemory(access.begin, access.size, kRead, access.flags, access.pc,
                           MemoryOrder::kRelaxed);
  g_scheduler.RecordFailedAccess(access.begin, access.size, access.mode | kRead, access.flags,
                                 access.pc);
}

}  // namespace mc::sched
