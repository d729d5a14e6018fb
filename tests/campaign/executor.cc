#include "tests/campaign/executor.h"

#include <mc/mc.h>

#include "tests/campaign/coverage.h"
#include "tests/campaign/operation.h"

namespace mc::campaign {
namespace {

// What one thread knows. Everything here is a function of its own past, and in the final state.
struct alignas(64) Context {
  int number;
  long result[kMostInstructions];
  long last;
  long own;  // block of heap
  int holds[kObjects];
  int child;  // the thread it creates with `create`, 0 if there is none or it has been created
  bool has_used[kMostThreads];  // joined or detached
  int depth;                    // inside a block
};

constinit Context contexts[kMostThreads] = {};
__thread Context* self = nullptr;
const Program* running = nullptr;
uint64_t running_number = 0;

bool Allowed(const Context& context, const Operation& operation) {
  switch (operation.needs) {
    case Needs::kNothing:
      return true;
    case Needs::kHeld:
    case Needs::kReadHeld:
      return context.holds[operation.object] > 0;
    case Needs::kNotHeld:
      return context.holds[operation.object] == 0;
    case Needs::kBlock:
      return context.own != 0;
    case Needs::kChild:
      return context.child != 0;
    case Needs::kKnown:
      // All threads of main exist before any runs, or nobody but main could know.
      return running->created_at_once && operation.object < running->thread_count &&
             running->creator[operation.object] == 0 && operation.object != context.number &&
             !context.has_used[operation.object];
  }
  return false;
}

bool Succeeded(const Operation& operation, long result) {
  switch (operation.success) {
    case Success::kAlways:
      return true;
    case Success::kZero:
      return result == 0;
    case Success::kOne:
      return result == 1;
    case Success::kNegative:
      return result >= 0;
    case Success::kLastZero:
      return true;
  }
  return false;
}

void Account(Context& context, const Operation& operation, bool success, long result) {
  switch (operation.takes) {
    case Takes::kNothing:
      break;
    case Takes::kReadHold:
    case Takes::kHold:
      context.holds[operation.object] += success ? 1 : 0;
      break;
    case Takes::kRelease:
      context.holds[operation.object] -= success ? 1 : 0;
      break;
    case Takes::kBlock:
      context.own = result;
      break;
    case Takes::kChild:
      context.child = 0;
      break;
    case Takes::kThread:
      context.has_used[operation.object] = success;
      break;
  }
}

void Execute(Context& context, int index, const Instruction& instruction) {
  const int number = instruction.operation;
  const Operation& operation = Operations()[number];
  if (operation.blocks != nullptr && operation.blocks()) {
    Cover(running_number, number,
          context.depth > 0 ? Variant::kBlockingInside : Variant::kBlocking);
  }
  // Some do not return.
  if (operation.success == Success::kAlways) Cover(running_number, number, Variant::kSuccess);
  if (operation.success == Success::kLastZero && context.last != 0) {
    Cover(running_number, number, Variant::kFailure);
  }
  const bool waits = operation.blocks == &Always;
  waiting += waits ? 1 : 0;
  const long result = operation.body(context.last, context.own);
  waiting -= waits ? 1 : 0;
  const bool success = Succeeded(operation, result);
  Cover(running_number, number, success ? Variant::kSuccess : Variant::kFailure);
  if (success && context.depth > 0) Cover(running_number, number, Variant::kInside);
  context.result[index] = context.last = result;
  Account(context, operation, success, result);
}

void RunThread(int number) {
  Context& context = contexts[number];
  context.number = number;
  for (int t = 1; t < running->thread_count; ++t) {
    if (running->creator[t] == number && number != 0) context.child = t;
  }
  self = &context;
  for (int k = 0; k < running->size[number]; ++k) {
    const Instruction& i = running->code[number][k];
    if (i.begins_block) {
      mc_atomic_begin();
      ++context.depth;
    }
    const bool guarded = (i.guard == Instruction::kIfZero && context.last != 0) ||
                         (i.guard == Instruction::kIfNotZero && context.last == 0);
    if (!i.removed && !guarded && Allowed(context, Operations()[i.operation])) {
      Execute(context, k, i);
    }
    if (i.ends_block) {
      --context.depth;
      mc_atomic_end();
    }
  }
}

void* ThreadMain(void* argument) {
  const auto number = static_cast<int>(reinterpret_cast<long>(argument));
  RunThread(number);
  finished[number] = true;
  return nullptr;
}

}  // namespace

int StartThread(int number) {
  return pthread_create(&threads[number], nullptr, ThreadMain,
                        reinterpret_cast<void*>(static_cast<long>(number)));
}

int Child() { return self->child; }

void RunProgram(const Program& program, uint64_t number) {
  running = &program;
  running_number = number;
  mc_atomic_begin();
  sem_init(&objects.s, 0, program.semaphore);
  pthread_barrier_init(&objects.g, nullptr, program.barrier);
  if (!program.created_at_once) mc_atomic_end();
  for (int t = 1; t < program.thread_count; ++t) {
    if (program.creator[t] == 0) StartThread(t);
  }
  if (program.created_at_once) mc_atomic_end();
  RunThread(0);
  if (program.join == Program::kNone) return;
  if (program.join == Program::kInOneBlock) mc_atomic_begin();
  for (int t = 1; t < program.thread_count; ++t) {
    if (program.creator[t] == 0 && !contexts[0].has_used[t]) pthread_join(threads[t], nullptr);
  }
  if (program.join == Program::kInOneBlock) mc_atomic_end();
}

}  // namespace mc::campaign
