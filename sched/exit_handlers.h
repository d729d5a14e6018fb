// Exit handlers and static destructors of the program, and the destructors of its threads.
//
// The list that atexit and static constructors build is kept here, not in the C library, so that it
// can be cut back to the snapshot and run once per execution.
#ifndef MC_SCHED_EXIT_HANDLERS_H_
#define MC_SCHED_EXIT_HANDLERS_H_

namespace mc::sched {

// Forgets the handlers that an execution registered.
void ResetExitHandlers();
bool HasExitHandlers();
// Runs the handlers, last registered first, as program code; then the program's fini array.
void RunExitHandlers();
void RunQuickExitHandlers();

// Runs thread_local destructors and key destructors of the current thread, as program code.
void RunThreadExitHandlers();

}  // namespace mc::sched

#endif  // MC_SCHED_EXIT_HANDLERS_H_
