// The whole engine, as a user runs it: programs of the tables of known counts, searched and watched
// for races. Each iteration is a run of mc; the time is what its worker spent on the search.
//
//   ns/transition  of all transitions, those of repeated prefixes too
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace {

// MC_TOOL and MC_COUNTS: paths of mc and of the harness tests/programs/counts.cc.
void Run(benchmark::State& state, const std::string& program, const std::string& options) {
  const std::string report = (std::filesystem::temp_directory_path() /
                              ("mc-search-bench." + std::to_string(getpid()) + ".json"))
                                 .string();
  const std::string command = std::string(MC_TOOL) + " --quiet --pp=all " + options +
                              " --json=" + report + " " MC_COUNTS " -- " + program + " >/dev/null";
  double executions = 0, transitions = 0, kilobytes = 0;
  for (auto _ : state) {
    if (std::system(command.c_str()) != 0) {
      state.SkipWithError(("failed: " + command).c_str());
      break;
    }
    const auto json = nlohmann::json::parse(std::ifstream(report));
    executions += json["executions"].get<double>();
    transitions += json["transitions"].get<double>();
    kilobytes = json["max_rss_kb"].get<double>();
    state.SetIterationTime(json["jobs"][0]["seconds"].get<double>());
  }
  unlink(report.c_str());
  using benchmark::Counter;
  state.counters["executions"] = Counter(executions, Counter::kAvgIterations);
  state.counters["executions/s"] = Counter(executions, Counter::kIsRate);
  state.counters["s/transition"] = Counter(transitions, Counter::kIsRate | Counter::kInvert);
  state.counters["transitions"] = Counter(transitions, Counter::kAvgIterations);
  state.counters["kB"] = kilobytes;
}

#define MC_SEARCH(name, program) \
  BENCHMARK_CAPTURE(Run, name, program, "--strategy=odpor")->UseManualTime()

MC_SEARCH(lastzero_10, "lastzero 10");
MC_SEARCH(readers_13, "readers 13");
MC_SEARCH(ainc_7, "ainc 7");
MC_SEARCH(indexer_15, "indexer 15");
MC_SEARCH(lockinc_7, "lockinc 7");
MC_SEARCH(cinc_4, "cinc 4");
MC_SEARCH(fib_5, "fib 5");

}  // namespace
