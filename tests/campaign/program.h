// A random program: what each thread does, as numbers of operations.
//
// Made before main from a seed alone, and only read by the program under test: mc sees nothing of
// it.
#ifndef MC_TESTS_CAMPAIGN_PROGRAM_H_
#define MC_TESTS_CAMPAIGN_PROGRAM_H_

#include <cstdint>
#include <string>

#include "tests/campaign/objects.h"

namespace mc::campaign {

// What kind of program; the campaign runs each with options of mc that suit it.
enum class Profile : uint8_t {
  kAny,       // a mixture of everything but what is below
  kExit,      // threads end the process (for --exit=immediate)
  kSpurious,  // condition variables and futexes (for --spurious)
  kSpin,      // loops that wait for another thread
  kHeap,      // threads that share blocks of heap (for --heap=recycle)
};
inline constexpr int kProfiles = 5;

inline constexpr int kMostInstructions = 12;  // of a thread

struct Instruction {
  enum Guard : uint8_t { kNone, kIfZero, kIfNotZero };  // what the result before has to be
  uint8_t operation = 0;
  Guard guard = kNone;
  bool begins_block = false;  // mc_atomic_begin before it
  bool ends_block = false;    // mc_atomic_end after it
  bool removed = false;       // by the mask
};

struct Program {
  // How main ends: it joins all threads it created (in one block or each in one of its own), or
  // none.
  enum Join : uint8_t { kInOneBlock, kEach, kNone };
  int thread_count = 0;  // main is 0 and runs code as well
  Instruction code[kMostThreads][kMostInstructions];
  int size[kMostThreads] = {};
  int creator[kMostThreads] = {};  // 0: by main at the start; else by a `create` of that thread
  bool created_at_once = true;     // main creates its threads in one block
  Join join = kNone;
  unsigned semaphore = 0;  // initial value
  unsigned barrier = 2;    // how many the barrier counts
};

// The program of this seed. `mask` removes instructions: bit k for the k-th, counted over all
// threads; bit 63 joins no thread, bit 62 removes the last thread.
Program Generate(Profile profile, uint64_t seed, uint64_t mask);
// The program that `text` describes (see generator.cc); traps if it is malformed.
Program FromText(const char* text);
std::string TextOf(const Program& program);
// Instructions before any was removed.
int InstructionCount(const Program& program);

}  // namespace mc::campaign

#endif  // MC_TESTS_CAMPAIGN_PROGRAM_H_
