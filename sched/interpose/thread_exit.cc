// pthread_exit and what runs when a thread ends.
#include "sched/interpose/thread_exit.h"

#include <pthread.h>
#include <setjmp.h>
#include <string.h>
#include <unwind.h>

#include "sched/interpose/hook.h"
#include "sched/interpose/mutex_operations.h"
#include "sched/interpose/real.h"
#include "sched/interpose/thread_operations.h"
#include "sched/interpose/thread_specific.h"

namespace mc::sched {

namespace {

bool TakeDestructor(ThreadLists::Destructor* destructor) {
  EngineScope scope;
  std::vector<ThreadLists::Destructor>& list = g_scheduler.current().destructors;
  if (list.empty()) return false;
  *destructor = list.back();
  list.pop_back();
  return true;
}

// The clean-up handlers of C code (pthread_cleanup_push) form a list. Its head is part of the
// thread, not of the C library's descriptor: it goes back in time with the thread.
void PopCleanup(const __pthread_unwind_buf_t& buffer) {
  g_scheduler.current().cleanup = buffer.__pad[0];
}

[[noreturn]] void EndThread() {
  RunThreadExitHandlers();
  EngineScope scope;
  const Thread& self = g_scheduler.current();
  if (self.id == 0) g_scheduler.LeaveMain();
  g_scheduler.ExitThread(self.result, 0);
}

_Unwind_Reason_Code StopAtCleanupOrEnd(int, _Unwind_Action actions, _Unwind_Exception_Class,
                                       _Unwind_Exception*, _Unwind_Context* context, void*) {
  if (auto* const cleanup = static_cast<__pthread_unwind_buf_t*>(g_scheduler.current().cleanup)) {
    // The frame that pushed it is the first whose canonical frame address lies above it.
    if (_Unwind_GetCFA(context) > reinterpret_cast<uintptr_t>(cleanup)) {
      // It runs the handler and goes on with __pthread_unwind_next.
      longjmp(reinterpret_cast<__jmp_buf_tag*>(cleanup->__cancel_jmp_buf), 1);
    }
  }
  if ((actions & _UA_END_OF_STACK) != 0) EndThread();
  return _URC_NO_REASON;
}

// The unwinder's record of a thread's unwinding: it must outlive all frames of that thread.
_Unwind_Exception* ExceptionOfThread() {
  static _Unwind_Exception* exceptions[kMaxThreads];
  EngineScope scope;
  _Unwind_Exception*& exception = exceptions[g_scheduler.current().id];
  if (exception == nullptr) exception = new _Unwind_Exception;
  memset(exception, 0, sizeof *exception);
  return exception;
}

[[noreturn]] void UnwindThread() {
  _Unwind_ForcedUnwind(ExceptionOfThread(), &StopAtCleanupOrEnd, nullptr);
  EndThread();  // the frames cannot be unwound
}

}  // namespace

void RunThreadLocalDestructors() {
  ThreadLists::Destructor destructor;
  while (TakeDestructor(&destructor)) destructor.function(destructor.object);
}

void RunThreadExitHandlers() {
  RunThreadLocalDestructors();
  RunKeyDestructors();
  EngineScope scope;
  ReleaseRobustMutexes(g_scheduler.current());
}

void LeaveThread(void* result) {
  g_scheduler.current().result = result;
  UnwindThread();
}

}  // namespace mc::sched

using namespace mc::sched;

MC_HOOK void __pthread_unwind_next(__pthread_unwind_buf_t* buffer) {
  if (!g_scheduler.program_running()) Real().__pthread_unwind_next(buffer);
  PopCleanup(*buffer);
  UnwindThread();
}

MC_HOOK void __pthread_register_cancel(__pthread_unwind_buf_t* buffer) {
  if (!g_scheduler.program_running()) return Real().__pthread_register_cancel(buffer);
  Thread& self = g_scheduler.current();
  buffer->__pad[0] = self.cleanup;
  self.cleanup = buffer;
}

MC_HOOK void __pthread_unregister_cancel(__pthread_unwind_buf_t* buffer) {
  if (!g_scheduler.program_running()) return Real().__pthread_unregister_cancel(buffer);
  PopCleanup(*buffer);
}

// thread_local destructors: the compiler calls the first, the C++ runtime library the second.
MC_HOOK int __cxa_thread_atexit(void (*function)(void*), void* object, void* library) {
  if (!g_scheduler.program_running()) return Real().__cxa_thread_atexit(function, object, library);
  EngineScope scope;
  g_scheduler.current().destructors.push_back({function, object});
  return 0;
}

MC_HOOK int __cxa_thread_atexit_impl(void (*function)(void*), void* object, void* library) {
  if (!g_scheduler.program_running()) {
    return Real().__cxa_thread_atexit_impl(function, object, library);
  }
  EngineScope scope;
  g_scheduler.current().destructors.push_back({function, object});
  return 0;
}
