// Machine: executes programs of the tiny language one block at a time, and records every block as a
// sched::Event with the accesses that the event model prescribes (optimal-dpor 1.4).
//
// A Machine is a value: copying it copies the state of the execution, which is how the brute-force
// enumeration and the law check go back. The mutations are mistakes of the event model, made on
// purpose; they change what is recorded, never what the program does (but for kHeapOrder,
// kAssumeCuts and kAssertCuts).
#ifndef MC_TESTS_TOY_MACHINE_H_
#define MC_TESTS_TOY_MACHINE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "sched/strategy.h"
#include "sched/trace.h"
#include "tests/toy/program.h"

namespace mc::toy {

enum class ModelMutation : uint8_t {
  kNone,
  kBlockTest,      // lock inside a block finds it taken: no access
  kTryFail,        // failed trylock: no access
  kCasFail,        // failed compare-exchange: no access
  kCasWrite,       // failed compare-exchange is a write
  kSemFail,        // failed semaphore try-wait: no access
  kSignalEmpty,    // signal or broadcast without waiter: no access
  kWaitCv,         // condition wait does not write the condvar
  kWake,           // re-acquire and time-out do not read wake(t)
  kTimeoutCv,      // a time-out does not write the condvar
  kUnlock,         // unlock: no access
  kJoin,           // join does not read exit(u)
  kCreate,         // the first block of a created thread does not read start(t)
  kBarrierArrive,  // barrier arrival: no access
  kBarrierDepart,  // barrier departure does not read the generation
  kAlive,          // events do not read alive
  kHeapOrder,      // blocks of heap are named by a global counter
  kAssumeCuts,     // the execution is cut where an assumption fails
  kAssertCuts,     // the execution is cut where an assertion fails
};
const char* NameOf(ModelMutation mutation);
inline constexpr int kModelMutations = static_cast<int>(ModelMutation::kAssertCuts) + 1;

// Where a block's choices come from.
class Chooser {
 public:
  virtual ~Chooser() = default;
  virtual uint32_t Choose(uint32_t index, uint32_t arity) = 0;
};

class Machine : public sched::StateView {
 public:
  explicit Machine(const Program& program, ModelMutation mutation = ModelMutation::kNone);

  void Reset();
  // Runs the next block of `thread`, which must be enabled. Appends the event to *trace, or records
  // nothing if it is null.
  void Step(sched::ThreadId thread, Chooser& chooser, sched::Trace* trace);
  // Fills trace->ends and, but for kBlocked, trace->outcome.
  void Finish(sched::Trace* trace) const;
  bool AnyEnabled() const;
  // Hash of everything that can matter later.
  uint64_t StateHash() const;
  // No thread can run although one is neither finished nor stopped, and none has failed.
  bool Deadlocked() const;
  bool assumption_failed() const { return assumption_failed_; }
  bool assertion_failed() const { return assertion_failed_; }
  bool exited() const { return exited_; }

  // sched::StateView
  uint32_t ThreadCount() const override { return static_cast<uint32_t>(threads_.size()); }
  bool IsEnabled(sched::ThreadId thread) const override;
  sched::ThreadId Current() const override { return current_; }
  bool CurrentYielded() const override { return false; }
  const sched::Operation& Pending(sched::ThreadId thread) const override {
    return threads_[thread].pending;
  }
  bool IsRunnable(sched::ThreadId thread) const override {
    return threads_[thread].exists && threads_[thread].status == sched::ThreadStatus::kRunnable;
  }
  std::vector<sched::CellRange> PendingSpinCells(sched::ThreadId thread) const override {
    return threads_[thread].spin_cells;
  }

 private:
  struct Thread {
    sched::ThreadStatus status = sched::ThreadStatus::kRunnable;
    bool exists = false, started = false, woken = false, timed_out = false, timed_wait = false;
    bool spin_woken = false;
    uint32_t events = 0;
    uint32_t pc = 0;
    int64_t registers[10] = {};
    uint32_t allocations = 0;
    uint32_t generation = 0;  // of the barrier it waits at
    sched::Operation pending;
    std::vector<sched::CellRange> spin_cells;
  };
  struct Mutex {
    int holder = -1;
    int depth = 0;
  };
  struct RwLock {
    int writer = -1;
    std::vector<int> readers;  // holds, by thread
    int total = 0;
  };
  struct HeapBlock {
    sched::Cell address;
    int64_t value;
  };
  enum class Flow : uint8_t { kNext, kEndBlock, kStop };

  const Instruction& Code(const Thread& t) const {
    return program_->threads[&t - threads_.data()].code[t.pc];
  }
  bool AtEnd(const Thread& t) const {
    return t.pc >= program_->threads[&t - threads_.data()].code.size();
  }
  bool CanRun(sched::ThreadId id) const;
  bool Mutated(ModelMutation m) const { return mutation_ == m; }
  void Touch(sched::Cell cell, uint8_t mode, uint16_t flags = 0, uint32_t size = 1);
  void TouchVariable(int variable, uint8_t mode, bool relevant);
  void Ledger(sched::Cell object, int64_t before, int64_t after);
  int64_t& Memory(sched::Cell address);

  void BeginEvent(Thread& t, sched::ThreadId id);
  Flow Run(Thread& t, const Instruction& i, bool first);
  Flow RunMemory(Thread& t, const Instruction& i);
  Flow RunMutex(Thread& t, const Instruction& i, bool first);
  Flow RunCondition(Thread& t, const Instruction& i);
  Flow RunSemaphore(Thread& t, const Instruction& i, bool first);
  Flow RunRwLock(Thread& t, const Instruction& i, bool first);
  Flow RunBarrier(Thread& t, const Instruction& i);
  Flow RunThreads(Thread& t, const Instruction& i, bool first);
  Flow RunSpin(Thread& t, const Instruction& i);
  bool TryLock(Thread& t, int mutex, bool record_success);
  bool TrySemaphore(int semaphore);
  Flow Waiting(Thread& t);  // the block that begins while the thread is in a condition wait
  void Acquire(Thread& t, int mutex);
  void Release(Thread& t, int mutex);
  void EndBlock(Thread& t);  // decides what the next block begins with
  void Stop(Thread& t, uint16_t event_flags);
  bool Holds(const Thread& t, const Condition& c) const;
  int64_t Value(const Thread& t, const Expression& e) const;
  int IdOf(const Thread& t) const { return static_cast<int>(&t - threads_.data()); }

  const Program* program_;
  ModelMutation mutation_;
  std::vector<Thread> threads_;
  std::vector<int64_t> variables_;
  std::vector<HeapBlock> heap_;
  std::vector<Mutex> mutexes_;
  std::vector<std::vector<int>> waiters_;  // by condvar
  std::vector<int64_t> semaphores_;
  std::vector<int> arrivals_;  // by barrier
  std::vector<RwLock> rwlocks_;
  sched::ThreadId current_ = sched::kNoThread;
  bool exited_ = false, assumption_failed_ = false, assertion_failed_ = false, cut_ = false;
  uint64_t heap_counter_ = 0;

  // the running block
  sched::Trace* trace_ = nullptr;
  sched::Event event_;
  Chooser* chooser_ = nullptr;
  uint32_t choice_index_ = 0;
  bool choice_is_last_ = false;
};

// Runs `strategy` to its end on `program`. After each execution calls `on_execution(machine,
// trace)` and stops when it returns false. The first `keep` events of an execution are repeated
// without asking and without recording, as the engine does.
template <typename Callback>
void RunStrategy(Machine& machine, sched::Strategy& strategy, sched::Trace& trace,
                 const Callback& on_execution);

// One execution. Returns false if the strategy has no further one.
bool RunOne(Machine& machine, sched::Strategy& strategy, sched::Trace& trace,
            bool same_search = true);

template <typename Callback>
void RunStrategy(Machine& machine, sched::Strategy& strategy, sched::Trace& trace,
                 const Callback& on_execution) {
  while (RunOne(machine, strategy, trace)) {
    if (!on_execution(machine, trace)) return;
  }
}

}  // namespace mc::toy

#endif  // MC_TESTS_TOY_MACHINE_H_
