// MC_SPIN_STUB: an exported hook that saves the caller's callee-saved registers before anything
// else.
//
// The spin rule (sched/spin.h) compares a thread's registers at two calls of a hook. By the time
// C++ code runs, they may have been saved and reused; so the exported symbol is a few instructions
// that store them in g_entry_registers and go on to the implementation.
#ifndef MC_SCHED_INTERPOSE_SPIN_STUB_H_
#define MC_SCHED_INTERPOSE_SPIN_STUB_H_

#include "sched/interpose/caller.h"
#include "sched/spin.h"

extern "C" __attribute__((visibility("hidden"))) mc::sched::EntryRegisters g_entry_registers;

#if defined(__x86_64__)
#define MC_SPIN_STUB_TO(exported, enter)                                                   \
  asm(".text\n.balign 16\n.globl " #exported "\n.type " #exported ",@function\n" #exported \
      ":\n"                                                                                \
      "  endbr64\n"                                                                        \
      "  mov %rsp, g_entry_registers(%rip)\n"                                              \
      "  mov %rbx, g_entry_registers+8(%rip)\n"                                            \
      "  mov %rbp, g_entry_registers+16(%rip)\n"                                           \
      "  mov %r12, g_entry_registers+24(%rip)\n"                                           \
      "  mov %r13, g_entry_registers+32(%rip)\n"                                           \
      "  mov %r14, g_entry_registers+40(%rip)\n"                                           \
      "  mov %r15, g_entry_registers+48(%rip)\n" enter ".size " #exported ",.-" #exported "\n")
#define MC_SPIN_STUB(exported, implementation) \
  MC_SPIN_STUB_TO(exported, MC_ENTER_HOOK(implementation))
// For a hook that has more arguments than registers take.
#define MC_SPIN_STUB_WITH_STACK(exported, implementation) \
  MC_SPIN_STUB_TO(exported, "  jmp " #implementation "\n")
#else
#error "MC_SPIN_STUB: only x86-64 is supported"
#endif

#endif  // MC_SCHED_INTERPOSE_SPIN_STUB_H_
