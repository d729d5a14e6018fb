// OwnedMemory against its definition, over random executions.
//
// Whatever order the executions come in: if an access was left out of the record of one, then in
// that execution its line was touched by one thread alone, or by one before it created a second,
// and by that in its first block.
#include "sched/owned_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace mc::sched {
namespace {

constexpr int kThreads = 4;
constexpr uintptr_t kBase = 0x1000000;

struct Access {
  uintptr_t address = 0;
  size_t size = 1;
  bool may_be_left_out = true;
};
struct Action {
  int creates = 0;  // a thread; 0: none, an access instead
  Access access;
};
// By thread, by block.
using Program = std::vector<std::vector<std::vector<Action>>>;

struct Touch {
  int thread = 0;
  uint32_t block = 0;
  uint64_t created_before = 0;  // threads that its thread had created, one bit for each
  Access access;
  bool left_out = false;
};

Program RandomProgram(std::mt19937_64& random) {
  Program program(kThreads);
  int next_thread = 1;
  for (int t = 0; t < kThreads; ++t) {
    program[t].resize(1 + random() % 3);
    for (auto& block : program[t]) {
      const int actions = static_cast<int>(random() % 5);
      for (int k = 0; k < actions; ++k) {
        Action action;
        // Thread t is created by an earlier one, or never runs.
        if (next_thread < kThreads && next_thread > t && random() % 3 == 0) {
          action.creates = next_thread++;
        } else {
          action.access.address = kBase + random() % 200;
          action.access.size = random() % 12 == 0 ? 600 : 1 + random() % 40;
          action.access.may_be_left_out = random() % 4 != 0;
        }
        block.push_back(action);
      }
    }
  }
  return program;
}

class Machine {
 public:
  Machine() : memory_(threads_) {
    for (int t = 0; t < kThreads; ++t) {
      owned_threads_.push_back(std::make_unique<Thread>());
      owned_threads_.back()->id = static_cast<ThreadId>(t);
      threads_.push_back(owned_threads_.back().get());
    }
    memory_.Prepare();
  }

  // The record of the execution that follows `choices`.
  std::vector<Touch> Run(const Program& program, const std::vector<uint64_t>& choices) {
    for (int repetition = 0;; ++repetition) {
      EXPECT_LT(repetition, 50) << "still not complete";
      memory_.ClearLost();
      std::vector<Touch> touches = RunOnce(program, choices);
      if (!memory_.lost()) return touches;
    }
  }

 private:
  std::vector<Touch> RunOnce(const Program& program, const std::vector<uint64_t>& choices) {
    for (Thread* t : threads_) {
      t->exists = t->id == 0;
      t->events = 0;
      if (t->id != 0) t->creator = kNoThread;
    }
    std::vector<Touch> touches;
    std::vector<uint64_t> created(kThreads, 0);
    for (size_t position = 0; position < choices.size(); ++position) {
      std::vector<int> enabled;
      for (int t = 0; t < kThreads; ++t) {
        if (threads_[t]->exists && threads_[t]->events < program[t].size()) enabled.push_back(t);
      }
      if (enabled.empty()) break;
      const int t = enabled[choices[position] % enabled.size()];
      Thread& thread = *threads_[t];
      const auto& block = program[t][thread.events++];
      uint64_t calls = 0;
      for (const Action& action : block) {
        if (action.creates != 0) {
          Thread& child = *threads_[action.creates];
          child.exists = true;
          child.creator = thread.id;
          child.created = OwnedMemory::Time(position, calls + 1);
          created[t] |= uint64_t{1} << action.creates;
          continue;
        }
        Touch touch{t, thread.events - 1, created[t], action.access, false};
        const uint64_t now = OwnedMemory::Time(position, ++calls);
        if (action.access.may_be_left_out) {
          touch.left_out = memory_.LeaveOut(action.access.address, action.access.size, thread, now);
        } else {
          memory_.Enter(action.access.address, action.access.size, thread, now);
        }
        touches.push_back(touch);
      }
    }
    return touches;
  }

  std::vector<std::unique_ptr<Thread>> owned_threads_;
  std::vector<Thread*> threads_;
  OwnedMemory memory_;
};

bool Overlap(const Access& a, const Access& b) {
  return a.address < b.address + b.size && b.address < a.address + a.size;
}

bool Creates(const Program& program, int creator, int child) {
  return std::ranges::any_of(program[creator], [child](const std::vector<Action>& block) {
    return std::ranges::any_of(block,
                               [child](const Action& action) { return action.creates == child; });
  });
}

// Is `first` ordered before `second` in the only way that need not be recorded?
bool Handed(const Program& program, const Touch& first, const Touch& second) {
  return second.block == 0 && (first.created_before >> second.thread & 1) == 0 &&
         Creates(program, first.thread, second.thread);
}

TEST(OwnedMemoryProperty, WhatIsLeftOutNobodyElseCouldNotice) {
  const char* const given = std::getenv("MC_SEED");
  const uint64_t first = given != nullptr ? std::strtoull(given, nullptr, 0) : 1;
  uint64_t left_out = 0, handed = 0;
  for (uint64_t seed = first; seed < first + (given != nullptr ? 1 : 3000); ++seed) {
    std::mt19937_64 random(seed);
    const Program program = RandomProgram(random);
    Machine machine;
    for (int execution = 0; execution < 12; ++execution) {
      std::vector<uint64_t> choices(16);
      for (uint64_t& choice : choices) choice = random();
      const std::vector<Touch> touches = machine.Run(program, choices);
      for (size_t k = 0; k < touches.size(); ++k) {
        left_out += touches[k].left_out ? 1 : 0;
        for (size_t i = 0; i < k; ++i) {
          const Touch &a = touches[i], &b = touches[k];
          if (a.thread == b.thread || !Overlap(a.access, b.access)) continue;
          if (!a.left_out && !b.left_out) continue;
          handed += Handed(program, a, b) ? 1 : 0;
          ASSERT_TRUE(Handed(program, a, b))
              << "MC_SEED=" << seed << ": T" << a.thread << " block " << a.block << " and T"
              << b.thread << " block " << b.block;
        }
      }
    }
  }
  if (given == nullptr) {
    EXPECT_GT(left_out, 10000u);
    EXPECT_GT(handed, 100u);
  }
}

}  // namespace
}  // namespace mc::sched
