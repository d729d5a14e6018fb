// Copies of a process that runs executions, and by what they could meet.
//
// A copy, made between two executions, goes on as its original would: same addresses, same names of
// threads, same snapshot. It can run other executions of the same program at the same time, as long
// as the program does nothing that another process could notice.
//
// Implemented by interpose/other_processes.cc.
#ifndef MC_SCHED_OTHER_PROCESSES_H_
#define MC_SCHED_OTHER_PROCESSES_H_

#include <cstddef>

namespace mc::sched {

// As fork. The C library does not learn of it, so that its memory is the same in both, and the
// program does not hear of the copy's end.
int ForkCopy();

// Before the process has a second thread: from then on the kernel takes ten milliseconds to make
// room for the numbers of the engine's descriptors.
void MakeRoomForDescriptors();
// Makes a descriptor the engine's own: the program can neither close nor replace it, and what puts
// the program's descriptors back leaves it alone. Returns its number, which is another one where
// `may_move`; -1 if there is none left.
int OwnDescriptor(int descriptor, bool may_move);
void CloseOwnDescriptor(int descriptor);
// Before the program's first constructor: what is open now is of no process in particular.
void NoteInheritedDescriptors();
// Memory shared with other processes that is the engine's.
void OwnSharedMemory(const void* begin);

// Is there anything by which copies could meet: files of the program's that are open between
// executions, memory that it shares with other processes, or what HasLastingEffects tells of?
bool ProcessesWouldMeet();

}  // namespace mc::sched

#endif  // MC_SCHED_OTHER_PROCESSES_H_
