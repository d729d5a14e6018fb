// What mc says of random programs: runs one search over a range of them and reads its report.
#ifndef MC_TESTS_CAMPAIGN_SEARCHES_H_
#define MC_TESTS_CAMPAIGN_SEARCHES_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace mc::campaign {

// How many programs one run of mc goes through.
inline constexpr uint64_t kBatch = 64;

// Of the command line (campaign.cc says what they mean); not changed once programs run.
struct Settings {
  std::string mc = "build/tools/mc";
  std::vector<std::string> harnesses = {"build/tests/campaign/random_program"};
  std::string property, mutate, library, coverage, work = "campaign-work";
  std::vector<int> profiles = {0};
  uint64_t first = 1, count = 200, executions = 4000, pairs = 60;
};
extern Settings settings;

// One program, or a batch of programs with consecutive seeds.
struct Range {
  int profile = 0;
  uint64_t first = 0, count = 1, mask = 0;
  size_t harness = 0;  // which of Settings::harnesses
};

// What one search says of one program.
struct Answer {
  std::string error;
  bool complete = false, saturated = false;
  uint64_t executions = 0, blocked = 0;
  std::set<std::string> lines;   // final states and bugs
  std::set<std::string> traces;  // Mazurkiewicz traces, if they were asked for
};
using Answers = std::map<uint64_t, Answer>;  // by seed

// What the command prints.
std::string Output(const std::string& command);

// The text of one program.
std::string Print(const Range& range, uint64_t seed);

// The command line that runs the search by hand.
std::string CommandOf(const Range& range, const std::string& search);

// Every program of the range under one search, a list of options of mc. The files it writes are
// called `name`. Ends the process if mc gives no report.
Answers Search(const Range& range, const std::string& search, const std::string& name);

}  // namespace mc::campaign

#endif  // MC_TESTS_CAMPAIGN_SEARCHES_H_
