// What printf and scanf do to the program's memory besides their buffers: the strings that a %s
// reads, and what scanf writes.
#ifndef MC_SCHED_INTERPOSE_FORMAT_ACCESS_H_
#define MC_SCHED_INTERPOSE_FORMAT_ACCESS_H_

#include <cstdarg>
#include <cstdint>

namespace mc::sched {

// Before the call. Positional arguments (%1$s) are not looked at. Leaves the caller's list alone.
void ReadsFormatted(const char* format, va_list arguments, uint64_t pc);
void ReadsFormatted(const wchar_t* format, va_list arguments, uint64_t pc);
// After a call that has assigned `count` results.
void HasScanned(const char* format, va_list arguments, int count, uint64_t pc);
void HasScanned(const wchar_t* format, va_list arguments, int count, uint64_t pc);

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_FORMAT_ACCESS_H_
