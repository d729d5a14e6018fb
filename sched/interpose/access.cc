// The instrumentation interface for plain accesses: __tsan_read*, __tsan_write*, ranges, vptr.
//
// GCC 12 and Clang 14 emit a call to one of these before every access to memory that might be
// shared. The access itself is made by the program, right after the hook returns.
#include <stddef.h>
#include <stdint.h>

#include "sched/interpose/export.h"
#include "sched/interpose/spin_stub.h"
#include "sched/scheduler.h"

MC_NAMED_IN_ASSEMBLY mc::sched::EntryRegisters g_entry_registers;

namespace mc::sched {
namespace {

[[gnu::noinline]] void SlowPlain(uintptr_t address, size_t size, uint8_t mode, uint64_t pc) {
  EngineScope scope;
  g_scheduler.Access(address, size, mode, 0, pc);
}

[[gnu::always_inline]] inline void Plain(const volatile void* pointer, size_t size, uint8_t mode,
                                         uint64_t pc) {
  if (!g_program_running) return;
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  if (g_scheduler.PassOwnAccess(address, size, mode, pc)) return;
  SlowPlain(address, size, mode, pc);
}

[[gnu::noinline]] void SlowPlainRead(uintptr_t address, size_t size, uint64_t pc, bool watch) {
  EngineScope scope;
  if (watch || g_scheduler.current().spin.IsManyReads()) {
    g_scheduler.SpinPoint(pc, g_entry_registers);
  }
  g_scheduler.Access(address, size, kRead, 0, pc);
}

[[gnu::always_inline]] inline void PlainRead(const volatile void* pointer, size_t size, uint64_t pc,
                                             bool watch) {
  if (!g_program_running) return;
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  if (!watch && g_scheduler.PassOwnAccess(address, size, kRead, pc)) return;
  SlowPlainRead(address, size, pc, watch);
}

}  // namespace
}  // namespace mc::sched

using mc::sched::kReadWrite;
using mc::sched::kWrite;
using mc::sched::Plain;
using mc::sched::PlainRead;

#define MC_PLAIN_READ(name, size, watch)                                      \
  MC_HIDDEN void mc_hook_##name(const volatile void* address) {               \
    PlainRead(address, size, MC_CALLER_PC(), watch);                          \
  }                                                                           \
  MC_SPIN_STUB(__tsan_##name, mc_hook_##name);                                \
  MC_EXPORT void __tsan_##name##_pc(const volatile void* address, void* pc) { \
    PlainRead(address, size, reinterpret_cast<uint64_t>(pc), false);          \
  }
#define MC_PLAIN_WRITE(name, size, mode)                                      \
  MC_HIDDEN void mc_hook_##name(const volatile void* address) {               \
    Plain(address, size, mode, MC_CALLER_PC());                               \
  }                                                                           \
  MC_DISTANT_STUB(__tsan_##name, mc_hook_##name);                             \
  MC_EXPORT void __tsan_##name##_pc(const volatile void* address, void* pc) { \
    Plain(address, size, mode, reinterpret_cast<uint64_t>(pc));               \
  }

MC_PLAIN_READ(read1, 1, false)
MC_PLAIN_READ(read2, 2, false)
MC_PLAIN_READ(read4, 4, false)
MC_PLAIN_READ(read8, 8, false)
MC_PLAIN_READ(read16, 16, false)
MC_PLAIN_READ(unaligned_read2, 2, false)
MC_PLAIN_READ(unaligned_read4, 4, false)
MC_PLAIN_READ(unaligned_read8, 8, false)
MC_PLAIN_READ(unaligned_read16, 16, false)
MC_PLAIN_READ(volatile_read1, 1, true)
MC_PLAIN_READ(volatile_read2, 2, true)
MC_PLAIN_READ(volatile_read4, 4, true)
MC_PLAIN_READ(volatile_read8, 8, true)
MC_PLAIN_READ(volatile_read16, 16, true)
MC_PLAIN_READ(unaligned_volatile_read2, 2, true)
MC_PLAIN_READ(unaligned_volatile_read4, 4, true)
MC_PLAIN_READ(unaligned_volatile_read8, 8, true)
MC_PLAIN_READ(unaligned_volatile_read16, 16, true)

MC_PLAIN_WRITE(write1, 1, kWrite)
MC_PLAIN_WRITE(write2, 2, kWrite)
MC_PLAIN_WRITE(write4, 4, kWrite)
MC_PLAIN_WRITE(write8, 8, kWrite)
MC_PLAIN_WRITE(write16, 16, kWrite)
MC_PLAIN_WRITE(unaligned_write2, 2, kWrite)
MC_PLAIN_WRITE(unaligned_write4, 4, kWrite)
MC_PLAIN_WRITE(unaligned_write8, 8, kWrite)
MC_PLAIN_WRITE(unaligned_write16, 16, kWrite)
MC_PLAIN_WRITE(volatile_write1, 1, kWrite)
MC_PLAIN_WRITE(volatile_write2, 2, kWrite)
MC_PLAIN_WRITE(volatile_write4, 4, kWrite)
MC_PLAIN_WRITE(volatile_write8, 8, kWrite)
MC_PLAIN_WRITE(volatile_write16, 16, kWrite)
MC_PLAIN_WRITE(unaligned_volatile_write2, 2, kWrite)
MC_PLAIN_WRITE(unaligned_volatile_write4, 4, kWrite)
MC_PLAIN_WRITE(unaligned_volatile_write8, 8, kWrite)
MC_PLAIN_WRITE(unaligned_volatile_write16, 16, kWrite)
MC_PLAIN_WRITE(read_write1, 1, kReadWrite)
MC_PLAIN_WRITE(read_write2, 2, kReadWrite)
MC_PLAIN_WRITE(read_write4, 4, kReadWrite)
MC_PLAIN_WRITE(read_write8, 8, kReadWrite)
MC_PLAIN_WRITE(read_write16, 16, kReadWrite)
MC_PLAIN_WRITE(unaligned_read_write2, 2, kReadWrite)
MC_PLAIN_WRITE(unaligned_read_write4, 4, kReadWrite)
MC_PLAIN_WRITE(unaligned_read_write8, 8, kReadWrite)
MC_PLAIN_WRITE(unaligned_read_write16, 16, kReadWrite)

MC_DISTANT_STUB(__tsan_read_range, mc_hook_read_range);
MC_HIDDEN void mc_hook_read_range(const void* address, size_t size) {
  if (size != 0) PlainRead(address, size, MC_CALLER_PC(), false);
}
MC_DISTANT_STUB(__tsan_write_range, mc_hook_write_range);
MC_HIDDEN void mc_hook_write_range(void* address, size_t size) {
  if (size != 0) Plain(address, size, kWrite, MC_CALLER_PC());
}
MC_EXPORT void __tsan_read_range_pc(const void* address, size_t size, void* pc) {
  if (size != 0) PlainRead(address, size, reinterpret_cast<uint64_t>(pc), false);
}
MC_EXPORT void __tsan_write_range_pc(void* address, size_t size, void* pc) {
  if (size != 0) Plain(address, size, kWrite, reinterpret_cast<uint64_t>(pc));
}
MC_DISTANT_STUB(__tsan_vptr_update, mc_hook_vptr_update);
MC_HIDDEN void mc_hook_vptr_update(void** vptr, void* value) {
  // Storing the value already there is what constructors and destructors of one class do; like the
  // original runtime, do not call it a write.
  if (*vptr == value) {
    PlainRead(vptr, sizeof(void*), MC_CALLER_PC(), false);
  } else {
    Plain(vptr, sizeof(void*), kWrite, MC_CALLER_PC());
  }
}
MC_DISTANT_STUB(__tsan_vptr_read, mc_hook_vptr_read);
MC_HIDDEN void mc_hook_vptr_read(void** vptr) {
  PlainRead(vptr, sizeof(void*), MC_CALLER_PC(), false);
}

MC_EXPORT void __tsan_func_entry(void*) {}
MC_EXPORT void __tsan_func_exit() {}
MC_EXPORT void __tsan_init() {}
MC_EXPORT void __tsan_flush_memory() {}
MC_EXPORT void __tsan_ignore_thread_begin() {}
MC_EXPORT void __tsan_ignore_thread_end() {}
MC_EXPORT void __tsan_acquire(void*) {}
MC_EXPORT void __tsan_release(void*) {}
