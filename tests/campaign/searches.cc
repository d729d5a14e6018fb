#include "tests/campaign/searches.h"

#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace mc::campaign {

Settings settings;

namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

const char* OptionsOf(int profile) {
  static constexpr const char* kOptions[] = {"", " --exit=immediate", " --spurious", "",
                                             " --heap=recycle"};
  return kOptions[profile];
}

std::string Arguments(const Range& range) {
  return std::to_string(range.profile) + " " + std::to_string(range.first) + " " +
         std::to_string(range.count) + " " + std::to_string(range.mask);
}

std::string Environment() {
  std::string text;
  if (!settings.library.empty()) text += "LD_LIBRARY_PATH=" + settings.library + " ";
  if (!settings.coverage.empty()) text += "MC_CAMPAIGN_COVERAGE=" + settings.coverage + " ";
  return text;
}

void AddTest(const nlohmann::json& test, uint64_t seed, Answers* answers) {
  Answer& answer = (*answers)[seed];
  if (test.contains("error")) answer.error = test["error"];
  answer.saturated = test["saturated"];
  answer.complete = true;
  answer.executions = test["executions"];
  answer.blocked = test["executions_blocked"];
  for (const auto& job : test["jobs"]) answer.complete &= job["complete"].get<bool>();
}

}  // namespace

std::string Output(const std::string& command) {
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return text;
  char buffer[4096];
  for (size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, n);
  pclose(pipe);
  return text;
}

std::string Print(const Range& range, uint64_t seed) {
  return Output(settings.harnesses[range.harness] + " --print " + std::to_string(range.profile) +
                " " + std::to_string(seed) + " " + std::to_string(range.mask));
}

// The budget is divided among the programs. It is there for none of them to run out of, however
// busy the machine.
std::string CommandOf(const Range& range, const std::string& search) {
  std::string command =
      settings.mc + " --keep-going --quiet --time=10h" + OptionsOf(range.profile) + " " + search;
  if (!settings.mutate.empty()) command += " --internal-mutate=" + settings.mutate;
  return command + " " + settings.harnesses[range.harness] + " -- " + Arguments(range);
}

Answers Search(const Range& range, const std::string& search, const std::string& name) {
  const std::string base = settings.work + "/" + name;
  const std::string json = base + ".json", states = base + ".states";
  std::filesystem::remove(json);
  std::filesystem::remove(states);
  const std::string command =
      Environment() +
      CommandOf(range, search + " --output=" + base + ".out --json=" + json +
                           " --final-states=" + states) +
      " >" + base + ".log 2>&1";
  const int status = system(command.c_str());
  Answers answers;
  nlohmann::json report = nlohmann::json::parse(ReadFile(json), nullptr, false);
  if (report.is_discarded()) {
    std::cerr << "no report, wait status " << status << ": " << command << "\n";
    exit(2);
  }
  if (report.contains("tests")) {
    for (const auto& test : report["tests"]) {
      AddTest(test, std::stoull(test["test"].get<std::string>().substr(1)), &answers);
    }
  } else {
    AddTest(report, range.first, &answers);
  }
  std::istringstream lines(ReadFile(states));
  for (std::string line; std::getline(lines, line);) {
    const size_t space = line.find(' ');
    if (line.empty() || line[0] != 's' || space == std::string::npos) continue;
    Answer& answer = answers[std::stoull(line.substr(1, space - 1))];
    (line.ends_with(" trace") ? answer.traces : answer.lines).insert(line.substr(space + 1));
  }
  std::filesystem::remove_all(base + ".out");
  return answers;
}

}  // namespace mc::campaign
