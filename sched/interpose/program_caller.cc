#include "sched/interpose/program_caller.h"

#include <link.h>
#include <unwind.h>

#include "sched/interpose/real.h"
#include "sched/scheduler.h"

namespace mc::sched {

namespace {

// The code of the module that contains `inside`: [begin, end).
struct CodeOfModule {
  uintptr_t inside;
  uintptr_t begin = 0, end = 0;

  bool Contains(uintptr_t pc) const { return pc >= begin && pc < end; }
};
CodeOfModule g_library;

int FindModule(dl_phdr_info* info, size_t, void* argument) {
  auto& module = *static_cast<CodeOfModule*>(argument);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
    const uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    const uintptr_t end = begin + header.p_memsz;
    if (module.inside < begin || module.inside >= end) continue;
    module.begin = begin;
    module.end = end;
    return 1;
  }
  return 0;
}

struct Walk {
  uint64_t from;  // the frame of this return address is where it begins
  bool begun = false;
  uint64_t found = 0;
};

_Unwind_Reason_Code VisitFrame(_Unwind_Context* context, void* argument) {
  auto& walk = *static_cast<Walk*>(argument);
  const uint64_t pc = _Unwind_GetIP(context);
  walk.begun |= pc == walk.from;
  if (!walk.begun || g_library.Contains(pc) || IsEngineCode(pc)) return _URC_NO_REASON;
  walk.found = pc;
  return _URC_END_OF_STACK;
}

}  // namespace

void FindStandardLibrary() {
  g_library.inside = reinterpret_cast<uintptr_t>(Real().exception_ptr_addref);
  dl_iterate_phdr(FindModule, &g_library);
}

bool IsInStandardLibrary(uint64_t pc) { return g_library.Contains(pc); }

uint64_t ProgramCaller(uint64_t pc) {
  if (!IsInStandardLibrary(pc)) return pc;
  Walk walk{pc};
  _Unwind_Backtrace(VisitFrame, &walk);
  return walk.found != 0 ? walk.found : pc;
}

}  // namespace mc::sched
