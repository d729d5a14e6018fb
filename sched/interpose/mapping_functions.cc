// mmap and its kin, as the program calls them. To map memory is to allocate it (mappings.h).
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>

#include "sched/interpose/export.h"
#include "sched/interpose/kernel_call.h"
#include "sched/interpose/kernel_state.h"
#include "sched/interpose/mappings.h"
#include "sched/interpose/shared_mappings.h"
#include "sched/scheduler.h"

namespace mc::sched {
namespace {

// The kernel's answer as the C library's functions give it.
long Answer(long result) {
  if (result >= 0 || result <= -4096) return result;
  errno = static_cast<int>(-result);
  return -1;
}

// Past the C library's functions, as finding them may itself allocate, and allocation map memory.
template <typename... Arguments>
long MappingCall(long number, uint64_t pc, Arguments... arguments) {
  const long all[6] = {(long)arguments...};  // NOLINT: pointers and integers alike, as the kernel
  if (!g_program_running) {
    return Answer(KernelCall(number, all[0], all[1], all[2], all[3], all[4], all[5]));
  }
  EngineScope scope;
  g_scheduler.BeforeHeapOperation(pc);
  RefuseSecondAddress(number, all);
  long unused;
  NoteSystemCall(number, all, &unused);
  return Answer(DoMappingCall(number, all, pc));
}

}  // namespace
}  // namespace mc::sched

using mc::sched::MappingCall;

MC_EXPORT void* mmap(void* address, size_t size, int protection, int flags, int file,
                     off_t offset) noexcept {
  return reinterpret_cast<void*>(
      MappingCall(SYS_mmap, MC_CALLER_PC(), address, size, protection, flags, file, offset));
}
MC_EXPORT void* mmap64(void* address, size_t size, int protection, int flags, int file,
                       off64_t offset) noexcept {
  return reinterpret_cast<void*>(
      MappingCall(SYS_mmap, MC_CALLER_PC(), address, size, protection, flags, file, offset));
}
MC_EXPORT int munmap(void* address, size_t size) noexcept {
  return static_cast<int>(MappingCall(SYS_munmap, MC_CALLER_PC(), address, size));
}
MC_EXPORT int mprotect(void* address, size_t size, int protection) noexcept {
  return static_cast<int>(MappingCall(SYS_mprotect, MC_CALLER_PC(), address, size, protection));
}
MC_EXPORT int madvise(void* address, size_t size, int advice) noexcept {
  return static_cast<int>(MappingCall(SYS_madvise, MC_CALLER_PC(), address, size, advice));
}
MC_EXPORT void* mremap(void* address, size_t old_size, size_t new_size, int flags, ...) noexcept {
  va_list rest;
  va_start(rest, flags);
  void* const place = va_arg(rest, void*);  // what lies there if it was not passed means nothing
  va_end(rest);
  return reinterpret_cast<void*>(
      MappingCall(SYS_mremap, MC_CALLER_PC(), address, old_size, new_size, flags, place));
}
