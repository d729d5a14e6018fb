// campaign: runs random programs through mc and compares what different searches say of them.
//
//   campaign [options] convergence   final states and bugs of source, dpor, portfolio, odpor and
//                                    iterative deepening equal those of a search without reduction;
//                                    so do the Mazurkiewicz traces, of which odpor runs each once
//                                    (so it does where only shared accesses are preemption points)
//   campaign [options] refinements   final states and bugs of odpor are the same without each of
//                                    the refinements of dependence, in no fewer executions
//   campaign [options] laws          the events of every program obey the laws of the event model
//   campaign [options] coverage      the operations executed so far (see --coverage), by variant
//
//   --mc=FILE --harness=FILE[,FILE]  the programs mc and random_program, and random_program_ends,
//                                    by which every other batch of programs is run
//   --profile=P[,P...] --first=SEED --count=N     which programs (profiles: program.h)
//   --executions=N                   programs with more executions without reduction are left out
//   --pairs=N                        laws: pairs of events looked at in each program
//   --mutate=NAME --library=DIR      a deliberate mistake, with the runtime of DIR that can make
//                                    it: the first program that shows it ends the campaign
//   --coverage=FILE                  counts what was executed there
//   --work=DIR                       for its files
//
// Prints each failure with its program, shrunk, and the commands that show it; at the end counters.
// Exit status: 0 nothing failed, 1 something failed, 2 it could not be run.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/campaign/coverage.h"
#include "tests/campaign/properties.h"

namespace mc::campaign {
namespace {

Counters counters, counters_of_shrinking;

Property* property = nullptr;

// The same failure with as few instructions as possible.
Range Shrink(Range range, Finding* finding, const std::string& name) {
  auto fails = [&](const Range& smaller) {
    bool same = false;
    property(smaller, name, counters_of_shrinking, [&](uint64_t, const Finding& found) {
      if (same || found.what != finding->what) return;
      same = true;
      *finding = found;
    });
    return same;
  };
  const int instructions =
      atoi(Output(settings.harnesses[range.harness] + " --instructions " +
                  std::to_string(range.profile) + " " + std::to_string(range.first))
               .c_str());
  std::vector<int> bits = {62, 63};
  for (int k = 0; k < instructions && k < 60; ++k) bits.push_back(k);
  for (int bit : bits) {
    Range smaller = range;
    smaller.mask |= uint64_t{1} << bit;
    if (fails(smaller)) range = smaller;
  }
  return range;
}

std::mutex output_mutex;
std::atomic<bool> enough{false};

void Show(const Range& batch, uint64_t seed, Finding finding, const std::string& name) {
  Range range = batch;
  range.first = seed;
  range.count = 1;
  if (settings.mutate.empty()) range = Shrink(range, &finding, name + "-shrink");
  const std::lock_guard<std::mutex> lock(output_mutex);
  std::cout << "FAILED profile " << range.profile << " seed " << seed << " mask " << range.mask
            << ": " << finding.what << "\n"
            << finding.detail << "\n"
            << Print(range, seed);
  for (const std::string& search : finding.searches) {
    std::cout << "  " << CommandOf(range, search) << "\n";
  }
  std::cout << std::flush;
}

void Work(int worker, std::atomic<uint64_t>* next) {
  const std::string name = settings.property + std::to_string(worker);
  const uint64_t batches = (settings.count + kBatch - 1) / kBatch;
  while (!enough) {
    const uint64_t k = (*next)++;
    if (k >= batches * settings.profiles.size()) return;
    Range range;
    range.profile = settings.profiles[k / batches];
    range.first = settings.first + k % batches * kBatch;
    range.harness = k % settings.harnesses.size();
    range.count = std::min(kBatch, settings.first + settings.count - range.first);
    std::set<uint64_t> shown;
    std::vector<std::pair<uint64_t, Finding>> findings;
    property(range, name, counters, [&](uint64_t seed, const Finding& finding) {
      if (shown.insert(seed).second) findings.emplace_back(seed, finding);
    });
    for (const auto& [seed, finding] : findings) {
      if (enough) break;
      if (++counters.failures <= 12) Show(range, seed, finding, name);
      if (!settings.mutate.empty()) enough = true;
    }
  }
}

// -------------------------------------------------------------------------------------- coverage

int PrintCoverage() {
  std::ifstream file(settings.coverage, std::ios::binary);
  static Coverage coverage;
  file.read(reinterpret_cast<char*>(&coverage), sizeof coverage);
  if (!file) {
    std::cerr << "there is no coverage in " << settings.coverage << "\n";
    return 2;
  }
  std::istringstream names(Output(settings.harnesses.front() + " --operations"));
  int number = 0;
  for (std::string line; std::getline(names, line); ++number) {
    std::cout << line;
    for (int v = 0; v < kVariants; ++v) {
      std::cout << '|' << coverage.programs[number][v];
    }
    std::cout << "\n";
  }
  return 0;
}

bool ParseOption(const std::string& word) {
  const size_t equals = word.find('=');
  if (equals == std::string::npos) return false;
  const std::string name = word.substr(2, equals - 2), value = word.substr(equals + 1);
  const std::map<std::string, std::string*> texts = {{"mc", &settings.mc},
                                                     {"mutate", &settings.mutate},
                                                     {"library", &settings.library},
                                                     {"coverage", &settings.coverage},
                                                     {"work", &settings.work}};
  const std::map<std::string, uint64_t*> numbers = {{"first", &settings.first},
                                                    {"count", &settings.count},
                                                    {"executions", &settings.executions},
                                                    {"pairs", &settings.pairs}};
  std::istringstream list(value);
  if (name == "harness") {
    settings.harnesses.clear();
    for (std::string h; std::getline(list, h, ',');) settings.harnesses.push_back(h);
  } else if (texts.contains(name)) {
    *texts.at(name) = value;
  } else if (numbers.contains(name)) {
    *numbers.at(name) = std::stoull(value);
  } else if (name == "profile") {
    settings.profiles.clear();
    for (std::string p; std::getline(list, p, ',');) settings.profiles.push_back(std::stoi(p));
  } else {
    return false;
  }
  return true;
}

int Main(int argc, char** argv) {
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    if (!word.starts_with("--")) {
      settings.property = word;
    } else if (!ParseOption(word)) {
      std::cerr << "unknown option " << word << "\n";
      return 2;
    }
  }
  if (settings.property == "coverage") return PrintCoverage();
  property = FindProperty(settings.property);
  if (property == nullptr) {
    std::cerr
        << "usage: campaign [options] convergence|refinements|laws|coverage; see campaign.cc\n";
    return 2;
  }
  std::filesystem::create_directories(settings.work);
  if (!settings.coverage.empty()) {
    settings.coverage = std::filesystem::absolute(settings.coverage).string();
    if (!std::filesystem::exists(settings.coverage)) std::ofstream(settings.coverage).flush();
    std::filesystem::resize_file(settings.coverage, sizeof(Coverage));
  }
  std::atomic<uint64_t> next{0};
  std::vector<std::thread> workers;
  workers.reserve(2);
  for (int k = 0; k < 2; ++k) workers.emplace_back(Work, k, &next);
  for (std::thread& worker : workers) worker.join();
  std::cout << settings.property << ": programs " << counters.programs << ", compared "
            << counters.compared << ", too large " << counters.too_large << ", failures "
            << counters.failures << "; executions dfs " << counters.executions_dfs << ", odpor "
            << counters.executions_odpor << "; traces " << counters.traces << "; states "
            << counters.states << ", bugs " << counters.bugs << "; pairs " << counters.pairs
            << "\n";
  return counters.failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace mc::campaign

int main(int argc, char** argv) { return mc::campaign::Main(argc, argv); }
