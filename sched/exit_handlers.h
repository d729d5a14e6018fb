// Exit handlers and static destructors of the program, and the destructors of its threads.
//
// The list that atexit and static constructors build is kept here, not in the C library, so that it
// can be cut back to the snapshot and run once per execution.
#ifndef MC_SCHED_EXIT_HANDLERS_H_
#define MC_SCHED_EXIT_HANDLERS_H_

#include <vector>

namespace mc::sched {

struct ExitHandler {
  void (*function)(void*);
  void* argument;
  bool of_program;  // not of a library that is not under test
};

// Forgets the handlers that an execution registered.
void ResetExitHandlers();
// For checkpoints: the handlers that the running execution has registered.
struct AddedExitHandlers {
  std::vector<ExitHandler> at_exit, at_quick_exit;
};
void SaveExitHandlers(AddedExitHandlers* out);
void RestoreExitHandlers(const AddedExitHandlers& from);

bool HasExitHandlers();
// Runs the handlers, last registered first, as program code; then the program's fini array.
void RunExitHandlers();
void RunQuickExitHandlers();

// Runs thread_local destructors and key destructors of the current thread, as program code.
void RunThreadExitHandlers();

}  // namespace mc::sched

#endif  // MC_SCHED_EXIT_HANDLERS_H_
