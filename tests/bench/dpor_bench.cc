// Executions per second of the search alone: the programs of the tiny language are executed by an
// interpreter, whose time is included (it repeats every prefix from the start).
#include <benchmark/benchmark.h>

#include <string>

#include "dpor/strategy_table.h"
#include "tests/toy/machine.h"
#include "tests/toy/program.h"

namespace mc::toy {
namespace {

void Run(benchmark::State& state, const std::string& text, const char* strategy) {
  const Program program = ParseOrDie(text);
  Machine machine(program);
  uint64_t runs = 0, transitions = 0;
  for (auto _ : state) {
    auto search = dpor::MakeSearch(strategy, {});
    sched::Trace trace;
    while (RunOne(machine, *search, trace)) {
    }
    if (!search->complete()) state.SkipWithError(search->error().c_str());
    runs += search->runs();
    transitions += search->transitions();
  }
  state.counters["executions"] =
      benchmark::Counter(static_cast<double>(runs), benchmark::Counter::kAvgIterations);
  state.counters["executions/s"] =
      benchmark::Counter(static_cast<double>(runs), benchmark::Counter::kIsRate);
  state.counters["transitions/s"] =
      benchmark::Counter(static_cast<double>(transitions), benchmark::Counter::kIsRate);
}

BENCHMARK_CAPTURE(Run, odpor_cinc4, AtomicIncrementsOf(4, 3), "odpor");
BENCHMARK_CAPTURE(Run, odpor_ainc7, AtomicIncrements(7), "odpor");
BENCHMARK_CAPTURE(Run, odpor_lastzero10, LastZero(10), "odpor");
BENCHMARK_CAPTURE(Run, odpor_readers10, Readers(10), "odpor");
BENCHMARK_CAPTURE(Run, odpor_lockinc7, LockedIncrements(7, 1), "odpor");
BENCHMARK_CAPTURE(Run, source_cinc4, AtomicIncrementsOf(4, 3), "source");
BENCHMARK_CAPTURE(Run, source_lastzero8, LastZero(8), "source");
// Almost only the interpreter.
BENCHMARK_CAPTURE(Run, dfs_cinc3, AtomicIncrementsOf(3, 3), "dfs");

}  // namespace
}  // namespace mc::toy
