// Random programs of the tiny language, covering every operation and outcome of the event model,
// and shrinking of those that a check fails on.
#ifndef MC_TESTS_TOY_GENERATOR_H_
#define MC_TESTS_TOY_GENERATOR_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace mc::toy {

// A program as a list of removable pieces.
struct Sketch {
  struct Item {
    std::string text;
    bool joined = false;  // with the item before it, in one transition
  };
  struct Thread {
    bool created = false;
    std::vector<Item> items;
  };
  std::vector<Thread> threads;
  std::string options;
  int barrier_count = 2;

  std::string Text() const;
};

// The same seed gives the same program.
Sketch Generate(uint64_t seed);

// Removes threads and items, and joins of transitions, as long as `fails` still holds for the text.
Sketch Shrink(Sketch sketch, const std::function<bool(const std::string&)>& fails);

}  // namespace mc::toy

#endif  // MC_TESTS_TOY_GENERATOR_H_
