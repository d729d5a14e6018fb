#include "tests/toy/brute_force.h"

#include <algorithm>
#include <vector>

namespace mc::toy {
namespace {

uint64_t Mix(uint64_t h, uint64_t value) {
  h = (h ^ value) * 0xff51afd7ed558ccdu;
  return h ^ (h >> 32);
}

bool Conflict(const sched::Trace& trace, const sched::Event& a, const sched::Event& b) {
  for (const sched::MicroAccess& x : trace.AccessesOf(a)) {
    for (const sched::MicroAccess& y : trace.AccessesOf(b)) {
      if (x.ConflictsWith(y)) return true;
    }
  }
  return false;
}

class Enumerator {
 public:
  Enumerator(const Program& program, uint64_t limit, ModelMutation mutation)
      : start_(program, mutation), limit_(limit) {}

  Exploration Run() {
    Explore(start_, 0);
    return std::move(result_);
  }

 private:
  // Answers the first choices from a list, 0 from there on, and notes the arities.
  class ListChooser : public Chooser {
   public:
    uint32_t Choose(uint32_t index, uint32_t arity) override {
      if (index >= values.size()) values.push_back(0);
      arities.resize(index + 1);
      arities[index] = arity;
      return values[index];
    }
    // The next vector of choices in lexical order; false after the last.
    bool Advance() {
      values.resize(arities.size());
      while (!values.empty()) {
        if (++values.back() < arities[values.size() - 1]) return true;
        values.pop_back();
      }
      return false;
    }
    std::vector<uint32_t> values, arities;
  };

  // Is going on with `next` a preemption (spec optimal-dpor 6.1)?
  static bool IsPreemption(const Machine& state, sched::ThreadId next) {
    const sched::ThreadId last = state.Current();
    return last != sched::kNoThread && last != next && state.IsEnabled(last) &&
           state.Pending(last).kind != sched::OperationKind::kTimedWaiter;
  }

  void Explore(const Machine& state, uint32_t preemptions) {
    if (!result_.complete) return;
    bool any = false;
    for (sched::ThreadId t = 0; t < state.ThreadCount(); ++t) {
      if (!state.IsEnabled(t)) continue;
      any = true;
      ListChooser chooser;
      do {
        chooser.arities.clear();
        Machine next = state;
        const size_t depth = trace_.size();
        next.Step(t, chooser, &trace_);
        Explore(next, preemptions + (IsPreemption(state, t) ? 1 : 0));
        trace_.CutBack(depth);
      } while (chooser.Advance());
    }
    if (any) return;
    if (result_.executions >= limit_) {
      result_.complete = false;
      return;
    }
    result_.Add(state, trace_);
    const auto [least, is_new] = result_.preemptions.emplace(HashTrace(trace_), preemptions);
    if (!is_new) least->second = std::min(least->second, preemptions);
  }

  Machine start_;
  uint64_t limit_;
  sched::Trace trace_;
  Exploration result_;
};

}  // namespace

TraceHash HashTrace(const sched::Trace& trace) {
  size_t threads = 0;
  for (const sched::Event& e : trace.events) threads = std::max<size_t>(threads, e.thread + 1);
  std::vector<std::vector<uint32_t>> clocks(trace.size(), std::vector<uint32_t>(threads, 0));
  TraceHash hash{0, 0};
  for (size_t j = 0; j < trace.size(); ++j) {
    const sched::Event& e = trace.events[j];
    for (size_t i = j; i-- > 0;) {
      const sched::Event& earlier = trace.events[i];
      if (clocks[j][earlier.thread] > earlier.index) continue;
      if (earlier.thread != e.thread && !Conflict(trace, earlier, e)) continue;
      for (size_t t = 0; t < threads; ++t) clocks[j][t] = std::max(clocks[j][t], clocks[i][t]);
    }
    clocks[j][e.thread] = e.index + 1;
    uint64_t h = Mix(Mix(0x1234567, e.thread), e.index);
    for (const sched::Choice& c : trace.ChoicesOf(e)) h = Mix(h, c.value + 7);
    for (uint32_t c : clocks[j]) h = Mix(h, c);
    hash.first += Mix(h, 1);
    hash.second += Mix(h, 0xabcdef);
  }
  return hash;
}

void Exploration::Add(const Machine& machine, const sched::Trace& trace) {
  ++executions;
  if (trace.outcome == sched::ExecutionOutcome::kBlocked) {
    ++blocked;
    return;
  }
  final_states.insert(machine.StateHash());
  if (traces[HashTrace(trace)]++ > 0) return;
  if (machine.Deadlocked()) ++deadlocks;
  if (machine.assumption_failed()) ++assumptions;
  if (machine.assertion_failed()) ++assertions;
  if (machine.exited()) ++exits;
}

Exploration BruteForce(const Program& program, uint64_t limit, ModelMutation mutation) {
  return Enumerator(program, limit, mutation).Run();
}

}  // namespace mc::toy
