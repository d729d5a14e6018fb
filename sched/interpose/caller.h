// Where a hook was called from, and how far from the program's frames it works.
//
// A hook runs on the stack of the program's thread, and what it leaves below the program's stack
// pointer becomes part of the program's next frames wherever they initialise nothing: in padding,
// and in variables that are not used yet. Compiled without optimisation, programs have many of
// those. The spin rule (sched/spin.h) compares frames; it must not find values of the engine there,
// which are other ones from iteration to iteration, and from execution to execution.
//
// So hooks of such programs that can be part of a loop are entered by way of mc_call_at_distance,
// which leaves room for the frames of the program in between.
#ifndef MC_SCHED_INTERPOSE_CALLER_H_
#define MC_SCHED_INTERPOSE_CALLER_H_

#include <cstdint>

// In bytes: a multiple of 16 and 8 more, which aligns the stack. What a checkpoint saves of a
// thread grows by it.
#define MC_STACK_DISTANCE 1032
#define MC_TEXT_OF(number) #number
#define MC_TEXT(number) MC_TEXT_OF(number)

// Marks the definition of a variable that assembly code names: an optimiser of the whole library
// does not see that.
#if defined(__clang__)
#define MC_NAMED_IN_ASSEMBLY __attribute__((used))
#else
#define MC_NAMED_IN_ASSEMBLY __attribute__((used, externally_visible))
#endif

extern "C" {
// 1 if part of the program is not optimised.
extern __attribute__((visibility("hidden"))) uint8_t mc_keeps_distance;
// Calls the hook in %r11, which has its arguments in registers.
__attribute__((visibility("hidden"))) void mc_call_at_distance();
// To where hooks return that were called so.
extern __attribute__((visibility("hidden"))) const char mc_called_at_distance[];
}

namespace mc::sched {

inline uint64_t CallerOf(const void* return_address, const void* frame) {
  if (return_address != mc_called_at_distance) [[likely]] {
    return reinterpret_cast<uint64_t>(return_address);
  }
  // Above the frame pointer and the return address lies what was the top of the stack at the call.
  const char* const stack = static_cast<const char*>(frame) + 2 * sizeof(void*);
  return *reinterpret_cast<const uint64_t*>(stack + MC_STACK_DISTANCE);
}

}  // namespace mc::sched

// The program's return address, as hooks record it: in the hook itself.
#define MC_CALLER_PC() mc::sched::CallerOf(__builtin_return_address(0), __builtin_frame_address(0))

#if defined(__x86_64__)
// What an exported symbol does that leads to the hook `implementation`, at a distance or not.
#define MC_ENTER_HOOK(implementation)    \
  "  cmpb $0, mc_keeps_distance(%rip)\n" \
  "  jne 1f\n"                           \
  "  jmp " #implementation               \
  "\n"                                   \
  "1:\n"                                 \
  "  lea " #implementation               \
  "(%rip), %r11\n"                       \
  "  jmp mc_call_at_distance\n"

// An exported symbol that leads to the hook `implementation` without anything else.
#define MC_DISTANT_STUB(exported, implementation)                                          \
  asm(".text\n.balign 16\n.globl " #exported "\n.type " #exported ",@function\n" #exported \
      ":\n"                                                                                \
      "  endbr64\n" MC_ENTER_HOOK(implementation) ".size " #exported ",.-" #exported "\n")
#else
#error "MC_DISTANT_STUB: only x86-64 is supported"
#endif

#endif  // MC_SCHED_INTERPOSE_CALLER_H_
