// A system call made by the engine itself, as the kernel takes it: past the C library, whose
// functions may be the program's. Returns what the kernel does: -errno on failure.
#ifndef MC_SCHED_INTERPOSE_KERNEL_CALL_H_
#define MC_SCHED_INTERPOSE_KERNEL_CALL_H_

namespace mc::sched {

inline long KernelCall(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                       long f = 0) {
  register long fourth asm("r10") = d;
  register long fifth asm("r8") = e;
  register long sixth asm("r9") = f;
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
               : "rcx", "r11", "memory");
  return result;
}

template <typename T>
long AddressOf(T* place) {
  return reinterpret_cast<long>(place);
}

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_KERNEL_CALL_H_
