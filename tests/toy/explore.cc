#include "tests/toy/explore.h"

#include <algorithm>

namespace mc::toy {

std::string CompareOptimal(const dpor::Search& search, const Exploration& found,
                           const Exploration& expected) {
  if (!search.error().empty()) return "error: " + search.error();
  if (!found.complete) return "more than twice as many executions as there are traces";
  if (!search.complete()) return "not complete";
  if (found.blocked != 0) return std::to_string(found.blocked) + " executions given up";
  for (const auto& [hash, times] : found.traces) {
    if (times > 1) return "a trace was visited " + std::to_string(times) + " times";
    if (!expected.traces.contains(hash)) return "a trace that does not exist";
  }
  if (found.traces.size() != expected.traces.size()) {
    return "found " + std::to_string(found.traces.size()) + " traces of " +
           std::to_string(expected.traces.size());
  }
  if (search.runs() != found.executions || search.Estimate() != double(search.runs()) ||
      search.LowerBound() != search.runs()) {
    return "wrong counts";
  }
  return "";
}

Exploration Explore(const Program& program, dpor::Search& search, uint64_t limit,
                    ModelMutation mutation) {
  Machine machine(program, mutation);
  sched::Trace trace;
  Exploration result;
  RunStrategy(machine, search, trace, [&](const Machine& m, const sched::Trace& t) {
    result.Add(m, t);
    result.complete = result.executions < limit;
    return result.complete;
  });
  result.complete = result.complete && search.error().empty();
  return result;
}

std::string CheckOptimal(const Program& program, const Exploration& expected) {
  const uint64_t limit = 2 * expected.traces.size() + 2;
  for (const dpor::Policy policy : kPolicies) {
    const std::string name = "policy " + std::to_string(static_cast<int>(policy)) + ": ";
    dpor::OptimalSearchOptions options;
    options.policy = policy;
    options.seed = expected.executions;
    dpor::OptimalSearch<false> search(options);
    const Exploration found = Explore(program, search, limit);
    if (std::string wrong = CompareOptimal(search, found, expected); !wrong.empty()) {
      return name + wrong;
    }
    // The same in another order, with every insertion test made twice, the fast way and the plain
    // one.
    options.oldest_request_first = true;
    dpor::OptimalSearch<true> checked(options);
    const Exploration again = Explore(program, checked, limit);
    if (std::string wrong = CompareOptimal(checked, again, expected); !wrong.empty()) {
      return name + "checked: " + wrong;
    }
  }
  return "";
}

}  // namespace mc::toy
