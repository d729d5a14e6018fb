#include "sched/interpose/readable_memory.h"

#include <ucontext.h>

#if defined(__x86_64__)
asm(".text\n.balign 16\n.hidden mc_try_to_read\n.globl mc_try_to_read\n"
    ".type mc_try_to_read,@function\n"
    "mc_try_to_read:\n"
    "  .cfi_startproc\n"
    "  mov $1, %eax\n"
    ".hidden mc_read_that_may_fail\n.globl mc_read_that_may_fail\n"
    "mc_read_that_may_fail:\n"
    "  movzbl (%rdi), %ecx\n"
    "  ret\n"
    ".hidden mc_read_has_failed\n.globl mc_read_has_failed\n"
    "mc_read_has_failed:\n"
    "  xor %eax, %eax\n"
    "  ret\n"
    "  .cfi_endproc\n"
    ".size mc_try_to_read,.-mc_try_to_read\n");
#else
#error "readable_memory: only x86-64 is supported"
#endif

extern "C" {
extern __attribute__((visibility("hidden"))) const char mc_read_that_may_fail[];
extern __attribute__((visibility("hidden"))) const char mc_read_has_failed[];
}

namespace mc::sched {

bool IsFaultOfTry(void* raw_context) {
  greg_t& place = static_cast<ucontext_t*>(raw_context)->uc_mcontext.gregs[REG_RIP];
  if (place != reinterpret_cast<greg_t>(mc_read_that_may_fail)) return false;
  place = reinterpret_cast<greg_t>(mc_read_has_failed);
  return true;
}

}  // namespace mc::sched
