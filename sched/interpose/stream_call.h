// The lock of a FILE (flockfile), as an event.
//
// The C library locks a stream in each of its functions, with a lock of its own that mc cannot
// schedule. Here such a call is one step: it takes the lock, does its work and releases it, and is
// recorded so; it waits before if another thread has locked the stream by flockfile. The lock's
// state is the C library's own, in the memory of the stream. Two things follow from it:
//  * what ftrylockfile would find while another thread is inside a call is not explored; it is not
//    supported;
//  * output goes to standard output and standard error in whatever order: nobody sees it again. So
//    calls for those two only look whether another thread holds the lock, which commutes, and no
//    thread is preempted before that. Only what decides for all that follow whether it is lost does
//    not commute: whether narrow or wide characters came first, and what opens or closes the
//    stream.
#ifndef MC_SCHED_INTERPOSE_STREAM_CALL_H_
#define MC_SCHED_INTERPOSE_STREAM_CALL_H_

#include <stdio.h>

#include <cstdint>

namespace mc::sched {

// What a function makes of the orientation of the stream, if it has none yet: it is for narrow or
// for wide characters from then on. kAny: the function asks for it, or puts another file in place.
enum class StreamUse { kNarrow, kWide, kAny };

// Lives while the C library's function is called; the program runs.
class StreamCall {
 public:
  StreamCall(FILE* file, uint64_t pc, StreamUse use = StreamUse::kNarrow);
  ~StreamCall();
  StreamCall(const StreamCall&) = delete;
  StreamCall& operator=(const StreamCall&) = delete;

 private:
  FILE* file_ = nullptr;  // that was taken; null: nothing to release
  uint64_t pc_;
};

// flockfile and funlockfile.
void LockStream(FILE* file, uint64_t pc);
void UnlockStream(FILE* file, uint64_t pc);

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_STREAM_CALL_H_
