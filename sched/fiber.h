// Fibers and thread slots.
//
// Every thread of the program is a fiber of the one OS thread. A slot gives it a stack with a guard
// page and thread-local storage of its own: one real OS thread is parked for ever per slot, and the
// thread register points at that thread's storage while the fiber runs (thread_register.h). So
// thread_local variables, errno and the exception globals are per fiber and at distinct, repeatable
// addresses.
#ifndef MC_SCHED_FIBER_H_
#define MC_SCHED_FIBER_H_

#include <cstddef>
#include <cstdint>

namespace mc::sched {

inline constexpr uintptr_t kFiberStackBase = 0x710000000000;
inline constexpr size_t kFiberStackStride = size_t{128} << 20;  // stack and guard of a slot
inline constexpr size_t kFiberStackSize = size_t{8} << 20;      // at first
inline constexpr size_t kMaxFiberStackSize = size_t{120} << 20;
inline constexpr uintptr_t kSlotThreadBase = 0x718000000000;  // stacks of the parked threads
inline constexpr size_t kSlotThreadStride = size_t{64} << 20;  // most is not mapped

// Is `address` in the guard area below some slot's stack?
inline bool IsStackGuard(uintptr_t address) {
  if (address < kFiberStackBase || address >= kSlotThreadBase) return false;
  return (address - kFiberStackBase) % kFiberStackStride < kFiberStackStride - kFiberStackSize;
}
// Stack or thread-local storage of a thread, but for main's storage.
inline bool IsThreadMemory(uintptr_t address) {
  constexpr size_t kSlots = (kSlotThreadBase - kFiberStackBase) / kFiberStackStride;
  return address - kFiberStackBase < kSlotThreadBase - kFiberStackBase + kSlots * kSlotThreadStride;
}
// Index of the slot that the memory belongs to.
inline size_t SlotOfMemory(uintptr_t address) {
  return address < kSlotThreadBase ? (address - kFiberStackBase) / kFiberStackStride
                                   : (address - kSlotThreadBase) / kSlotThreadStride;
}
inline bool IsFiberStack(uintptr_t address) {
  return address >= kFiberStackBase && address < kSlotThreadBase;
}

struct Slot {
  uintptr_t thread_pointer = 0;
  uintptr_t stack_low = 0, stack_high = 0;
  unsigned char* initial_tls = nullptr;  // copy of the static TLS block as a fresh thread has it
  uintptr_t initial_texts[2] = {};       // what TextsOfThread() refers to in a fresh thread
};

// Finds out what storage a thread has, and chooses how the thread register is written
// (thread_register.h). Called once, before any slot is made.
void InitialiseFibers();

// Makes slot `index` (its stack; and, except for slot 0, which is the main OS thread, its parked
// thread). False with errno if the system refuses.
bool MakeSlot(uint32_t index, Slot* slot);

// Makes the stack of the slot at least `size` bytes large, for good; at most kMaxFiberStackSize.
// False with errno if the system refuses.
bool GrowStack(Slot* slot, size_t size);

// Puts the slot's static thread-local storage back to its initial image.
void ResetSlotTls(const Slot& slot);
// The size of that storage; it ends at the thread pointer.
size_t SlotTlsSize();

// Where the C library's descriptor of a thread refers to the texts that strerror and strsignal have
// made for it; null if it does so elsewhere. Part of what ResetSlotTls puts back.
struct TextsOfThread {
  uintptr_t* error = nullptr;
  uintptr_t* signal = nullptr;
};
TextsOfThread FindTextsOfThread(uintptr_t thread_pointer);

// Do fibers begin on a stack that holds nothing of earlier executions, as far as the spin rule
// looks (spin.h)? That takes time, and makes a difference to programs that are not optimised.
extern bool g_clean_stacks;
void ClearStack(uintptr_t stack_low, uintptr_t stack_high);

// Boost.Context's assembly routines (boost::context::detail), declared here because they are all
// that is needed of it.
struct Transfer {
  void* context;
  void* data;
};
extern "C" Transfer jump_fcontext(void* const to, void* data);
extern "C" void* make_fcontext(void* stack_top, size_t size, void (*function)(Transfer));

// Forgets which exceptions floating-point operations on long double have raised: jump_fcontext
// changes all of that environment but these flags.
inline void ClearFloatingFlags() {
#if defined(__x86_64__)
  asm volatile("fnclex");
#endif
}
// A fiber has a floating-point environment of its own, which begins as that of its creator: of the
// calling code, and of a fiber that make_fcontext has made.
inline void ReadFloatingControl(uint32_t* vector_control, uint16_t* scalar_control) {
#if defined(__x86_64__)
  asm volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(*vector_control), "=m"(*scalar_control));
#endif
}
inline void SetFloatingControl(void* context, uint32_t vector_control, uint16_t scalar_control) {
#if defined(__x86_64__)
  static_cast<uint32_t*>(context)[0] = vector_control;
  static_cast<uint16_t*>(context)[2] = scalar_control;
#endif
}

}  // namespace mc::sched

#endif  // MC_SCHED_FIBER_H_
