#include "checker/worker_watch.h"

#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace mc::checker {
namespace {

// So long after its last sign of life the worker's standing begins to be looked at.
constexpr absl::Duration kQuietBefore = absl::Milliseconds(100);
// Whoever looks that seldom was stopped, or had the machine put to sleep under it.
constexpr absl::Duration kLongestPause = absl::Seconds(2);
// So many times it may be given the time limit anew for the growth of its memory.
constexpr uint64_t kGrowths = 32;
constexpr uint64_t kGrowthWithoutLimit = 64 << 20;

}  // namespace

WorkerStanding ReadWorkerStanding(pid_t process) {
  std::ifstream file(absl::StrCat("/proc/", process, "/stat"));
  std::string line;
  std::getline(file, line);
  // PID (NAME) STATE and numbers; NAME may have parentheses of its own. The 14th and 15th of all
  // are its processor time, in the program and in the kernel, in ticks; the 24th its pages.
  const size_t name_end = line.rfind(") ");
  WorkerStanding standing;
  if (name_end == std::string::npos) return standing;
  const std::vector<std::string> fields = absl::StrSplit(line.substr(name_end + 2), ' ');
  constexpr size_t kUser = 11, kSystem = 12, kResident = 21;
  uint64_t user, system, pages;
  if (fields.size() <= kResident || fields[0].empty() || !absl::SimpleAtoi(fields[kUser], &user) ||
      !absl::SimpleAtoi(fields[kSystem], &system) || !absl::SimpleAtoi(fields[kResident], &pages)) {
    return standing;
  }
  standing.state = fields[0][0];
  standing.processor_time =
      absl::Seconds(static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK)));
  standing.resident = pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return standing;
}

HangWatch::HangWatch(absl::Duration hang_timeout, uint64_t memory_limit)
    : hang_timeout_(hang_timeout),
      noted_growth_(memory_limit == 0 ? kGrowthWithoutLimit : memory_limit / kGrowths) {}

bool HangWatch::IsQuiet(absl::Time now, uint64_t transitions, bool in_program) {
  const bool we_were_stopped = now - last_check_ > kLongestPause;
  last_check_ = now;
  if (transitions != seen_transitions_ || !in_program || we_were_stopped) {
    seen_transitions_ = transitions;
    last_life_ = now;
    looked_ = false;
    return false;
  }
  return now - last_life_ > kQuietBefore;
}

bool HangWatch::Hangs(absl::Time now, const WorkerStanding& standing) {
  // What it did before it was stopped does not count either, for simplicity.
  const bool stopped = standing.state == 'T' || standing.state == 't';
  const bool grew = looked_ && standing.resident > resident_before_ + noted_growth_;
  if (stopped || grew) last_life_ = now;
  if (stopped || grew || !looked_) {
    looked_ = true;
    processor_time_before_ = standing.processor_time;
    resident_before_ = standing.resident;
    return false;
  }
  if (now - last_life_ <= hang_timeout_) return false;
  // On a machine that is busy it may want to go on, and hardly be let.
  return standing.state != 'R' ||
         standing.processor_time - processor_time_before_ > hang_timeout_ / 2;
}

}  // namespace mc::checker
