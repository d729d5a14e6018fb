// The pictures: content, well-formedness, escaping and pruning.
#include "checker/picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <random>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "checker/picture_order.h"
#include "checker/picture_text.h"
#include "sched/event.h"

namespace mc::checker {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

PictureStep Step(uint32_t thread, std::string what, std::string where = "",
                 std::vector<PictureAccess> accesses = {}) {
  PictureStep step;
  step.thread = thread;
  step.what = std::move(what);
  step.where = std::move(where);
  step.accesses = std::move(accesses);
  return step;
}

size_t Occurrences(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// Is `text` one XML element, with prologue? Says what is wrong, or "".
std::string XmlError(const std::string& text) {
  std::vector<std::string> open;
  bool root_seen = false;
  for (size_t at = 0; at < text.size();) {
    if (text[at] != '<') {
      if (text[at] == '&') {
        static const std::regex kEntity("&(amp|lt|gt|quot|#[0-9]+|#x[0-9a-fA-F]+);.*");
        if (!std::regex_match(text.substr(at, text.find(';', at) + 1 - at), kEntity)) {
          return "bare ampersand at " + text.substr(at, 30);
        }
      }
      if (open.empty() && !isspace(static_cast<unsigned char>(text[at]))) {
        return "text outside the root: " + text.substr(at, 30);
      }
      ++at;
      continue;
    }
    if (text.compare(at, 4, "<!--") == 0) {
      at = text.find("-->", at) + 3;
      continue;
    }
    const size_t end = text.find('>', at);
    if (end == std::string::npos) return "unclosed tag";
    const std::string tag = text.substr(at + 1, end - at - 1);
    at = end + 1;
    if (tag[0] == '?' || tag[0] == '!') continue;
    if (tag[0] == '/') {
      if (open.empty() || open.back() != tag.substr(1))
        return "</" + tag.substr(1) + "> closes nothing";
      open.pop_back();
      continue;
    }
    static const std::regex kTag(
        "[A-Za-z][A-Za-z0-9:]*(\\s+[A-Za-z][-A-Za-z0-9:]*=\"[^\"<]*\")*\\s*/?");
    if (!std::regex_match(tag, kTag)) return "malformed tag <" + tag + ">";
    if (open.empty() && root_seen) return "second root";
    root_seen = true;
    if (tag.back() != '/') open.push_back(tag.substr(0, tag.find_first_of(" \n\t")));
  }
  return open.empty() ? (root_seen ? "" : "no root") : "unclosed <" + open.back() + ">";
}

TEST(PictureTest, XmlErrorFindsErrors) {
  EXPECT_EQ(XmlError("<?xml version=\"1.0\"?><a b=\"1\"><c/>x &amp; y</a>\n"), "");
  for (const char* bad :
       {"<a>", "<a></b>", "<a/><b/>", "<a b=1/>", "<a>&</a>", "x<a/>", "", "<a b=\"<\"/>"}) {
    EXPECT_NE(XmlError(bad), "") << bad;
  }
}

constexpr uint64_t kX = 0x1000;
const PictureAccess kWriteX{kX, 4, sched::kWrite}, kReadX{kX, 4, sched::kRead};

PictureExecution LostUpdate() {
  PictureExecution e;
  e.steps = {Step(0, "create thread", "counter.cc:20",
                  {{sched::MakeCell(sched::CellKind::kThreadStart, 1), 1, sched::kWrite}}),
             Step(1, "read", "counter.cc:8",
                  {{sched::MakeCell(sched::CellKind::kThreadStart, 1), 1, sched::kRead}, kReadX}),
             Step(0, "read", "counter.cc:8", {kReadX}),
             Step(1, "write", "counter.cc:8", {kWriteX}),
             Step(0, "write", "counter.cc:8", {kWriteX}),
             Step(0, "assertion fails", "counter.cc:24", {kReadX})};
  e.steps[3].racing = e.steps[4].racing = true;
  e.steps[5].failing = true;
  e.steps[5].details = "assertion: counter == 2";
  e.steps[0].thread_name = "main";
  e.steps[2].thread_name = e.steps[4].thread_name = e.steps[5].thread_name = "main";
  e.outcome = PictureOutcome::kBug;
  return e;
}

// --------------------------------------------------------------------------------- swim lanes

TEST(PictureLanesTest, SvgShowsStepsThreadsArrowsAndLegend) {
  PictureOptions options;
  options.title = "counter: assertion";
  const std::string svg = LanesAsSvg(LostUpdate(), options);
  EXPECT_EQ(XmlError(svg), "");
  EXPECT_EQ(Occurrences(svg, "<g class=\"step"), 6u);
  EXPECT_EQ(Occurrences(svg, "<g class=\"step racing\""), 2u);
  EXPECT_EQ(Occurrences(svg, "<g class=\"step failing\""), 1u);
  EXPECT_EQ(Occurrences(svg, "class=\"arrow\""), ReducedHappensBefore(LostUpdate().steps).size());
  EXPECT_GE(Occurrences(svg, "class=\"arrow\""), 3u);
  EXPECT_THAT(svg, HasSubstr("counter: assertion"));
  EXPECT_THAT(svg, HasSubstr(">main</text>"));
  EXPECT_THAT(svg, HasSubstr(">T1</text>"));
  EXPECT_THAT(svg, HasSubstr("counter.cc:24"));
  EXPECT_THAT(svg, HasSubstr("assertion: counter == 2"));
  EXPECT_THAT(svg, HasSubstr("step 1 happens before step 2: both use start of T1"));
  EXPECT_THAT(svg, HasSubstr(">data race</text>"));
  EXPECT_THAT(svg, HasSubstr(">failure</text>"));
}

TEST(PictureLanesTest, LegendNamesOnlyWhatOccurs) {
  PictureExecution e;
  e.steps = {Step(0, "lock"), Step(1, "lock")};
  e.outcome = PictureOutcome::kBlocked;
  const std::string svg = LanesAsSvg(e, {});
  EXPECT_THAT(svg, Not(HasSubstr(">data race</text>")));
  EXPECT_THAT(svg, Not(HasSubstr(">failure</text>")));
  EXPECT_THAT(svg, HasSubstr("abandoned before its end"));
}

TEST(PictureLanesTest, OfALongInterleavingTheEndIsShown) {
  PictureExecution e;
  for (int i = 1; i <= 50; ++i) e.steps.push_back(Step(i % 3, "operation " + std::to_string(i)));
  PictureOptions options;
  options.max_lane_steps = 10;
  for (const std::string& text : {LanesAsSvg(e, options), LanesAsDot(e, options)}) {
    EXPECT_THAT(text, HasSubstr("40 earlier steps"));
    EXPECT_THAT(text, Not(HasSubstr("operation 40")));
    EXPECT_THAT(text, HasSubstr("operation 41"));
    EXPECT_THAT(text, HasSubstr("operation 50"));
  }
}

TEST(PictureLanesTest, NothingAtAllIsAPictureToo) {
  EXPECT_EQ(XmlError(LanesAsSvg({}, {})), "");
  std::string svg;
  EXPECT_TRUE(RunDot(LanesAsDot({}, {}), &svg).ok());
  EXPECT_EQ(XmlError(svg), "");
}

TEST(PictureLanesTest, DotHasRowsAndColumns) {
  const std::string dot = LanesAsDot(LostUpdate(), {});
  EXPECT_THAT(dot, HasSubstr("{ rank=same; row3; step3; }"));
  EXPECT_THAT(dot, HasSubstr("thread0 -> step1"));
  EXPECT_THAT(dot, HasSubstr("step1 -> step2 [constraint=false"));
  std::string svg;
  const absl::Status status = RunDot(dot, &svg);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(XmlError(svg), "");
}

// --------------------------------------------------------------------------------------- tree

PictureExecution Execute(std::vector<uint32_t> threads,
                         PictureOutcome outcome = PictureOutcome::kOk) {
  PictureExecution e;
  std::vector<int> count(10);
  for (const uint32_t thread : threads) {
    e.steps.push_back(
        Step(thread, "op" + std::to_string(count[thread]++), "f.cc:" + std::to_string(thread)));
  }
  e.outcome = outcome;
  return e;
}

size_t SumOfMore(const std::string& dot) {
  size_t sum = 0;
  static const std::regex kMore("label=\"\\+([0-9]+) more\"");
  for (auto it = std::sregex_iterator(dot.begin(), dot.end(), kMore); it != std::sregex_iterator();
       ++it) {
    sum += std::stoul((*it)[1]);
  }
  return sum;
}

TEST(PictureTreeTest, CommonBeginningsAreMergedAndRunsCollapsed) {
  PictureOptions options;
  options.title = "two threads";
  const std::string dot = TreeAsDot(
      {Execute({0, 0, 1, 1}), Execute({0, 1, 1, 0}), Execute({0, 1, 0, 1}, PictureOutcome::kBug)},
      options);
  EXPECT_THAT(dot, HasSubstr("two threads\\n3 executions, 1 with a bug\""));
  EXPECT_EQ(Occurrences(dot, "label=\"T0:  op0   f.cc:0\\l\""), 1u) << "shared by all";
  EXPECT_EQ(Occurrences(dot, "label=\"T1:  op0   f.cc:1\\l    op1   f.cc:1\\l\""), 1u)
      << "a run of one thread that nothing leaves is one box";
  EXPECT_EQ(Occurrences(dot, "label=\"T1:  op0   f.cc:1\\l\""), 1u)
      << "a run that is left after its first step is not";
  EXPECT_EQ(Occurrences(dot, "label=\"ok\""), 2u);
  EXPECT_EQ(Occurrences(dot, "label=\"BUG\""), 1u);
  EXPECT_EQ(SumOfMore(dot), 0u);
}

TEST(PictureTreeTest, ChoicesBranch) {
  PictureExecution a = Execute({0}), b = Execute({0});
  a.steps[0].choices = {0};
  b.steps[0].choices = {1, 2};
  const std::string dot = TreeAsDot({a, b}, {});
  EXPECT_THAT(dot, HasSubstr("op0, choose 0 "));
  EXPECT_THAT(dot, HasSubstr("op0, choose 1, 2 "));
}

TEST(PictureTreeTest, LongRunsShowBeginningAndEnd) {
  const std::string dot = TreeAsDot({Execute(std::vector<uint32_t>(100, 2))}, {});
  EXPECT_THAT(dot, HasSubstr("op0 "));
  EXPECT_THAT(dot, HasSubstr("… 94 more steps …"));
  EXPECT_THAT(dot, HasSubstr("op99 "));
  EXPECT_THAT(dot, Not(HasSubstr("op50 ")));
}

TEST(PictureTreeTest, EveryExecutionIsShownOrCounted) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::vector<PictureExecution> executions;
    const size_t count = 1 + random() % 60;
    size_t bugs = 0;
    for (size_t i = 0; i < count; ++i) {
      std::vector<uint32_t> threads(random() % 9);
      for (uint32_t& thread : threads) thread = random() % 3;
      const auto outcome = static_cast<PictureOutcome>(random() % 8 == 0 ? 1 : random() % 2 * 2);
      bugs += outcome == PictureOutcome::kBug;
      executions.push_back(Execute(threads, outcome));
    }
    PictureOptions options;
    options.max_executions = 1 + random() % 30;
    options.max_tree_steps = random() % 100;
    const std::string dot = TreeAsDot(executions, options);
    static const std::regex kLeaf("label=\"(ok|BUG|blocked)(?: ×([0-9]+))?\"");
    size_t shown = 0, shown_bugs = 0;
    for (auto it = std::sregex_iterator(dot.begin(), dot.end(), kLeaf);
         it != std::sregex_iterator(); ++it) {
      const size_t times = (*it)[2].matched ? std::stoul((*it)[2]) : 1;
      shown += times;
      if ((*it)[1] == "BUG") shown_bugs += times;
    }
    EXPECT_EQ(shown + SumOfMore(dot), count);
    EXPECT_GE(shown, 1u);
    if (options.max_executions * 3 / 4 >= bugs && options.max_tree_steps > 9 * bugs) {
      EXPECT_EQ(shown_bugs, bugs) << "buggy executions come first";
    }
  }
}

TEST(PictureTreeTest, AnExecutionOfManyStepsIsNoProblem) {
  std::vector<uint32_t> threads(200000);
  for (size_t i = 0; i < threads.size(); ++i) threads[i] = i % 2;
  const std::string dot = TreeAsDot({Execute(threads), Execute({1, 0})}, {});
  EXPECT_EQ(SumOfMore(dot), 1u);
}

TEST(PictureTreeTest, SvgComesFromDot) {
  const std::string dot = TreeAsDot({Execute({0, 0, 1, 1}), Execute({0, 1, 1, 0})}, {});
  std::string svg;
  const absl::Status status = RunDot(dot, &svg);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(XmlError(svg), "");
  EXPECT_EQ(Occurrences(svg, "class=\"node\""), Occurrences(dot, "fillcolor="));
}

// ------------------------------------------------------------------------------ text and files

const char kNasty[] =
    "a<b> & \"c\" 'd' \\N \\\\ {|} ]]> \x01\x7f\xff\xc3 \xc3\xa9 \xed\xa0\x80\n-->";

TEST(PictureTextTest, NastyTextIsEscapedEverywhere) {
  PictureExecution e;
  e.steps = {Step(0, kNasty, kNasty, {kWriteX}), Step(1, kNasty, kNasty, {kWriteX})};
  e.steps[0].details = kNasty;
  e.steps[1].thread_name = kNasty;
  PictureOptions options;
  options.title = kNasty;
  EXPECT_EQ(XmlError(LanesAsSvg(e, options)), "");
  EXPECT_THAT(LanesAsSvg(e, options), HasSubstr("a&lt;b&gt; &amp; &quot;c&quot;"));
  for (const std::string& dot : {LanesAsDot(e, options), TreeAsDot({e}, options)}) {
    std::string svg;
    const absl::Status status = RunDot(dot, &svg);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(XmlError(svg), "");
    EXPECT_THAT(svg, HasSubstr("a&lt;b&gt; &amp;"));
  }
}

TEST(PictureTextTest, ShorteningKeepsWholeCharacters) {
  EXPECT_EQ(Shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(Shortened("abcdefg", 6), "abcde…");
  EXPECT_EQ(Shortened("ééééé", 3), "éé…");
  EXPECT_EQ(ShortenedAtFront("/home/user/bank.cc:14", 12), "…/bank.cc:14");
  EXPECT_EQ(ShortenedAtFront("ééééé", 3), "…éé");
  EXPECT_EQ(CharacterCount("éa…"), 3u);
  EXPECT_EQ(Printable("a\tb\x02"), "a b\xef\xbf\xbd");
}

TEST(PictureFormatTest, FormatsComeFromTheName) {
  EXPECT_EQ(*PictureFormatOf("a/b.dot"), PictureFormat::kDot);
  EXPECT_EQ(*PictureFormatOf("b.svg"), PictureFormat::kSvg);
  EXPECT_EQ(*PictureFormatOf("b.html"), PictureFormat::kHtml);
  EXPECT_EQ(PictureFormatOf("b.png").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(PictureFormatOf("svg").status().message()), HasSubstr(".dot, .svg"));
}

class PictureFileTest : public ::testing::Test {
 protected:
  PictureFileTest() {
    directory_ = testing::TempDir() + "picture_test.XXXXXX";
    EXPECT_NE(mkdtemp(directory_.data()), nullptr);
  }
  ~PictureFileTest() override {
    for (const char* name : {"p.dot", "p.svg", "p.html"}) std::remove(Path(name).c_str());
    rmdir(directory_.c_str());
  }
  std::string Path(const std::string& name) const { return directory_ + "/" + name; }
  std::string Content(const std::string& name) const {
    std::ifstream file(Path(name));
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  std::string directory_;
};

TEST_F(PictureFileTest, EachFormatIsWritten) {
  PictureOptions options;
  options.title = "a < b";
  const std::vector<PictureExecution> executions = {Execute({0, 1}), Execute({1, 0})};
  for (const char* name : {"p.dot", "p.svg", "p.html"}) {
    ASSERT_TRUE(DrawTree(Path(name), executions, options).ok());
    const std::string tree = Content(name);
    ASSERT_TRUE(DrawLanes(Path(name), LostUpdate(), options).ok());
    const std::string lanes = Content(name);
    for (const std::string& text : {tree, lanes}) {
      if (std::string(name) == "p.svg") {
        EXPECT_EQ(XmlError(text), "");
      } else if (std::string(name) == "p.html") {
        EXPECT_EQ(text.rfind("<!DOCTYPE html>", 0), 0u);
        EXPECT_EQ(Occurrences(text, "<?xml"), 0u);
        EXPECT_EQ(Occurrences(text, "<svg"), 1u);
        EXPECT_THAT(text, HasSubstr("<title>a &lt; b</title>"));
      } else {
        EXPECT_EQ(text.rfind("digraph", 0), 0u);
      }
    }
  }
}

TEST_F(PictureFileTest, FailuresSayWhatToDo) {
  const absl::Status unwritable = DrawLanes(Path("none/p.svg"), LostUpdate(), {});
  EXPECT_EQ(unwritable.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(unwritable.message()), HasSubstr("No such file or directory"));
  EXPECT_EQ(DrawLanes(Path("p.png"), LostUpdate(), {}).code(), absl::StatusCode::kInvalidArgument);

  const std::string path = getenv("PATH");
  setenv("PATH", directory_.c_str(), 1);
  const absl::Status missing = DrawTree(Path("p.svg"), {Execute({0})}, {});
  const absl::Status unneeded = DrawTree(Path("p.dot"), {Execute({0})}, {});
  setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(missing.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(missing.message()), HasSubstr("Graphviz"));
  EXPECT_TRUE(unneeded.ok());

  std::string svg;
  const absl::Status broken = RunDot("digraph {", &svg);
  EXPECT_EQ(broken.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(broken.message()), HasSubstr("syntax error"));
}

}  // namespace
}  // namespace mc::checker
