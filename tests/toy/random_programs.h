// Checks of random programs against brute force: they print their seed and shrink.
#ifndef MC_TESTS_TOY_RANDOM_PROGRAMS_H_
#define MC_TESTS_TOY_RANDOM_PROGRAMS_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "tests/toy/brute_force.h"
#include "tests/toy/generator.h"
#include "tests/toy/program.h"

namespace mc::toy {

inline constexpr uint64_t kMostInterleavings = 20000;

inline uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = getenv(name);
  return text == nullptr ? otherwise : strtoull(text, nullptr, 10);
}

// MC_TEST_SEED and MC_TEST_PROGRAMS repeat or extend a run.
inline uint64_t FirstSeed() { return FromEnvironment("MC_TEST_SEED", 1); }
inline uint64_t ProgramCount(uint64_t otherwise) {
  return FromEnvironment("MC_TEST_PROGRAMS", otherwise);
}

// Checks the programs of a range of seeds; the first failure is shrunk and reported.
template <typename Check>
void ForRandomPrograms(uint64_t programs, const Check& check) {
  uint64_t checked = 0;
  for (uint64_t seed = FirstSeed(); seed < FirstSeed() + programs; ++seed) {
    auto failure = [&](const std::string& text) -> std::string {
      Program program;
      std::string error;
      if (!Parse(text, &program, &error)) return "";
      const Exploration expected = BruteForce(program, kMostInterleavings);
      if (!expected.complete) return "";
      ++checked;
      return check(program, expected);
    };
    const Sketch sketch = Generate(seed);
    Program program;
    std::string error;
    ASSERT_TRUE(Parse(sketch.Text(), &program, &error)) << "seed " << seed << ": " << error;
    if (failure(sketch.Text()).empty()) continue;
    const Sketch small =
        Shrink(sketch, [&](const std::string& text) { return !failure(text).empty(); });
    FAIL() << "seed " << seed << ": " << failure(small.Text()) << "\n  shrunk: " << small.Text()
           << "\n  from:   " << sketch.Text();
  }
  EXPECT_GT(checked, programs / 2) << "too few programs were small enough";
}

}  // namespace mc::toy

#endif  // MC_TESTS_TOY_RANDOM_PROGRAMS_H_
