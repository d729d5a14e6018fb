// The whole engine, as a user runs it: programs of the tables of known counts, searched and watched
// for races. Each iteration is a run of mc; the time is what its worker spent on the search.
//
//   s/transition  of all transitions, those of repeated prefixes too
//   quiet/s       executions per second in the runs during which nobody else used a core
//   quiet         which part of the runs that is
//
// A virtual machine's processor may be one half of a core whose other half belongs to somebody
// else. While that one computes, everything here takes half as long again, for seconds or minutes.
// It can be told by a fixed piece of work that keeps a whole core busy: if it takes longer than it
// once did on any processor that a run may use, before or after the run, the run is not a quiet
// one.
#include <benchmark/benchmark.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace {

// In seconds. Four additions and more can be done in one cycle, if nobody else does any.
double TimeOfFixedWork() {
  const auto begin = std::chrono::steady_clock::now();
  uint64_t a = 1, b = 2, c = 3, d = 4;
  for (uint64_t i = 0; i < 1'000'000; ++i) {
    a += i;
    b ^= i;
    c += a & 7;
    d += b >> 3;
    asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Are the cores of all processors that this process may use its own?
bool CoresAreQuiet() {
  static double shortest = [] {
    double shortest_yet = TimeOfFixedWork();
    for (int i = 0; i < 100; ++i) shortest_yet = std::min(shortest_yet, TimeOfFixedWork());
    return shortest_yet;
  }();
  cpu_set_t all;
  if (sched_getaffinity(0, sizeof all, &all) != 0) return false;
  bool quiet = true;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (!CPU_ISSET(processor, &all)) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    sched_setaffinity(0, sizeof one, &one);
    const double time = TimeOfFixedWork();
    shortest = std::min(shortest, time);
    quiet = quiet && time < 1.15 * shortest;
  }
  sched_setaffinity(0, sizeof all, &all);
  return quiet;
}

// MC_TOOL and MC_COUNTS: paths of mc and of the harness tests/programs/counts.cc.
void Run(benchmark::State& state, const std::string& program, const std::string& options) {
  const std::string report = (std::filesystem::temp_directory_path() /
                              ("mc-search-bench." + std::to_string(getpid()) + ".json"))
                                 .string();
  const std::string command = std::string(MC_TOOL) + " --quiet --pp=all " + options +
                              " --json=" + report + " " MC_COUNTS " -- " + program + " >/dev/null";
  double executions = 0, transitions = 0, kilobytes = 0;
  double runs = 0, quiet_runs = 0, quiet_executions = 0, quiet_seconds = 0;
  for (auto _ : state) {
    const bool quiet_before = CoresAreQuiet();
    if (std::system(command.c_str()) != 0) {
      state.SkipWithError(("failed: " + command).c_str());
      break;
    }
    const auto json = nlohmann::json::parse(std::ifstream(report));
    executions += json["executions"].get<double>();
    transitions += json["transitions"].get<double>();
    kilobytes = json["max_rss_kb"].get<double>();
    const double seconds = json["jobs"][0]["seconds"].get<double>();
    state.SetIterationTime(seconds);
    ++runs;
    if (!CoresAreQuiet() || !quiet_before) continue;
    ++quiet_runs;
    quiet_executions += json["executions"].get<double>();
    quiet_seconds += seconds;
  }
  unlink(report.c_str());
  using benchmark::Counter;
  state.counters["executions"] = Counter(executions, Counter::kAvgIterations);
  state.counters["executions/s"] = Counter(executions, Counter::kIsRate);
  state.counters["quiet/s"] = quiet_seconds > 0 ? quiet_executions / quiet_seconds : 0;
  state.counters["quiet"] = runs > 0 ? quiet_runs / runs : 0;
  state.counters["s/transition"] = Counter(transitions, Counter::kIsRate | Counter::kInvert);
  state.counters["transitions"] = Counter(transitions, Counter::kAvgIterations);
  state.counters["kB"] = kilobytes;
}

// By one worker, and by two that share the search.
#define MC_SEARCH(name, program)                                              \
  BENCHMARK_CAPTURE(Run, name, program, "--strategy=odpor")->UseManualTime(); \
  BENCHMARK_CAPTURE(Run, name##_jobs_2, program, "--strategy=odpor --jobs=2")->UseManualTime()

MC_SEARCH(lastzero_10, "lastzero 10");
MC_SEARCH(readers_13, "readers 13");
MC_SEARCH(ainc_7, "ainc 7");
MC_SEARCH(indexer_15, "indexer 15");
MC_SEARCH(lockinc_7, "lockinc 7");
MC_SEARCH(cinc_4, "cinc 4");
MC_SEARCH(fib_5, "fib 5");

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
