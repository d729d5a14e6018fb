// Streams of the C++ library, which are compiled into it: standard_streams.cc.
#ifndef MC_SCHED_INTERPOSE_STANDARD_STREAMS_H_
#define MC_SCHED_INTERPOSE_STANDARD_STREAMS_H_

#include <cstdint>

namespace mc::sched {

// std::cout and its like may be used by several threads at once. To be called before main.
void FindStandardStreams();

// Records that a call from `pc` gives all of them other buffers.
void ChangeStandardStreams(uint64_t pc);

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_STANDARD_STREAMS_H_
