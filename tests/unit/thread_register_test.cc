// The register set on demand: by whom, how often, and that nothing else is taken for that.
#include "sched/thread_register.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>

namespace mc::sched {
namespace {

thread_local volatile int value = 0;

ThreadRegister* tested = nullptr;
volatile int faults = 0;     // that OnFault has dealt with
volatile int others = 0;     // the rest
volatile uintptr_t skipped;  // where the last one of those was

void HandleFault(int, siginfo_t* info, void* raw_context) {
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  if (tested->OnFault(address)) {
    faults = faults + 1;
    return;
  }
  others = others + 1;
  skipped = address;
  // The next instruction: the only access that is meant to fail is the three bytes of Touch.
  static_cast<ucontext_t*>(raw_context)->uc_mcontext.gregs[REG_RIP] += 3;
}

void Touch(uintptr_t address) { asm volatile("mov (%0), %%rax" : : "a"(address) : "memory"); }

// A thread that lends its storage, as those of the fibers do.
class Lender {
 public:
  explicit Lender(int number) {
    thread_ = std::thread([this, number] {
      value = number;
      pointer_ = ReadThreadPointer();
      pointer_.notify_one();
      done_.wait(false);
    });
    pointer_.wait(0);
  }
  ~Lender() {
    done_ = true;
    done_.notify_one();
    thread_.join();
  }
  uintptr_t pointer() const { return pointer_; }

 private:
  std::atomic<uintptr_t> pointer_{0};
  std::atomic<bool> done_{false};
  std::thread thread_;
};

class ThreadRegisterTest : public testing::Test {
 protected:
  ThreadRegisterTest() {
    tested = &register_;
    faults = 0;
    others = 0;
    struct sigaction action {};
    action.sa_sigaction = HandleFault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSEGV, &action, &before_);
    own_ = ReadThreadPointer();
  }
  ~ThreadRegisterTest() override {
    register_.PointTo(own_, &own_use_);
    register_.PointNow();
    sigaction(SIGSEGV, &before_, nullptr);
  }

  // What value is to the fiber with this storage.
  __attribute__((noinline)) int ValueOf(const Lender& lender, StorageUse* use) {
    register_.PointTo(lender.pointer(), use);
    const int result = value;
    register_.PointTo(own_, &own_use_);
    return result;
  }
  // A block that does not look.
  __attribute__((noinline)) void Run(const Lender& lender, StorageUse* use) {
    register_.PointTo(lender.pointer(), use);
    register_.PointTo(own_, &own_use_);
  }

  Lender one_{1}, two_{2};
  ThreadRegister register_;
  StorageUse use_one_, use_two_, own_use_;
  uintptr_t own_ = 0;
  struct sigaction before_ {};
};

TEST_F(ThreadRegisterTest, WhatItPointsToIsTheRunningFibersInEachWay) {
  value = 3;
  for (const char* way : {"", "instruction", "call", "demand"}) {
    register_.Choose(true, 4096, way);
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(ValueOf(one_, &use_one_), 1) << way;
      EXPECT_EQ(ValueOf(two_, &use_two_), 2) << way;
      EXPECT_EQ(value, 3) << way;
    }
  }
  EXPECT_EQ(others, 0);
}

TEST_F(ThreadRegisterTest, WithoutSomebodyToTakeTheFaultsThereAreNone) {
  register_.Choose(false, 4096, "demand");
  EXPECT_EQ(register_.way(), ThreadRegister::Way::kSystemCall);
  EXPECT_EQ(ValueOf(one_, &use_one_), 1);
  EXPECT_EQ(ValueOf(two_, &use_two_), 2);
  EXPECT_EQ(faults, 0);
}

TEST_F(ThreadRegisterTest, StorageThatIsLargerThanTheReservedPlaceIsPointedToAtOnce) {
  register_.Choose(true, size_t{1} << 30, "demand");
  EXPECT_EQ(register_.way(), ThreadRegister::Way::kSystemCall);
}

class OnDemand : public ThreadRegisterTest {
 protected:
  void SetUp() override {
    register_.Choose(true, 4096, "demand");
    ASSERT_EQ(register_.way(), ThreadRegister::Way::kOnDemand) << "(not under a debugger)";
  }
};

TEST_F(OnDemand, WhoDoesNotLookCausesNoFault) {
  for (int i = 0; i < 1000; ++i) {
    Run(one_, &use_one_);
    Run(two_, &use_two_);
  }
  const int seen = faults;
  EXPECT_EQ(seen, 0);
}

TEST_F(OnDemand, WhoLooksEachTimeCausesFewFaults) {
  for (int i = 0; i < 100'000; ++i) ValueOf(one_, &use_one_);
  const int seen = faults;
  // 4 + 8 + ... + 65536 > 100,000: one fault at the beginning of each period. The test itself does
  // not look while the register points nowhere: it would, at the latest, in the next expectation.
  EXPECT_GE(seen, 10);
  EXPECT_LE(seen, 40);
}

TEST_F(OnDemand, WhoLooksSeldomIsNotGivenItAtOnce) {
  for (int i = 0; i < 1000; ++i) {
    if (i % 100 == 50) ValueOf(one_, &use_one_);
    Run(one_, &use_one_);
  }
  EXPECT_LE(use_one_.at_once, 4U);
  EXPECT_EQ(use_one_.last_period, 0U);
}

TEST_F(OnDemand, WhoStopsLookingIsSoonNotGivenItAnyMore) {
  for (int i = 0; i < 200; ++i) ValueOf(one_, &use_one_);
  EXPECT_GT(use_one_.last_period, 0U);
  for (int i = 0; i < 1000; ++i) Run(one_, &use_one_);
  EXPECT_EQ(use_one_.at_once, 0U);
}

TEST_F(OnDemand, AWildPointerIsNoLookAtStorage) {
  Run(one_, &use_one_);
  register_.PointNow();
  Touch(8);  // far from the reserved place
  EXPECT_EQ(others, 1);
  EXPECT_EQ(skipped, 8U);
  constexpr uintptr_t kReserved = 0x70e004000000;
  register_.PointTo(one_.pointer(), &use_one_);
  Touch(kReserved);  // first taken for a look, then, the register being right, not
  register_.PointTo(own_, &own_use_);
  register_.PointNow();
  EXPECT_EQ(others, 2);
  EXPECT_EQ(skipped, kReserved);
}

TEST_F(OnDemand, PointedToBeforehandThereIsNoFault) {
  register_.PointTo(one_.pointer(), &use_one_);
  register_.PointNow();
  const int result = value;
  register_.PointTo(own_, &own_use_);
  register_.PointNow();
  EXPECT_EQ(result, 1);
  EXPECT_EQ(faults, 0);
}

}  // namespace
}  // namespace mc::sched
