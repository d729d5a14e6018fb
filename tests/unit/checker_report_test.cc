// Verdicts, exit statuses, last lines and the formats for programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "checker/report.h"
#include "checker/session.h"

namespace mc::checker {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class ReportTest : public testing::Test {
 protected:
  TestResult Result() {
    TestResult result;
    result.findings = std::make_shared<Findings>(FailOnRace::kConfirmed, &symbolizer_);
    Job job;
    job.id = 1;
    job.pps = *PpSet::Parse("sync,access:f.cc:3");
    job.state = JobState::kComplete;
    job.started = true;
    job.progress = {36, 2, 400, 36, 0.5};
    result.jobs = {job};
    result.total = job.progress;
    result.saturated = true;
    return result;
  }
  void AddBug(TestResult* result, sched::BugKind kind, uint64_t pc) {
    Bug bug;
    bug.kind = kind;
    bug.message = "a < b & \"c\" \x01 \xff";
    bug.pc = pc;
    bug.preemptions = 2;
    bug.steps = ParseSteps("0;1;0");
    Bug* added = result->findings->AddBug(std::move(bug));
    added->schedule_file = "mc-out/x.schedule";
  }
  RunReport ReportOf(std::vector<TestResult> results) {
    RunReport report;
    report.harness = "./t";
    report.tests = std::move(results);
    return report;
  }
  std::string LastLine(const RunReport& report) {
    return FormatFinalLine(report, &symbolizer_, Palette(false));
  }
  std::string File(absl::Status (*write)(const std::string&, const RunReport&, Symbolizer*),
                   const RunReport& report) {
    const std::string path = testing::TempDir() + "/report-" + std::to_string(getpid());
    EXPECT_TRUE(write(path, report, &symbolizer_).ok());
    std::ifstream file(path);
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    unlink(path.c_str());
    return text;
  }

  Symbolizer symbolizer_{{}};
  Options options_;
};

TEST_F(ReportTest, Verified) {
  const RunReport report = ReportOf({Result()});
  EXPECT_EQ(report.verdict(), Verdict::kVerified);
  EXPECT_EQ(ExitStatusOf(options_, report), 0);
  EXPECT_THAT(LastLine(report), StartsWith("mc: VERIFIED after 36 executions (2 more blocked)"));
}

TEST_F(ReportTest, OneStrategyWithoutSynchronisationVerifiesUnderItsPointsOnly) {
  TestResult result = Result();
  result.iterative = false;
  result.jobs[0].pps = *PpSet::Parse("lock");
  EXPECT_THAT(LastLine(ReportOf({result})),
              StartsWith("mc: VERIFIED under the preemption points lock after"));
}

TEST_F(ReportTest, NoBugFoundSaysWhy) {
  TestResult result = Result();
  result.saturated = false;
  result.end = SearchEnd::kTimeBudget;
  RunReport report = ReportOf({result});
  EXPECT_EQ(ExitStatusOf(options_, report), 0);
  EXPECT_THAT(LastLine(report), StartsWith("mc: NO BUG FOUND within the time budget"));
  options_.require_complete = true;
  EXPECT_EQ(ExitStatusOf(options_, report), 3);
  report.tests[0].end = SearchEnd::kInterrupted;
  EXPECT_THAT(LastLine(report), HasSubstr("interrupted"));
  report.tests[0].end = SearchEnd::kComplete;
  report.tests[0].iterative = false;
  report.tests[0].missing = {"f.cc:9"};
  EXPECT_THAT(LastLine(report), HasSubstr("access:f.cc:9"));
  EXPECT_EQ(ExitStatusOf(options_, report), 0);  // it did finish
}

TEST_F(ReportTest, ABoundIsNamed) {
  TestResult result = Result();
  result.saturated = false;
  result.bound = "a random sample";
  const RunReport report = ReportOf({result});
  EXPECT_THAT(LastLine(report), StartsWith("mc: NO BUG FOUND within the bound: a random sample"));
  EXPECT_EQ(nlohmann::json::parse(File(&WriteJson, report))["jobs"][0]["bound"], "a random sample");
}

TEST_F(ReportTest, ABugAndALaterErrorAreABugWithTheErrorShown) {
  TestResult result = Result();
  AddBug(&result, sched::BugKind::kDeadlock, 0x10);
  result.error = "the program diverged\nand more";
  const RunReport report = ReportOf({result});
  EXPECT_EQ(report.verdict(), Verdict::kBug);
  EXPECT_EQ(ExitStatusOf(options_, report), 1);
  EXPECT_THAT(LastLine(report), StartsWith("mc: BUG deadlock at"));
  EXPECT_THAT(report.FirstError(), HasSubstr("diverged"));
}

TEST_F(ReportTest, AnErrorIsOneLine) {
  RunReport report = ReportOf({});
  report.error = "cannot be used: why\nIt said: this";
  EXPECT_EQ(ExitStatusOf(options_, report), 2);
  EXPECT_EQ(LastLine(report), "mc: ERROR cannot be used: why");
}

TEST_F(ReportTest, TheWorstOfSeveralTestsCounts) {
  TestResult good = Result(), bad = Result(), open = Result();
  good.test = "Good";
  open.test = "Open";
  open.saturated = false;
  open.end = SearchEnd::kTimeBudget;
  EXPECT_EQ(ReportOf({good, open}).verdict(), Verdict::kNoBugFound);
  bad.test = "Bad";
  AddBug(&bad, sched::BugKind::kAssertion, 0x10);
  const RunReport report = ReportOf({good, bad, open});
  EXPECT_EQ(report.verdict(), Verdict::kBug);
  EXPECT_THAT(LastLine(report), HasSubstr("1 of 3 tests, first Bad"));
}

TEST_F(ReportTest, JsonHasEveryField) {
  TestResult result = Result();
  AddBug(&result, sched::BugKind::kAssertion, 0x10);
  Message race;
  ASSERT_TRUE(Message::Decode(
      "race a=1 b=2 a_kind=read b_kind=write status=confirmed unordered=1 object=x", &race));
  Bug* none = nullptr;
  result.findings->AddRace(race, "sync", &none);
  RunReport report = ReportOf({result});
  report.seed = 7;
  report.max_rss_kb = 1000;
  const nlohmann::json json = nlohmann::json::parse(File(&WriteJson, report));
  EXPECT_EQ(json["verdict"], "bug");
  EXPECT_EQ(json["saturated"], true);
  EXPECT_EQ(json["executions"], 36);
  EXPECT_EQ(json["executions_blocked"], 2);
  EXPECT_EQ(json["transitions"], 400);
  EXPECT_EQ(json["max_rss_kb"], 1000);
  EXPECT_EQ(json["seed"], 7);
  EXPECT_TRUE(json.contains("seconds"));
  EXPECT_EQ(json["malloc_recycle_discarded"], 0);
  const nlohmann::json& job = json["jobs"][0];
  EXPECT_EQ(job["pps"], nlohmann::json({"sync", "access:f.cc:3"}));
  EXPECT_EQ(job["executions"], 36);
  EXPECT_EQ(job["executions_blocked"], 2);
  EXPECT_EQ(job["complete"], true);
  EXPECT_TRUE(job["bound"].is_null());
  EXPECT_EQ(job["estimated_total"], 36);
  EXPECT_EQ(job["eta_seconds"], 0);
  const nlohmann::json& r = json["races"][0];
  EXPECT_EQ(r["status"], "confirmed");
  EXPECT_EQ(r["unordered"], true);
  EXPECT_EQ(r["object"], "x");
  EXPECT_EQ(r["a"]["kind"], "read");
  EXPECT_EQ(r["b"]["where"], "0x2");
  EXPECT_TRUE(r["a"].contains("function"));
  const nlohmann::json& bug = json["bugs"][0];
  EXPECT_EQ(bug["kind"], "assertion");
  EXPECT_EQ(bug["where"], "0x10");
  EXPECT_EQ(bug["schedule"], "mc-out/x.schedule");
  EXPECT_EQ(bug["preemptions"], 2);
  EXPECT_FALSE(json.contains("tests"));
}

TEST_F(ReportTest, JsonOfSeveralTestsHasTotalsAndEach) {
  TestResult first = Result(), second = Result();
  first.test = "First";
  second.test = "Second";
  const nlohmann::json json = nlohmann::json::parse(File(&WriteJson, ReportOf({first, second})));
  EXPECT_EQ(json["executions"], 72);
  ASSERT_EQ(json["tests"].size(), 2u);
  EXPECT_EQ(json["tests"][1]["test"], "Second");
  EXPECT_EQ(json["tests"][1]["executions"], 36);
}

TEST_F(ReportTest, JUnitIsCleanXml) {
  TestResult result = Result();
  AddBug(&result, sched::BugKind::kAssertion, 0x10);
  const std::string xml = File(&WriteJUnit, ReportOf({result}));
  EXPECT_THAT(xml, HasSubstr("tests=\"1\" failures=\"1\" errors=\"0\""));
  EXPECT_THAT(xml, HasSubstr("a &lt; b &amp; &quot;c&quot; ?"));
  EXPECT_EQ(xml.find('\x01'), std::string::npos);
}

TEST_F(ReportTest, SarifNamesRuleAndSchedule) {
  TestResult result = Result();
  AddBug(&result, sched::BugKind::kDeadlock, 0x10);
  const nlohmann::json sarif = nlohmann::json::parse(File(&WriteSarif, ReportOf({result})));
  EXPECT_EQ(sarif["version"], "2.1.0");
  EXPECT_EQ(sarif["runs"][0]["results"][0]["ruleId"], "deadlock");
  EXPECT_EQ(sarif["runs"][0]["results"][0]["properties"]["schedule"], "mc-out/x.schedule");
  EXPECT_EQ(sarif["runs"][0]["tool"]["driver"]["rules"][0]["id"], "deadlock");
}

TEST_F(ReportTest, ABugInFull) {
  TestResult result = Result();
  AddBug(&result, sched::BugKind::kAssertion, 0x10);
  const std::string text =
      FormatBug(*result.findings->bugs()[0], 1, "mc --replay=x ./t", &symbolizer_, Palette(false));
  EXPECT_THAT(text, StartsWith("BUG 1: assertion: a < b"));
  EXPECT_THAT(text, HasSubstr("where: 0x10"));
  EXPECT_THAT(text, HasSubstr("3 steps, 2 preemptions"));
  EXPECT_THAT(text, HasSubstr("schedule: mc-out/x.schedule"));
  EXPECT_THAT(text, HasSubstr("replay: mc --replay=x ./t"));
}

}  // namespace
}  // namespace mc::checker
