// Atomic operations: __tsan_atomicN_*. The hook performs the operation.
//
// In a controlled execution only one OS thread runs, so the operation itself needs no atomicity;
// what matters is where a preemption point lies, and the footprint: a load and a compare-exchange
// that fails are reads, the rest read and write (spec optimal-dpor 1.4). A read-modify-write that
// leaves the value as it was is a read too (refinement `silent-rmw`): it depends on the value, and
// nobody can tell that it happened.
#include <stdint.h>
#include <string.h>

#include "sched/interpose/export.h"
#include "sched/interpose/spin_stub.h"
#include "sched/scheduler.h"

namespace mc::sched {
namespace {

using uint128_t = unsigned __int128;

MemoryOrder OrderOf(int order) {
  // Hints (hardware lock elision) lie above the low bits.
  const int plain = order & 0x7fff;
  return plain > 5 ? MemoryOrder::kSeqCst : static_cast<MemoryOrder>(plain);
}

template <typename T>
void Note(const volatile T* address, uint8_t mode, int order, uint64_t pc) {
  g_scheduler.EndAttempt();
  g_scheduler.RecordMemory(reinterpret_cast<uintptr_t>(address), sizeof(T), mode, kAtomic, pc,
                           OrderOf(order));
}
template <typename T>
void Before(const volatile T* address, uint8_t mode, uint64_t pc) {
  const auto place = reinterpret_cast<uintptr_t>(address);
  g_scheduler.BeforeAccess(place, sizeof(T), kReadWrite, kAtomic, pc);
  g_scheduler.BeginAttempt(place, sizeof(T), mode, kAtomic, pc);
}

// If the memory may not be written, a read-modify-write fails before it reads, also a
// compare-exchange that would not write. Where the program's handler then allows it, others may
// change the value before this goes on: so it is one instruction that fails, and it reads nothing
// to be used later.
template <typename T>
void ProbeForWriting(volatile T* address) {
  if constexpr (sizeof(T) <= sizeof(uint64_t)) {
    asm volatile("or%z0 $0, %0" : "+m"(*address) : : "cc");
  } else {
    ProbeForWriting(reinterpret_cast<volatile uint64_t*>(address));
  }
}

template <typename T>
T Load(const volatile T* address, int order, uint64_t pc) {
  if (!g_program_running) return __atomic_load_n(address, __ATOMIC_SEQ_CST);
  EngineScope scope;
  g_scheduler.SpinPoint(pc, g_entry_registers, reinterpret_cast<uintptr_t>(address));
  Before(address, kRead, pc);
  const T value = *address;
  Note(address, kRead, order, pc);
  return value;
}

template <typename T>
void Store(volatile T* address, T value, int order, uint64_t pc) {
  if (!g_program_running) {
    __atomic_store_n(address, value, __ATOMIC_SEQ_CST);
    return;
  }
  EngineScope scope;
  Before(address, kWrite, pc);
  *address = value;
  Note(address, kWrite, order, pc);
}

enum class Rmw { kExchange, kAdd, kSub, kAnd, kOr, kXor, kNand };

template <typename T, Rmw kOperation>
T Combine(T old, T operand) {
  switch (kOperation) {
    case Rmw::kExchange:
      return operand;
    case Rmw::kAdd:
      return static_cast<T>(old + operand);
    case Rmw::kSub:
      return static_cast<T>(old - operand);
    case Rmw::kAnd:
      return static_cast<T>(old & operand);
    case Rmw::kOr:
      return static_cast<T>(old | operand);
    case Rmw::kXor:
      return static_cast<T>(old ^ operand);
    case Rmw::kNand:
      return static_cast<T>(~(old & operand));
  }
}

template <typename T, Rmw kOperation>
T ReadModifyWrite(volatile T* address, T operand, int order, uint64_t pc) {
  if (!g_program_running) {
    T old = __atomic_load_n(address, __ATOMIC_SEQ_CST);
    while (!__atomic_compare_exchange_n(address, &old, Combine<T, kOperation>(old, operand), true,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
    return old;
  }
  EngineScope scope;
  if constexpr (kOperation == Rmw::kExchange || kOperation == Rmw::kOr || kOperation == Rmw::kAnd) {
    g_scheduler.SpinPoint(pc, g_entry_registers, reinterpret_cast<uintptr_t>(address));
  }
  Before(address, kReadWrite, pc);
  ProbeForWriting(address);
  const T old = *address;
  const T next = Combine<T, kOperation>(old, operand);
  *address = next;
  const bool silent = old == next && g_scheduler.Refined(kRefineSilentRmw);
  Note(address, silent ? kRead : kReadWrite, order, pc);
  return old;
}

// A compare-exchange that fails also stores what it found. In the thread's own stack that shows in
// the state of a loop; elsewhere it is an access to memory like any other.
template <typename T>
void StoreFound(T* expected, T found, uint64_t pc) {
  const auto address = reinterpret_cast<uintptr_t>(expected);
  const Thread& self = g_scheduler.current();
  if (address >= self.stack_low && address < self.stack_high) {
    g_scheduler.NoteOwnWrite(address, sizeof(T));
  } else {
    g_scheduler.BeforeWriteToOtherStack(address, sizeof(T));
    g_scheduler.RecordMemory(address, sizeof(T), kWrite, 0, pc, MemoryOrder::kRelaxed);
  }
  *expected = found;
}

template <typename T>
bool CompareExchange(volatile T* address, T* expected, T desired, int order, int failure_order,
                     uint64_t pc) {
  if (!g_program_running) {
    return __atomic_compare_exchange_n(address, expected, desired, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
  }
  EngineScope scope;
  g_scheduler.SpinPoint(pc, g_entry_registers, reinterpret_cast<uintptr_t>(address));
  Before(address, kReadWrite, pc);
  ProbeForWriting(address);
  const T old = *address;
  if (old != *expected) {
    if (!g_scheduler.Mutated(EventModelMutation::kCasFail)) Note(address, kRead, failure_order, pc);
    StoreFound(expected, old, pc);
    return false;
  }
  *address = desired;
  Note(address, kReadWrite, order, pc);
  return true;
}

}  // namespace
}  // namespace mc::sched

using mc::sched::CompareExchange;
using mc::sched::Load;
using mc::sched::ReadModifyWrite;
using mc::sched::Rmw;
using mc::sched::Store;
using mc::sched::uint128_t;

#define MC_RMW(bits, T, name, operation)                                               \
  MC_HIDDEN T mc_hook_atomic##bits##_##name(volatile T* address, T value, int order) { \
    return ReadModifyWrite<T, operation>(address, value, order, MC_CALLER_PC());       \
  }                                                                                    \
  MC_SPIN_STUB(__tsan_atomic##bits##_##name, mc_hook_atomic##bits##_##name);

// Values of 128 bits take two registers each.
#define MC_CAS_VALUE_STUB_8 MC_SPIN_STUB
#define MC_CAS_VALUE_STUB_16 MC_SPIN_STUB
#define MC_CAS_VALUE_STUB_32 MC_SPIN_STUB
#define MC_CAS_VALUE_STUB_64 MC_SPIN_STUB
#define MC_CAS_VALUE_STUB_128 MC_SPIN_STUB_WITH_STACK

#define MC_ATOMICS(bits, T)                                                                       \
  MC_HIDDEN T mc_hook_atomic##bits##_load(const volatile T* address, int order) {                 \
    return Load<T>(address, order, MC_CALLER_PC());                                               \
  }                                                                                               \
  MC_SPIN_STUB(__tsan_atomic##bits##_load, mc_hook_atomic##bits##_load);                          \
  MC_EXPORT void __tsan_atomic##bits##_store(volatile T* address, T value, int order) {           \
    Store<T>(address, value, order, MC_CALLER_PC());                                              \
  }                                                                                               \
  MC_RMW(bits, T, exchange, Rmw::kExchange)                                                       \
  MC_RMW(bits, T, fetch_add, Rmw::kAdd)                                                           \
  MC_RMW(bits, T, fetch_sub, Rmw::kSub)                                                           \
  MC_RMW(bits, T, fetch_and, Rmw::kAnd)                                                           \
  MC_RMW(bits, T, fetch_or, Rmw::kOr)                                                             \
  MC_RMW(bits, T, fetch_xor, Rmw::kXor)                                                           \
  MC_RMW(bits, T, fetch_nand, Rmw::kNand)                                                         \
  MC_HIDDEN int mc_hook_atomic##bits##_cas_strong(volatile T* address, T* expected, T desired,    \
                                                  int order, int failure) {                       \
    return CompareExchange<T>(address, expected, desired, order, failure, MC_CALLER_PC());        \
  }                                                                                               \
  MC_SPIN_STUB(__tsan_atomic##bits##_compare_exchange_strong, mc_hook_atomic##bits##_cas_strong); \
  MC_SPIN_STUB(__tsan_atomic##bits##_compare_exchange_weak, mc_hook_atomic##bits##_cas_strong);   \
  MC_HIDDEN T mc_hook_atomic##bits##_cas_val(volatile T* address, T expected, T desired,          \
                                             int order, int failure) {                            \
    CompareExchange<T>(address, &expected, desired, order, failure, MC_CALLER_PC());              \
    return expected;                                                                              \
  }                                                                                               \
  MC_CAS_VALUE_STUB_##bits(__tsan_atomic##bits##_compare_exchange_val,                            \
                           mc_hook_atomic##bits##_cas_val);

MC_ATOMICS(8, uint8_t)
MC_ATOMICS(16, uint16_t)
MC_ATOMICS(32, uint32_t)
MC_ATOMICS(64, uint64_t)
MC_ATOMICS(128, uint128_t)

MC_DISTANT_STUB(__tsan_atomic_thread_fence, mc_hook_atomic_thread_fence);
MC_HIDDEN void mc_hook_atomic_thread_fence(int order) {
  if (!mc::sched::g_program_running) {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return;
  }
  mc::sched::EngineScope scope;
  mc::sched::MicroAccess fence;
  fence.pc = MC_CALLER_PC();
  fence.flags = mc::sched::kFence;
  fence.order = mc::sched::OrderOf(order);
  mc::sched::g_scheduler.Record(fence);
}
MC_EXPORT void __tsan_atomic_signal_fence(int) {}
