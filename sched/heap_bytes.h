// Filling and copying bytes without calling the C library.
//
// Inside the harness runtime memset and memcpy are the interposed ones, which allocate nothing but
// are not there yet when the dynamic loader first asks for memory. The empty asm statements keep
// the compiler from turning the loops back into calls.
#ifndef MC_SCHED_HEAP_BYTES_H_
#define MC_SCHED_HEAP_BYTES_H_

#include <cstddef>
#include <cstdint>

namespace mc::sched {

inline void FillBytes(void* begin, uint8_t value, size_t size) {
  char* p = static_cast<char*>(begin);
#if defined(__x86_64__)
  if (size >= 512) {  // below that, the start-up cost of the string instruction dominates
    asm volatile("rep stosb" : "+D"(p), "+c"(size) : "a"(value) : "memory");
    return;
  }
#endif
  const uint64_t word = value * 0x0101010101010101u;
  for (; size >= 8; size -= 8, p += 8) {
    __builtin_memcpy(p, &word, 8);
    asm volatile("" : "+r"(p));
  }
  for (; size > 0; --size, ++p) {
    *p = static_cast<char>(value);
    asm volatile("" : "+r"(p));
  }
}

// The ranges must not overlap.
inline void CopyBytes(void* to, const void* from, size_t size) {
#if defined(__x86_64__)
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
#else
  char* d = static_cast<char*>(to);
  const char* s = static_cast<const char*>(from);
  for (; size >= 8; size -= 8, d += 8, s += 8) {
    __builtin_memcpy(d, s, 8);
    asm volatile("" : "+r"(d));
  }
  for (; size > 0; --size, ++d, ++s) {
    *d = *s;
    asm volatile("" : "+r"(d));
  }
#endif
}

}  // namespace mc::sched

#endif  // MC_SCHED_HEAP_BYTES_H_
