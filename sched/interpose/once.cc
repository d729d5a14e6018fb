// pthread_once, and the guards of function-local statics. This file is compiled with exceptions:
// the program's pass through it.
#include <pthread.h>

#include "sched/interpose/hook.h"
#include "sched/interpose/object_views.h"
#include "sched/interpose/once_operations.h"
#include "sched/interpose/real.h"

namespace mc::sched {

namespace {

Cell OnceCell(const volatile void* object) { return CellOf(CellKind::kMutex, object); }

const OnceKind kOnce = {
    "once control", OperationDetail::kOnce,
    [](const volatile void* object) { return ViewOf<OnceView>(object).done(); },
    [](const volatile void* object) { return ViewOf<OnceView>(object).owner(); },
    [](const Thread& thread) { return !ViewAt<OnceView>(thread.wait_object).running(); }};

const OnceKind kStatic = {
    "static variable with the guard", OperationDetail::kStaticInitialisation,
    [](const volatile void* object) { return ViewOf<StaticGuardView>(object).done != 0; },
    [](const volatile void* object) { return ViewOf<StaticGuardView>(object).owner; },
    [](const Thread& thread) { return ViewAt<StaticGuardView>(thread.wait_object).owner == 0; }};

// Ends a run of the routine, also one that an exception ends.
class OnceRun {
 public:
  OnceRun(OnceView& view, uint64_t pc) : view_(view), pc_(pc) {}
  ~OnceRun() {
    EngineScope scope;
    EndOnce(&view_, pc_);
    g_scheduler.NoteObjectChange(&view_, sizeof view_);
    view_.state = finished_ ? OnceView::kDone : OnceView::kFresh;
  }
  OnceRun(const OnceRun&) = delete;
  OnceRun& operator=(const OnceRun&) = delete;
  void Finished() { finished_ = true; }

 private:
  OnceView& view_;
  const uint64_t pc_;
  bool finished_ = false;
};

}  // namespace

bool BeginOnce(const OnceKind& kind, const volatile void* object, uint64_t pc) {
  Thread& thread = g_scheduler.current();
  const Cell cell = OnceCell(object);
  BeforeOperation(kPpLock, pc, kind.detail);
  bool waited = false;
  if (kind.owner(object) != 0) {
    if (kind.owner(object) == OwnerOf(thread)) {
      Misuse("the initialisation of the " + NameOfObject(kind.name, object) + " waits for itself",
             pc, 0);
    }
    if (!g_scheduler.Mutated(EventModelMutation::kBlockTest)) {
      g_scheduler.RecordCell(cell, kRead, kValueRelevant | kBlockingTest, pc);
    }
    thread.wait_object = reinterpret_cast<uintptr_t>(object);
    g_scheduler.EndBlock(MakeOperation(OperationKind::kLock, cell, pc, kind.detail),
                         kind.is_settled);
    waited = true;
  }
  const bool done = kind.is_done(object);
  // Who finds it done comes after whoever did it, and holds nothing.
  g_scheduler.RecordCell(cell, done ? kRead : kReadWrite, kValueRelevant | kAcquire, pc);
  // One that has waited was certain to write (its pending footprint), whatever it finds now.
  if (done && waited) g_scheduler.RecordCell(cell, kReadWrite, kValueRelevant, pc);
  if (!done) {
    g_scheduler.Ledger(cell, 0, OwnerOf(thread));
    RememberHeld(thread, object, pc);
    g_scheduler.Progress();
  }
  AfterOperation(0);
  return !done;
}

void EndOnce(const volatile void* object, uint64_t pc) {
  Thread& thread = g_scheduler.current();
  BeforeOperation(kPpUnlock, pc, OperationDetail::kUnlock);
  if (!g_scheduler.Mutated(EventModelMutation::kUnlock)) {
    g_scheduler.RecordCell(OnceCell(object), kWrite, kRelease, pc);
  }
  g_scheduler.Ledger(OnceCell(object), OwnerOf(thread), 0);
  ForgetHeld(thread, object);
  g_scheduler.Progress();
  AfterOperation(kPpUnlock);
}

void RunOnce(void* control, void (*routine)(), uint64_t pc) {
  OnceView& view = ViewOf<OnceView>(control);
  {
    EngineScope scope;
    if (!BeginOnce(kOnce, control, pc)) return;
    g_scheduler.NoteObjectChange(&view, sizeof view);
    view.state = OwnerOf(g_scheduler.current()) << 2 | OnceView::kRunningBit;
  }
  OnceRun run(view, pc);
  routine();
  run.Finished();
}

}  // namespace mc::sched

using namespace mc::sched;

MC_HOOK int pthread_once(pthread_once_t* control, void (*routine)()) {
  if (!g_scheduler.program_running()) return Real().pthread_once(control, routine);
  RunOnce(control, routine, MC_CALLER_PC());
  return 0;
}

// The Itanium C++ ABI's interface for function-local statics (3.3.3). The compiler's own test of
// the first byte is an atomic load that the program makes.
MC_HOOK int __cxa_guard_acquire(uint64_t* guard) {
  if (!g_scheduler.program_running()) return Real().__cxa_guard_acquire(guard);
  EngineScope scope;
  if (!BeginOnce(kStatic, guard, MC_CALLER_PC())) return 0;
  ViewOf<StaticGuardView>(guard).owner = OwnerOf(g_scheduler.current());
  return 1;
}

MC_HOOK void __cxa_guard_release(uint64_t* guard) {
  if (!g_scheduler.program_running()) return Real().__cxa_guard_release(guard);
  EngineScope scope;
  const uint64_t pc = MC_CALLER_PC();
  StaticGuardView& view = ViewOf<StaticGuardView>(guard);
  EndOnce(guard, pc);
  g_scheduler.RecordMemory(reinterpret_cast<uintptr_t>(guard), 1, kWrite, kAtomic, pc,
                           MemoryOrder::kRelease);
  view.owner = 0;
  view.done = 1;
}

MC_HOOK void __cxa_guard_abort(uint64_t* guard) {
  if (!g_scheduler.program_running()) return Real().__cxa_guard_abort(guard);
  EngineScope scope;
  EndOnce(guard, MC_CALLER_PC());
  ViewOf<StaticGuardView>(guard).owner = 0;
}
