// pthread_barrier_*. An arrival ends the block; the departure is the thread's next one, enabled
// once the generation is full (spec optimal-dpor 1.4, Barriers).
//
// Arrivals commute until a thread more than the barrier counts is seen arriving; the job then
// starts again with the full model, in which an arrival is also a read-modify-write of the
// barrier's state.
#include <errno.h>
#include <pthread.h>

#include <algorithm>
#include <vector>

#include "sched/interpose/hook.h"
#include "sched/interpose/object_views.h"
#include "sched/interpose/real.h"

namespace mc::sched {

namespace {

// Thread::wait_argument of a thread at a barrier.
enum Standing : uint64_t { kWaitsForOthers = 16, kMayLeave = 17, kMayLeaveAsSerialThread = 18 };

Cell StateCell(const BarrierView& barrier) { return CellOf(CellKind::kBarrierState, &barrier); }

Cell GenerationCell(const BarrierView& barrier, uint32_t generation) {
  return MakeCell(CellKind::kBarrierGeneration,
                  reinterpret_cast<uintptr_t>(&barrier) * 256 + generation % 256);
}

void Touch(const BarrierView& barrier, uint8_t mode, uint64_t pc) {
  TouchObject(&barrier, sizeof(pthread_barrier_t), mode, pc);
}

// The barrier's memory may be gone by then: the last thread to arrive says it in the Thread.
bool MayLeave(const Thread& thread) { return thread.wait_argument != kWaitsForOthers; }

std::vector<Thread*> ThreadsAt(const BarrierView& barrier) {
  std::vector<Thread*> waiting;
  for (uint32_t id = 0; id < g_scheduler.thread_limit(); ++id) {
    Thread& thread = g_scheduler.ThreadById(static_cast<ThreadId>(id));
    if (thread.exists && thread.wait_argument == kWaitsForOthers &&
        thread.wait_object == reinterpret_cast<uintptr_t>(&barrier)) {
      waiting.push_back(&thread);
    }
  }
  return waiting;
}

// How many threads have used the barrier since it was initialised, `thread` included.
uint32_t CountUsers(Thread& thread, const BarrierView& barrier) {
  const uintptr_t address = reinterpret_cast<uintptr_t>(&barrier);
  const auto uses = [address](const Thread& t) {
    return std::find(t.barriers.begin(), t.barriers.end(), address) != t.barriers.end();
  };
  if (!uses(thread)) thread.barriers.push_back(address);
  uint32_t users = 0;
  for (uint32_t id = 0; id < g_scheduler.thread_limit(); ++id) {
    const Thread& other = g_scheduler.ThreadById(static_cast<ThreadId>(id));
    users += other.exists && uses(other) ? 1 : 0;
  }
  return users;
}

void ForgetUsers(const BarrierView& barrier) {
  for (uint32_t id = 0; id < g_scheduler.thread_limit(); ++id) {
    Thread& thread = g_scheduler.ThreadById(static_cast<ThreadId>(id));
    std::erase(thread.barriers, reinterpret_cast<uintptr_t>(&barrier));
  }
}

bool ArrivalsCommute() {
  if (g_scheduler.Mutated(EventModelMutation::kBarrierCommute)) return true;
  return g_scheduler.Refined(kRefineBarriers) && !g_scheduler.options().barrier_full_model;
}

void OpenBarrier(Thread& last, BarrierView& barrier) {
  std::vector<Thread*> waiting = ThreadsAt(barrier);
  Thread* serial = &last;
  for (Thread* thread : waiting) {
    // Who is the serial thread must not depend on the order of arrivals: the one with the lowest
    // id.
    if (thread->id < serial->id) serial = thread;
    thread->wait_argument = kMayLeave;
    RaiseClock(&thread->clock_ns, barrier.clock_ns);
  }
  last.wait_argument = kMayLeave;
  serial->wait_argument = kMayLeaveAsSerialThread;
  RaiseClock(&last.clock_ns, barrier.clock_ns);
  barrier.arrived = 0;
  ++barrier.generation;
}

int Wait(BarrierView& barrier, uint64_t pc) {
  Thread& thread = g_scheduler.current();
  BeforeOperation(kPpThread, pc, OperationDetail::kBarrierWait);
  const bool commutes = ArrivalsCommute();
  const bool crowded = CountUsers(thread, barrier) > barrier.count;
  if (crowded && commutes && !g_scheduler.Mutated(EventModelMutation::kBarrierCommute)) {
    g_scheduler.mutable_result().barrier_overcrowded = true;
  }
  const uint32_t generation = barrier.generation;
  const Cell generation_cell = GenerationCell(barrier, generation);
  const bool is_last = barrier.arrived + 1 == barrier.count;
  if (!g_scheduler.Mutated(EventModelMutation::kBarrierArrive)) {
    if (!commutes) g_scheduler.RecordCell(StateCell(barrier), kReadWrite, kValueRelevant, pc);
    g_scheduler.RecordCell(generation_cell, kAdd, kRelease | (is_last ? kEnables : 0), pc);
  }
  Touch(barrier, kRead, pc);
  if (barrier.mark == kDestroyedMark || barrier.count == 0) {
    return Misuse("wait at the destroyed " + NameOfObject("barrier", &barrier), pc, EINVAL);
  }
  if (barrier.arrived == 0) barrier.clock_ns = 0;
  RaiseClock(&barrier.clock_ns, thread.clock_ns);
  thread.wait_object = reinterpret_cast<uintptr_t>(&barrier);
  thread.wait_argument = kWaitsForOthers;
  ++barrier.arrived;
  const uint32_t count = barrier.count;
  if (is_last) OpenBarrier(thread, barrier);

  Operation departure = MakeOperation(OperationKind::kBarrierDepart, generation_cell, pc,
                                      OperationDetail::kBarrierLeave);
  departure.needed = count;
  g_scheduler.EndBlock(departure, &MayLeave);
  // No access to the object's bytes here: another thread that left may destroy it already.
  if (!g_scheduler.Mutated(EventModelMutation::kBarrierDepart)) {
    g_scheduler.RecordCell(generation_cell, kRead, kAcquire, pc);
  }
  const bool serial = thread.wait_argument == kMayLeaveAsSerialThread;
  thread.wait_argument = 0;
  g_scheduler.Progress();
  AfterOperation(kPpThread);
  return serial ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}

void Initialised(BarrierView& barrier, unsigned count, uint64_t pc) {
  g_scheduler.RecordCell(StateCell(barrier), kWrite, 0, pc);
  g_scheduler.RecordCell(GenerationCell(barrier, 0), kWrite, 0, pc);
  Touch(barrier, kWrite, pc);
  barrier.arrived = barrier.generation = barrier.departed = barrier.mark = 0;
  barrier.count = count;
  barrier.clock_ns = 0;
  ForgetUsers(barrier);
  g_scheduler.Progress();
  AfterOperation(0);
}

int Destroy(BarrierView& barrier, uint64_t pc) {
  BeforeOperation(kPpLock, pc, OperationDetail::kBarrierDestroy);
  g_scheduler.RecordCell(StateCell(barrier), kReadWrite, kValueRelevant, pc);
  g_scheduler.RecordCell(GenerationCell(barrier, barrier.generation), kReadWrite, kValueRelevant,
                         pc);
  Touch(barrier, kWrite, pc);
  if (barrier.mark == kDestroyedMark) {
    return Misuse(NameOfObject("barrier", &barrier) + " is destroyed twice", pc, EINVAL);
  }
  const std::vector<Thread*> waiting = ThreadsAt(barrier);
  if (!waiting.empty()) {
    return Misuse(NameOfObject("barrier", &barrier) + " is destroyed while " +
                      NameOfOwner(OwnerOf(*waiting[0])) + " waits at it",
                  pc, EBUSY);
  }
  barrier.mark = kDestroyedMark;
  ForgetUsers(barrier);
  g_scheduler.Progress();
  AfterOperation(0);
  return 0;
}

}  // namespace

}  // namespace mc::sched

using namespace mc::sched;

MC_HOOK int pthread_barrier_init(pthread_barrier_t* barrier,
                                 const pthread_barrierattr_t* attributes, unsigned count) {
  if (!g_scheduler.program_running()) {
    const int result = Real().pthread_barrier_init(barrier, attributes, count);
    if (result == 0) ViewOf<BarrierView>(barrier).mark = 0;
    return result;
  }
  EngineScope scope;
  const uint64_t pc = MC_CALLER_PC();
  if (count == 0) return EINVAL;
  BeforeOperation(kPpLock, pc, OperationDetail::kBarrierInit);
  const int result = Real().pthread_barrier_init(barrier, attributes, count);
  if (result == 0) Initialised(ViewOf<BarrierView>(barrier), count, pc);
  return result;
}

MC_HOOK int pthread_barrier_destroy(pthread_barrier_t* barrier) {
  if (!g_scheduler.program_running()) return Real().pthread_barrier_destroy(barrier);
  EngineScope scope;
  return Destroy(ViewOf<BarrierView>(barrier), MC_CALLER_PC());
}

MC_HOOK int pthread_barrier_wait(pthread_barrier_t* barrier) {
  if (!g_scheduler.program_running()) return Real().pthread_barrier_wait(barrier);
  EngineScope scope;
  return Wait(ViewOf<BarrierView>(barrier), MC_CALLER_PC());
}
