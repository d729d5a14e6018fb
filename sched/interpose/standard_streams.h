// Streams of the C++ library, which are compiled into it: standard_streams.cc.
#ifndef MC_SCHED_INTERPOSE_STANDARD_STREAMS_H_
#define MC_SCHED_INTERPOSE_STANDARD_STREAMS_H_

namespace mc::sched {

// std::cout and its like may be used by several threads at once. To be called before main.
void FindStandardStreams();

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_STANDARD_STREAMS_H_
