// libatomic's interface: std::atomic<T> of sizes the compiler has no instruction for, and the
// 16-byte operations. Compiled programs call these whether or not they are instrumented.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "sched/interpose/export.h"
#include "sched/scheduler.h"

namespace mc::sched {
namespace {

using uint128_t = unsigned __int128;

// Outside controlled executions real threads may run: one lock for all wide atomics.
class PlainLock {
 public:
  PlainLock() {
    while (__atomic_test_and_set(&taken_, __ATOMIC_ACQUIRE)) {
    }
  }
  ~PlainLock() { __atomic_clear(&taken_, __ATOMIC_RELEASE); }

 private:
  static inline bool taken_ = false;
};

// Runs `operation`, which returns whether it wrote, as one atomic access. `most`: the mode
// it has if it writes.
template <typename Operation>
void Perform(const volatile void* object, size_t size, uint8_t most, int order, uint64_t pc,
             Operation operation) {
  if (!g_program_running) {
    PlainLock lock;
    operation();
    return;
  }
  EngineScope scope;
  const auto address = reinterpret_cast<uintptr_t>(object);
  g_scheduler.BeforeAccess(address, size, kReadWrite, kAtomic, pc);
  g_scheduler.BeginAttempt(address, size, most, kAtomic, pc);
  // An instruction of this width writes whatever it finds (atomic.cc).
  if (most == kReadWrite && size == sizeof(uint128_t)) {
    asm volatile("orb $0, %0"
                 : "+m"(*static_cast<unsigned char*>(const_cast<void*>(object)))
                 :
                 : "cc");
  }
  const uint8_t mode = operation();
  g_scheduler.EndAttempt();
  g_scheduler.RecordMemory(address, size, mode, kAtomic, pc,
                           order > 5 ? MemoryOrder::kSeqCst : static_cast<MemoryOrder>(order));
}

void Load(size_t size, const void* object, void* result, int order, uint64_t pc) {
  Perform(object, size, kRead, order, pc, [&] {
    memcpy(result, object, size);
    return kRead;
  });
}
void Store(size_t size, void* object, const void* value, int order, uint64_t pc) {
  Perform(object, size, kWrite, order, pc, [&] {
    memcpy(object, value, size);
    return kWrite;
  });
}
void Exchange(size_t size, void* object, const void* value, void* result, int order, uint64_t pc) {
  Perform(object, size, kReadWrite, order, pc, [&] {
    for (size_t i = 0; i < size; ++i) {
      const unsigned char old = static_cast<unsigned char*>(object)[i];
      static_cast<unsigned char*>(object)[i] = static_cast<const unsigned char*>(value)[i];
      static_cast<unsigned char*>(result)[i] = old;
    }
    return kReadWrite;
  });
}
bool CompareExchange(size_t size, void* object, void* expected, const void* desired, int order,
                     uint64_t pc) {
  bool equal = false;
  Perform(object, size, kReadWrite, order, pc, [&] {
    equal = memcmp(object, expected, size) == 0;
    memcpy(equal ? object : expected, equal ? desired : object, size);
    return equal ? kReadWrite : kRead;
  });
  return equal;
}

template <typename Combine>
uint128_t Fetch(void* object, int order, uint64_t pc, Combine combine) {
  uint128_t old = 0;
  Perform(object, sizeof old, kReadWrite, order, pc, [&] {
    memcpy(&old, object, sizeof old);
    const uint128_t next = combine(old);
    memcpy(object, &next, sizeof next);
    return kReadWrite;
  });
  return old;
}

}  // namespace
}  // namespace mc::sched

using mc::sched::uint128_t;

// GCC knows these names as builtins with other types; assembler names keep the two apart.
#define MC_LIBATOMIC(name) __asm__(name)

extern "C" {
__attribute__((visibility("default"))) void mc_atomic_load(size_t, const void*, void*, int)
    MC_LIBATOMIC("__atomic_load");
__attribute__((visibility("default"))) void mc_atomic_store(size_t, void*, const void*, int)
    MC_LIBATOMIC("__atomic_store");
__attribute__((visibility("default"))) void mc_atomic_exchange(size_t, void*, const void*, void*,
                                                               int)
    MC_LIBATOMIC("__atomic_exchange");
__attribute__((visibility("default"))) bool mc_atomic_compare_exchange(size_t, void*, void*,
                                                                       const void*, int, int)
    MC_LIBATOMIC("__atomic_compare_exchange");
__attribute__((visibility("default"))) bool mc_atomic_is_lock_free(size_t, const void*)
    MC_LIBATOMIC("__atomic_is_lock_free");
__attribute__((visibility("default"))) uint128_t mc_atomic_load_16(const void*, int)
    MC_LIBATOMIC("__atomic_load_16");
__attribute__((visibility("default"))) void mc_atomic_store_16(void*, uint128_t, int)
    MC_LIBATOMIC("__atomic_store_16");
__attribute__((visibility("default"))) uint128_t mc_atomic_exchange_16(void*, uint128_t, int)
    MC_LIBATOMIC("__atomic_exchange_16");
__attribute__((visibility("default"))) bool mc_atomic_compare_exchange_16(void*, void*, uint128_t,
                                                                          int, int)
    MC_LIBATOMIC("__atomic_compare_exchange_16");
}

void mc_atomic_load(size_t size, const void* object, void* result, int order) {
  mc::sched::Load(size, object, result, order, MC_CALLER_PC());
}
void mc_atomic_store(size_t size, void* object, const void* value, int order) {
  mc::sched::Store(size, object, value, order, MC_CALLER_PC());
}
void mc_atomic_exchange(size_t size, void* object, const void* value, void* result, int order) {
  mc::sched::Exchange(size, object, value, result, order, MC_CALLER_PC());
}
bool mc_atomic_compare_exchange(size_t size, void* object, void* expected, const void* desired,
                                int order, int) {
  return mc::sched::CompareExchange(size, object, expected, desired, order, MC_CALLER_PC());
}
bool mc_atomic_is_lock_free(size_t size, const void*) {
  return size == 1 || size == 2 || size == 4 || size == 8;
}
uint128_t mc_atomic_load_16(const void* object, int order) {
  uint128_t result;
  mc::sched::Load(16, object, &result, order, MC_CALLER_PC());
  return result;
}
void mc_atomic_store_16(void* object, uint128_t value, int order) {
  mc::sched::Store(16, object, &value, order, MC_CALLER_PC());
}
uint128_t mc_atomic_exchange_16(void* object, uint128_t value, int order) {
  uint128_t result;
  mc::sched::Exchange(16, object, &value, &result, order, MC_CALLER_PC());
  return result;
}
bool mc_atomic_compare_exchange_16(void* object, void* expected, uint128_t desired, int order,
                                   int) {
  return mc::sched::CompareExchange(16, object, expected, &desired, order, MC_CALLER_PC());
}

#define MC_FETCH_16(name, expression)                                                      \
  extern "C" __attribute__((visibility("default"))) uint128_t mc_atomic_fetch_##name##_16( \
      void*, uint128_t, int) MC_LIBATOMIC("__atomic_fetch_" #name "_16");                  \
  uint128_t mc_atomic_fetch_##name##_16(void* object, uint128_t operand, int order) {      \
    return mc::sched::Fetch(object, order, MC_CALLER_PC(),                                 \
                            [=](uint128_t old) -> uint128_t { return expression; });       \
  }
MC_FETCH_16(add, old + operand)
MC_FETCH_16(sub, old - operand)
MC_FETCH_16(and, old& operand)
MC_FETCH_16(or, old | operand)
MC_FETCH_16(xor, old ^ operand)
MC_FETCH_16(nand, ~(old& operand))
