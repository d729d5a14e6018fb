// --json: the one object of DESIGN section 4.

#include <cmath>
#include <nlohmann/json.hpp>

#include "checker/output_files.h"
#include "checker/report.h"
#include "checker/text.h"

namespace mc::checker {
namespace {

using Json = nlohmann::ordered_json;

Json PlaceJson(const SourceLocation& location) {
  Json place;
  place["where"] = location.Where();
  place["file"] = location.Shown().file;
  place["line"] = location.Shown().line;
  place["function"] = location.Shown().function;
  return place;
}

Json SideJson(const RaceSide& side, Symbolizer* symbolizer) {
  Json json = PlaceJson(symbolizer->Locate(side.pc));
  json["kind"] = side.kind;
  return json;
}

Json RaceJson(const Race& race, Symbolizer* symbolizer) {
  return {{"a", SideJson(race.a, symbolizer)},
          {"b", SideJson(race.b, symbolizer)},
          {"status", std::string(NameOf(race.status))},
          {"unordered", race.unordered},
          {"object", race.object}};
}

Json BugJson(const Bug& bug, Symbolizer* symbolizer) {
  const SourceLocation& place = PlaceOf(bug, symbolizer);
  Json json = {{"kind", std::string(sched::NameOf(bug.kind))},
               {"message", bug.message},
               {"where", place.Where()},
               {"function", place.Shown().function},
               {"schedule", bug.schedule_file},
               {"preemptions", bug.preemptions}};
  if (!bug.strategy.empty()) json["strategy"] = bug.strategy;
  return json;
}

// A number a JSON file can hold: null for what is not known.
Json Finite(double value) {
  return std::isfinite(value) && value >= 0 ? Json(value) : Json(nullptr);
}

Json JobJson(const Job& job, std::string bound) {
  if (job.bounds_loops) absl::StrAppend(&bound, bound.empty() ? "" : "; and ", kLoopBound);
  if (bound.empty() && job.progress.preemptions_covered && job.progress.left_out) {
    bound = PreemptionBound(*job.progress.preemptions_covered);
  }
  const double executions = static_cast<double>(job.progress.executions);
  Json json;
  json["pps"] = job.pps.Names();
  json["executions"] = job.progress.executions;
  json["executions_blocked"] = job.progress.blocked;
  json["transitions"] = job.progress.transitions;
  json["transitions_repeated"] = job.progress.transitions_repeated;
  json["seconds"] = job.progress.seconds;
  json["complete"] = job.complete();
  json["bound"] = bound.empty() ? Json(nullptr) : Json(bound);
  json["estimated_total"] = job.complete()              ? Json(executions)
                            : job.progress.estimate > 0 ? Finite(job.progress.estimate)
                                                        : Json(nullptr);
  json["eta_seconds"] = Finite(job.SecondsLeft());
  return json;
}

// What both the whole and each of several tests have.
void AddResult(const TestResult& result, Symbolizer* symbolizer, Json* json) {
  Json& out = *json;
  for (const Job& job : result.jobs) {
    if (job.started) out["jobs"].push_back(JobJson(job, result.bound));
  }
  if (result.findings == nullptr) return;
  for (const auto& race : result.findings->races()) {
    out["races"].push_back(RaceJson(*race, symbolizer));
  }
  for (const auto& bug : result.findings->bugs()) {
    Json entry = BugJson(*bug, symbolizer);
    if (!result.test.empty()) entry["test"] = result.test;
    out["bugs"].push_back(std::move(entry));
  }
}

Json Skeleton(Verdict verdict, bool saturated, const JobProgress& total, double seconds) {
  Json json;
  json["verdict"] = std::string(NameOf(verdict));
  json["saturated"] = saturated;
  json["executions"] = total.executions;
  json["executions_blocked"] = total.blocked;
  json["transitions"] = total.transitions;
  json["seconds"] = seconds;
  return json;
}

void AddLists(Json* json) {
  (*json)["jobs"] = Json::array();
  (*json)["races"] = Json::array();
  (*json)["bugs"] = Json::array();
}

Json TestJson(const TestResult& test, Symbolizer* symbolizer) {
  Json json = Skeleton(test.verdict(), test.saturated, test.total, test.seconds);
  json["test"] = test.test;
  AddLists(&json);
  AddResult(test, symbolizer, &json);
  json["malloc_recycle_discarded"] =
      test.findings == nullptr ? 0 : test.findings->malloc_recycle_discarded();
  if (!test.error.empty()) json["error"] = test.error;
  return json;
}

}  // namespace

absl::Status WriteJson(const std::string& path, const RunReport& report, Symbolizer* symbolizer) {
  JobProgress total;
  bool saturated = !report.tests.empty();
  uint64_t discarded = 0;
  for (const TestResult& test : report.tests) {
    total.executions += test.total.executions;
    total.blocked += test.total.blocked;
    total.transitions += test.total.transitions;
    saturated &= test.saturated;
    if (test.findings != nullptr) discarded += test.findings->malloc_recycle_discarded();
  }
  Json json = Skeleton(report.verdict(), saturated, total, report.seconds);
  json["max_rss_kb"] = report.max_rss_kb;
  json["spilled_requests"] = report.spilled_requests;
  json["seed"] = report.seed;
  AddLists(&json);
  for (const TestResult& test : report.tests) AddResult(test, symbolizer, &json);
  json["malloc_recycle_discarded"] = discarded;
  json["unseen_functions"] = Json::array();
  for (const UnseenFunction& function : report.unseen_functions) {
    json["unseen_functions"].push_back(
        {{"function", function.name}, {"library", function.library}});
  }
  json["bounded_loops"] = Json::array();
  for (const std::string& place : report.bounded_loops) json["bounded_loops"].push_back(place);
  json["threads_ran_at_exit"] = report.handlers_waited;
  json["interrupted"] = report.interrupted;
  if (const std::string error = report.FirstError(); !error.empty()) json["error"] = error;
  if (report.tests.size() > 1) {
    json["tests"] = Json::array();
    for (const TestResult& test : report.tests) json["tests"].push_back(TestJson(test, symbolizer));
  }
  // Text of the program may be no UTF-8; a report must not fail for that.
  return WriteTextFile(path,
                       json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace mc::checker
