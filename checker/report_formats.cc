// --junit and --sarif: the formats continuous integration and code review tools read.

#include <nlohmann/json.hpp>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "checker/output_files.h"
#include "checker/report.h"
#include "checker/text.h"

namespace mc::checker {
namespace {

using Json = nlohmann::ordered_json;

// Text for an XML attribute or element: control characters are not allowed there at all.
std::string Xml(const std::string& text) {
  std::string clean;
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    clean.push_back(byte < 0x20 && c != '\n' && c != '\t' ? '?' : c);
  }
  return absl::StrReplaceAll(clean,
                             {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

std::string TestCase(const RunReport& report, const TestResult& test, Symbolizer* symbolizer) {
  std::string out = absl::StrFormat("    <testcase classname=\"%s\" name=\"%s\" time=\"%.3f\">\n",
                                    Xml(report.harness),
                                    Xml(test.test.empty() ? "main" : test.test), test.seconds);
  if (test.findings != nullptr) {
    for (const auto& bug : test.findings->bugs()) {
      absl::StrAppend(&out, "      <failure type=\"", View(sched::NameOf(bug->kind)),
                      "\" message=\"", Xml(bug->message), "\">",
                      Xml(PlaceOf(*bug, symbolizer).WhereAndFunction()), "\n", Xml(bug->details),
                      "\nschedule: ", Xml(bug->schedule_file), "</failure>\n");
    }
  }
  if (!test.error.empty()) {
    absl::StrAppend(&out, "      <error message=\"", Xml(test.error), "\"/>\n");
  }
  return absl::StrCat(out, "    </testcase>\n");
}

Json SarifResult(const Bug& bug, Symbolizer* symbolizer) {
  const SourceLocation& place = PlaceOf(bug, symbolizer);
  Json result = {{"ruleId", std::string(sched::NameOf(bug.kind))},
                 {"level", "error"},
                 {"message", {{"text", bug.message.empty() ? "bug" : bug.message}}}};
  result["locations"] = Json::array();
  if (place.HasLine()) {
    result["locations"].push_back({{"physicalLocation",
                                    {{"artifactLocation", {{"uri", place.Shown().file}}},
                                     {"region", {{"startLine", place.Shown().line}}}}}});
  }
  result["properties"] = {{"schedule", bug.schedule_file}, {"preemptions", bug.preemptions}};
  return result;
}

}  // namespace

absl::Status WriteJUnit(const std::string& path, const RunReport& report, Symbolizer* symbolizer) {
  size_t failures = 0, errors = 0;
  std::string cases;
  for (const TestResult& test : report.tests) {
    failures += test.verdict() == Verdict::kBug;
    errors += !test.error.empty();
    cases += TestCase(report, test, symbolizer);
  }
  if (!report.error.empty()) {
    ++errors;
    absl::StrAppend(&cases, "    <testcase classname=\"", Xml(report.harness),
                    "\" name=\"start\"><error message=\"", Xml(report.error), "\"/></testcase>\n");
  }
  const size_t count = report.tests.size() + !report.error.empty();
  return WriteTextFile(
      path, absl::StrFormat("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
                            "  <testsuite name=\"%s\" tests=\"%d\" failures=\"%d\" errors=\"%d\" "
                            "time=\"%.3f\">\n%s  </testsuite>\n</testsuites>\n",
                            Xml(report.harness), count, failures, errors, report.seconds, cases));
}

absl::Status WriteSarif(const std::string& path, const RunReport& report, Symbolizer* symbolizer) {
  Json results = Json::array(), rules = Json::array();
  std::set<std::string> kinds;
  for (const TestResult& test : report.tests) {
    if (test.findings == nullptr) continue;
    for (const auto& bug : test.findings->bugs()) {
      results.push_back(SarifResult(*bug, symbolizer));
      kinds.emplace(sched::NameOf(bug->kind));
    }
  }
  for (const std::string& kind : kinds) rules.push_back({{"id", kind}});
  Json run;
  run["tool"]["driver"] = {{"name", "mc"}, {"rules", rules}};
  run["results"] = results;
  Json invocation = {{"executionSuccessful", report.FirstError().empty()}};
  if (const std::string error = report.FirstError(); !error.empty()) {
    invocation["toolExecutionNotifications"] =
        Json::array({{{"level", "error"}, {"message", {{"text", error}}}}});
  }
  run["invocations"] = Json::array({invocation});
  Json sarif;
  sarif["$schema"] = "https://json.schemastore.org/sarif-2.1.0.json";
  sarif["version"] = "2.1.0";
  sarif["runs"] = Json::array({run});
  return WriteTextFile(path,
                       sarif.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace mc::checker
