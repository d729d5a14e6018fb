// Random programs: the optimal search visits exactly the traces that brute force finds, each once;
// source sets, plain DPOR and depth-first search find them all; suspending a search changes
// nothing.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "dpor/dfs.h"
#include "dpor/strategy_table.h"
#include "tests/toy/brute_force.h"
#include "tests/toy/explore.h"
#include "tests/toy/random_programs.h"

namespace mc::toy {
namespace {

TEST(RandomPrograms, OptimalSearchEqualsBruteForce) {
  ForRandomPrograms(ProgramCount(4000), [](const Program& program, const Exploration& expected) {
    return CheckOptimal(program, expected);
  });
}

// With sleep sets: under every policy all traces, none twice. Some executions are given up.
void CheckCoversAll(const char* name, uint64_t programs) {
  ForRandomPrograms(programs, [&](const Program& program, const Exploration& expected) {
    for (const dpor::Policy policy : kPolicies) {
      dpor::SearchOptions options;
      options.policy = policy;
      options.seed = 3;
      const std::unique_ptr<dpor::Search> search = dpor::MakeSearch(name, options);
      const Exploration found = Explore(program, *search, 20 * expected.traces.size() + 20);
      const std::string where = "policy " + std::to_string(static_cast<int>(policy)) + ": ";
      if (!search->error().empty()) return where + search->error();
      if (!search->complete()) return where + "not complete";
      if (found.traces.size() != expected.traces.size()) {
        return where + "found " + std::to_string(found.traces.size()) + " traces of " +
               std::to_string(expected.traces.size());
      }
      for (const auto& [hash, times] : found.traces) {
        if (times > 1) return where + "a trace was completed twice";
        if (!expected.traces.contains(hash)) return where + "a trace that does not exist";
      }
      if (found.final_states != expected.final_states) return where + "other final states";
      if (found.deadlocks != expected.deadlocks || found.assertions != expected.assertions) {
        return where + "other bugs";
      }
    }
    return std::string();
  });
}

TEST(RandomPrograms, SourceSetsCoverAll) { CheckCoversAll("source", ProgramCount(4000)); }

TEST(RandomPrograms, PlainDporCoversAll) { CheckCoversAll("dpor", ProgramCount(4000)); }

TEST(RandomPrograms, DepthFirstSearchIsBruteForce) {
  ForRandomPrograms(ProgramCount(1500), [](const Program& program, const Exploration& expected) {
    dpor::DepthFirstSearch search;
    const Exploration found = Explore(program, search, kMostInterleavings + 1);
    if (!search.complete()) return "not complete: " + search.error();
    if (found.executions != expected.executions) return std::string("wrong number of executions");
    return found.traces == expected.traces ? std::string() : std::string("other traces");
  });
}

// Two searches take turns in one engine: each is resumed before its next execution, which then
// repeats nothing.
TEST(RandomPrograms, SuspensionChangesNothing) {
  ForRandomPrograms(ProgramCount(1500), [](const Program& program, const Exploration& expected) {
    for (const char* name : {"odpor", "source", "dpor", "dfs", "portfolio"}) {
      Machine machine(program);
      sched::Trace trace;
      std::unique_ptr<dpor::Search> searches[2];
      Exploration found[2];
      bool running[2] = {true, true};
      dpor::SearchOptions options;
      for (int k = 0; k < 2; ++k) {
        options.policy = k == 0 ? dpor::Policy::kStay : dpor::Policy::kHighest;
        searches[k] = dpor::MakeSearch(name, options);
      }
      while (running[0] || running[1]) {
        for (int k = 0; k < 2; ++k) {
          if (!running[k]) continue;
          searches[k]->Resume();
          running[k] = RunOne(machine, *searches[k], trace, false);
          if (running[k]) found[k].Add(machine, trace);
        }
      }
      for (int k = 0; k < 2; ++k) {
        if (!searches[k]->complete()) return name + (": not complete: " + searches[k]->error());
        if (found[k].traces.size() != expected.traces.size()) {
          return name + std::string(": traces are missing");
        }
        if (std::string(name) == "odpor" && found[k].executions != expected.traces.size()) {
          return std::string("odpor: not optimal");
        }
      }
    }
    return std::string();
  });
}

}  // namespace
}  // namespace mc::toy
