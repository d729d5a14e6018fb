// What a random program is made of: the operations, and what the generator and the executor have to
// know of each.
//
// The functions behind the operations are the only instrumented code of the harness: what they
// touch is what mc sees. Each access to a variable stands on a source line of its own, so that
// every variable and operation is a preemption point of its own (access:FILE:LINE).
#ifndef MC_TESTS_CAMPAIGN_OPERATION_H_
#define MC_TESTS_CAMPAIGN_OPERATION_H_

#include <span>

namespace mc::campaign {

// `last` is the result of the thread's operation before, `own` the block of heap the thread keeps.
// The result goes into the thread's registers, which are part of the final state.
using OperationBody = long (*)(long last, long own);

// What a thread must have done for an operation to make sense (all known to the thread alone), and
// what the operation changes about that.
enum class Needs : unsigned char {
  kNothing,
  kHeld,      // unlock: the thread holds `object`
  kNotHeld,   // the thread does not hold `object`: relocking would be undefined
  kReadHeld,  // rwunlock: the thread has a read or a write lock
  kBlock,     // the thread keeps a block of heap
  kChild,     // create: the thread has a child it has not created yet
  kKnown,     // thread number `object` is there for sure, and not joined or detached by this one
};
enum class Takes : unsigned char { kNothing, kHold, kRelease, kReadHold, kBlock, kChild, kThread };

// How a result tells success from failure, for the count of what was covered.
// kLastZero: succeeds if the result before is zero, and does not return otherwise.
enum class Success : unsigned char { kAlways, kZero, kOne, kNegative, kLastZero };

// An object that a thread may hold, by number.
enum Object : unsigned char {
  kNoObject,
  kMutexM,
  kMutexN,
  kRecursive,
  kErrorChecking,
  kSpin,
  kReaderWriter,
  kWriterPreferring,
  kDestroyedN,
  kObjects,
};

struct Operation {
  const char* name;
  OperationBody body;  // null: not in this harness (operations_ends.cc)
  Success success = Success::kAlways;
  Needs needs = Needs::kNothing;
  Takes takes = Takes::kNothing;
  unsigned char object = kNoObject;
  // Cannot proceed at this moment; of a signal: somebody waits for it. Read behind mc's back, for
  // the count only; null: never.
  bool (*blocks)() = nullptr;
};

std::span<const Operation> MemoryOperations();
std::span<const Operation> LockOperations();
std::span<const Operation> WaitingOperations();
std::span<const Operation> OtherOperations();
std::span<const Operation> EndOperations();

inline constexpr int kMostOperations = 192;
// All of them; an operation's number is its place here.
std::span<const Operation> Operations();
int OperationNumber(const char* name, unsigned length);  // -1: there is none

}  // namespace mc::campaign

#endif  // MC_TESTS_CAMPAIGN_OPERATION_H_
