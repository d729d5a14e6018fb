#include "sched/interpose/caller.h"

#include "sched/fiber.h"

MC_NAMED_IN_ASSEMBLY uint8_t mc_keeps_distance = 0;

// Defined by every part of the program that is not optimised (mc/visible_builtins.h).
extern "C" __attribute__((weak, visibility("default"))) char mc_program_is_not_optimised;

__attribute__((constructor)) static void LookForUnoptimisedCode() {
  mc_keeps_distance = &mc_program_is_not_optimised != nullptr ? 1 : 0;
  mc::sched::g_clean_stacks = mc_keeps_distance != 0;
}

// The directives tell the unwinder how far away the caller's frame is.
asm(".text\n.balign 16\n.hidden mc_call_at_distance\n.globl mc_call_at_distance\n"
    ".hidden mc_called_at_distance\n.globl mc_called_at_distance\n"
    ".type mc_call_at_distance,@function\n"
    "mc_call_at_distance:\n"
    "  .cfi_startproc\n"
    "  lea -" MC_TEXT(MC_STACK_DISTANCE) "(%rsp), %rsp\n"
    "  .cfi_adjust_cfa_offset " MC_TEXT(MC_STACK_DISTANCE) "\n"
    "  call *%r11\n"
    "mc_called_at_distance:\n"
    "  lea " MC_TEXT(MC_STACK_DISTANCE) "(%rsp), %rsp\n"
    "  .cfi_adjust_cfa_offset -" MC_TEXT(MC_STACK_DISTANCE) "\n"
    "  ret\n"
    "  .cfi_endproc\n"
    ".size mc_call_at_distance,.-mc_call_at_distance\n");
