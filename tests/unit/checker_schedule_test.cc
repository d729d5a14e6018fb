// Schedules as files and as messages: what is written is what is read, and what is damaged is
// refused with the first bad line, never with a crash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include "checker/schedule.h"

namespace mc::checker {
namespace {

using ::testing::HasSubstr;

Schedule Example() {
  Schedule schedule;
  schedule.harness = "./queue";
  schedule.build_id = "5f2c00";
  schedule.arguments = {"--small", "two words", ""};
  schedule.test = "Push";
  schedule.failure = "assertion";
  schedule.message =
      "count == 2\nbut count is 1\t\\ \x01"
      "5";
  schedule.where = "queue.cc:31";
  schedule.preemption_points = "sync,access:queue.cc:31";
  schedule.settings.heap = "recycle";
  schedule.settings.seed = 7;
  schedule.settings.disabled = {"posts", "barriers"};
  schedule.settings.spurious = true;
  schedule.threads = {"0", "0.0", "0.0.0"};
  schedule.shared_sites = "0x401020;0x40ffe0";
  schedule.steps = {{0, {}, 0, "start", "queue.cc:40"},
                    {1, {2, 0}, 0, "atomic write", "my file.cc:12"},
                    {2, {}, 0, "", ""},
                    {0, {7}, 0, "join", ""}};
  return schedule;
}

void ExpectEqual(const Schedule& a, const Schedule& b) {
  EXPECT_EQ(a.harness, b.harness);
  EXPECT_EQ(a.build_id, b.build_id);
  EXPECT_EQ(a.arguments, b.arguments);
  EXPECT_EQ(a.entry, b.entry);
  EXPECT_EQ(a.test, b.test);
  EXPECT_EQ(a.failure, b.failure);
  EXPECT_EQ(a.message, b.message);
  EXPECT_EQ(a.where, b.where);
  EXPECT_EQ(a.preemption_points, b.preemption_points);
  EXPECT_EQ(a.settings, b.settings);
  EXPECT_EQ(a.threads, b.threads);
  EXPECT_EQ(a.shared_sites, b.shared_sites);
  ASSERT_EQ(a.steps.size(), b.steps.size());
  for (size_t i = 0; i < a.steps.size(); ++i) {
    EXPECT_TRUE(a.steps[i].SameDecision(b.steps[i])) << "step " << i;
    EXPECT_EQ(a.steps[i].what, b.steps[i].what) << "step " << i;
    EXPECT_EQ(a.steps[i].place, b.steps[i].place) << "step " << i;
  }
}

// The text of the example with `line` (counted from 1) replaced.
std::string WithLine(int line, const std::string& replacement) {
  std::istringstream in(FormatSchedule(Example()));
  std::string out;
  int number = 0;
  for (std::string text; std::getline(in, text);) {
    out += (++number == line ? replacement : text) + "\n";
  }
  return out;
}

int LineOf(const std::string& beginning) {
  std::istringstream in(FormatSchedule(Example()));
  int number = 0;
  for (std::string text; std::getline(in, text);) {
    ++number;
    if (text.starts_with(beginning)) return number;
  }
  ADD_FAILURE() << beginning;
  return 0;
}

std::string ErrorOf(const std::string& text) {
  const absl::StatusOr<Schedule> schedule = ParseSchedule(text);
  return schedule.ok() ? "no error" : std::string(schedule.status().message());
}

TEST(Schedule, RoundTripOfAFile) {
  const absl::StatusOr<Schedule> parsed = ParseSchedule(FormatSchedule(Example()));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  ExpectEqual(*parsed, Example());
}

TEST(Schedule, RandomRoundTrips) {
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  SCOPED_TRACE("seed " + std::to_string(seed));
  auto text = [&] {
    std::string out(random() % 12, ' ');
    for (char& c : out) c = static_cast<char>(random() % 256);
    return out;
  };
  for (int round = 0; round < 500; ++round) {
    Schedule schedule = Example();
    schedule.message = text();
    schedule.harness = text();
    schedule.arguments = {text(), text()};
    schedule.steps.clear();
    for (size_t i = random() % 50; i > 0; --i) {
      ScheduleStep step;
      step.thread = random() % 3;
      for (size_t k = random() % 4; k > 0; --k) step.choices.push_back(random());
      schedule.steps.push_back(step);
    }
    const absl::StatusOr<Schedule> parsed = ParseSchedule(FormatSchedule(schedule));
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    ExpectEqual(*parsed, schedule);
    std::vector<ScheduleStep> steps = ParseSteps(EncodeSteps(schedule.steps));
    ASSERT_EQ(steps.size(), schedule.steps.size());
    for (size_t i = 0; i < steps.size(); ++i) {
      EXPECT_TRUE(steps[i].SameDecision(schedule.steps[i]));
    }
  }
}

TEST(Schedule, StepsOfMessages) {
  const std::vector<ScheduleStep> steps = ParseSteps("3:1.0@4198742/atomic write;0;12@17");
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[0].thread, 3u);
  EXPECT_EQ(steps[0].choices, (std::vector<uint32_t>{1, 0}));
  EXPECT_EQ(steps[0].pc, 4198742u);
  EXPECT_EQ(steps[0].what, "atomic write");
  EXPECT_EQ(steps[1].thread, 0u);
  EXPECT_TRUE(steps[1].choices.empty());
  EXPECT_EQ(steps[2].pc, 17u);
  EXPECT_EQ(EncodeSteps(steps), "3:1.0;0;12");
}

TEST(Schedule, CommentsAndEditsAreWelcome) {
  std::string text = FormatSchedule(Example());
  text.insert(text.find("\nsteps:") + 1, "# looked into by hand\n\n");
  text.insert(text.find("end\n"), "T1 -\r\n");
  const absl::StatusOr<Schedule> parsed = ParseSchedule(text);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->steps.size(), Example().steps.size() + 1);
}

TEST(Schedule, TheFirstBadLineIsNamed) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("line 1: not a schedule"));
  EXPECT_THAT(ErrorOf("\x7f"
                      "ELF\x02\x01\x01"),
              HasSubstr("line 1: not a schedule"));
  EXPECT_THAT(ErrorOf(WithLine(1, "mc-schedule 2")), HasSubstr("line 1: format version 2"));
  EXPECT_THAT(ErrorOf(WithLine(2, "harness ./queue")), HasSubstr("line 2: expected 'NAME: VALUE'"));
  EXPECT_THAT(ErrorOf(WithLine(2, "harnass: ./queue")), HasSubstr("line 2: unknown name"));
  EXPECT_THAT(ErrorOf(WithLine(3, "harness: ./queue")), HasSubstr("line 3: 'harness' was already"));
  EXPECT_THAT(ErrorOf(WithLine(2, "# gone")), HasSubstr("has no 'harness'"));
  const int heap = LineOf("heap:");
  const std::string heap_line = "line " + std::to_string(heap) + ": ";
  EXPECT_THAT(ErrorOf(WithLine(heap, "heap: sideways")), HasSubstr(heap_line + "'sideways'"));
  EXPECT_THAT(ErrorOf(WithLine(heap, "heap: a\x01")), HasSubstr(heap_line + "this is not text"));
  for (const char* entry : {"nowhere", "check:", "check:0", "check:1x", "main "}) {
    EXPECT_THAT(ErrorOf(WithLine(LineOf("entry:"), std::string("entry: ") + entry)),
                HasSubstr("line 4: there is no entry"));
  }
  EXPECT_EQ(ErrorOf(WithLine(LineOf("entry:"), "entry: check:12")), "no error");
  EXPECT_THAT(ErrorOf(WithLine(LineOf("failure:"), "failure: sadness")),
              HasSubstr("no kind of failure named 'sadness'"));
  EXPECT_THAT(ErrorOf(WithLine(LineOf("preemption-points:"), "preemption-points: sideways")),
              HasSubstr("line " + std::to_string(LineOf("preemption-points:")) + ": "));
  for (const char* sites : {"0x12;5", "12", "0xzz", "0x"}) {
    const int line = LineOf("shared-sites:");
    EXPECT_THAT(ErrorOf(WithLine(line, std::string("shared-sites: ") + sites)),
                HasSubstr("line " + std::to_string(line) + ": '"))
        << sites;
  }
  const int thread = LineOf("thread: 0.0");
  for (const char* name : {"0", "0.1", "0.", "1", "0.0.0", "0.x", "", "0.00"}) {
    EXPECT_THAT(
        ErrorOf(WithLine(thread, std::string("thread: ") + name)),
        HasSubstr("line " + std::to_string(thread) + ": '" + name + "' cannot be the name of T1"));
  }
  const int step = LineOf("T1");
  const std::string step_line = "line " + std::to_string(step) + ": ";
  EXPECT_THAT(ErrorOf(WithLine(step, "T3 -")), HasSubstr(step_line + "there is no thread T3"));
  EXPECT_THAT(ErrorOf(WithLine(step, "T1")), HasSubstr(step_line + "the choices are missing"));
  EXPECT_THAT(ErrorOf(WithLine(step, "T1 2.")), HasSubstr(step_line + "the choices must"));
  EXPECT_THAT(ErrorOf(WithLine(step, "1 -")), HasSubstr(step_line + "expected a step"));
  EXPECT_THAT(ErrorOf(WithLine(step, "T1 - " + std::string(70000, 'x'))),
              HasSubstr(step_line + "this line is too long"));
  EXPECT_THAT(ErrorOf(FormatSchedule(Example()) + "T0 -\n"), HasSubstr("nothing may follow 'end'"));
}

TEST(Schedule, TruncationIsNoticedAtEveryLength) {
  const std::string text = FormatSchedule(Example());
  for (size_t length = 0; length + 1 < text.size(); ++length) {
    EXPECT_FALSE(ParseSchedule(text.substr(0, length)).ok()) << length;
  }
}

TEST(Schedule, DamageNeverCrashes) {
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  SCOPED_TRACE("seed " + std::to_string(seed));
  const std::string text = FormatSchedule(Example());
  size_t refused = 0;
  for (int round = 0; round < 5000; ++round) {
    std::string damaged = text;
    for (size_t i = 1 + random() % 4; i > 0; --i) {
      const size_t at = random() % damaged.size();
      switch (random() % 3) {
        case 0:
          damaged[at] = static_cast<char>(random() % 256);
          break;
        case 1:
          damaged.erase(at, random() % 20);
          break;
        default:
          damaged.insert(at, damaged.substr(random() % damaged.size(), random() % 20));
      }
      if (damaged.empty()) break;
    }
    const absl::StatusOr<Schedule> parsed = ParseSchedule(damaged);
    if (!parsed.ok()) {
      ++refused;
      EXPECT_THAT(std::string(parsed.status().message()), HasSubstr("line"));
    }
  }
  EXPECT_GT(refused, 1000u);
  for (int round = 0; round < 500; ++round) {
    std::string garbage(random() % 3000, ' ');
    for (char& c : garbage) c = static_cast<char>(random() % 256);
    EXPECT_FALSE(ParseSchedule(garbage).ok());
  }
}

TEST(Schedule, FilesAreWrittenWithTheirFolders) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("schedules-" + std::to_string(getpid()));
  const std::string path = (folder / "deep" / "a.schedule").string();
  ASSERT_TRUE(WriteScheduleFile(path, Example()).ok());
  const absl::StatusOr<Schedule> read = ReadScheduleFile(path);
  ASSERT_TRUE(read.ok()) << read.status();
  ExpectEqual(*read, Example());
  // A file where a folder should be.
  const absl::Status status = WriteScheduleFile(path + "/b.schedule", Example());
  EXPECT_THAT(std::string(status.message()), HasSubstr(path + "/b.schedule"));
  EXPECT_THAT(std::string(ReadScheduleFile(path + "x").status().message()), HasSubstr(path + "x"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace mc::checker
