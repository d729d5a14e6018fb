// Recording what functions of the C library do to buffers of the program from inside.
#ifndef MC_SCHED_INTERPOSE_BUFFER_ACCESS_H_
#define MC_SCHED_INTERPOSE_BUFFER_ACCESS_H_

#include <cstddef>
#include <cstdint>

namespace mc::sched {

// All do nothing while the engine's own code runs, and for no bytes.
void Reads(const void* place, size_t size, uint64_t pc);
void Writes(void* place, size_t size, uint64_t pc);
// Both at once: no preemption lies in between.
void ReadsAndWrites(void* place, size_t size, uint64_t pc);

// For functions that tell only afterwards how much they have written: the place is looked at
// before, the extent recorded after.
void WillWrite(const void* place, size_t size, uint64_t pc);
void HasWritten(const void* place, size_t size, uint64_t pc);
// The same for reading: the extent is known only now, and the place was looked at before.
void HasRead(const void* place, size_t size, uint64_t pc);

// Not the C library's own function, which would be recorded.
size_t LengthOf(const char* text);
// With its end; null is allowed.
void ReadsString(const char* text, uint64_t pc);

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_BUFFER_ACCESS_H_
