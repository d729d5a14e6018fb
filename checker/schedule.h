// Schedule: which thread runs at every step of one execution, and what it chooses there.
//
// Two text forms: the one of messages (checker/protocol.h, STEP;STEP;...) and the file, made for
// people to read and edit:
//
//     mc-schedule 1
//     harness: ./queue
//     build-id: 5f2c...
//     argument: --small              (one line for each, in order)
//     preemption-points: sync,access:queue.cc:31
//     heap: thread                   (... every setting of SearchSettings)
//     thread: 0                      (T0, then T1 and so on: names in slot order)
//     thread: 0.1
//     steps:
//     T0 - start at queue.cc:40
//     T1 2.0 lock at queue.cc:12     (choices 2 and 0; what follows them is for the reader)
//     end
//
// Empty lines and lines that start with '#' mean nothing. Values escape control characters and '\'.
#ifndef MC_CHECKER_SCHEDULE_H_
#define MC_CHECKER_SCHEDULE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checker/search_settings.h"

namespace mc::checker {

struct ScheduleStep {
  uint32_t thread = 0;
  std::vector<uint32_t> choices;
  uint64_t pc = 0;    // where the thread was; 0 if unknown
  std::string what;   // what it was about to do
  std::string place;  // file:line of pc
  int line = 0;       // of the schedule file it was read from

  // Only what counts for running it.
  bool SameDecision(const ScheduleStep& other) const {
    return thread == other.thread && choices == other.choices;
  }
};

struct Schedule {
  std::string harness;
  std::string build_id;
  std::vector<std::string> arguments;
  std::string entry = "main";
  std::string test;
  std::string failure;  // kind of the bug it shows, "" for none
  std::string message;
  std::string where;
  std::string preemption_points = "all";
  SearchSettings settings;
  std::vector<std::string> threads;
  // Code addresses that `all` preempts before, found while searching; with 0x0, it does so before
  // all operations.
  std::string shared_sites;
  std::vector<ScheduleStep> steps;
};

// Steps as in messages. Malformed ones end the list.
std::vector<ScheduleStep> ParseSteps(std::string_view text);
std::string EncodeSteps(const std::vector<ScheduleStep>& steps);

std::string FormatSchedule(const Schedule& schedule);
// An error names the first bad line.
absl::StatusOr<Schedule> ParseSchedule(std::string_view text);

// Errors name the file.
absl::Status WriteScheduleFile(const std::string& path, const Schedule& schedule);
absl::StatusOr<Schedule> ReadScheduleFile(const std::string& path);

}  // namespace mc::checker

#endif  // MC_CHECKER_SCHEDULE_H_
