// Random numbers that repeat (DESIGN section 5). What the system gives is a function of seed,
// thread and how often the thread asked. rand() and its relatives have one state for the whole
// process, which the C library keeps under a lock: it is a cell that every call reads and writes.
// (drand48 and its relatives have no lock: library_values.cc.)
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/types.h>

#include <cstring>

#include "sched/interpose/buffer_access.h"
#include "sched/interpose/hook.h"
#include "sched/interpose/real.h"
#include "sched/interpose/real_function.h"
#include "sched/interpose/shared_state.h"
#include "sched/interpose/system_call.h"

namespace mc::sched {

namespace {

// splitmix64 (Steele, Lea, Flood 2014).
uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// A ThreadId depends on which names the process has met; the name itself does not.
uint64_t NameHash(const Thread& thread) {
  if (thread.creator == kNoThread) return 1;
  return Mix(NameHash(g_scheduler.ThreadById(thread.creator)) * 4096 + thread.ordinal);
}

uint64_t Draw() {
  Thread& thread = g_scheduler.current();
  g_scheduler.Progress();
  return Mix(Mix(g_scheduler.options().seed) ^ Mix(NameHash(thread) + Mix(thread.random_draws++)));
}

// A call of a generator whose state the process shares.
class SharedGenerator {
 public:
  // It has a lock of its own, and what a call returns depends on those before: preempted at as a
  // lock is.
  SharedGenerator(SharedState state, uint64_t pc) {
    BeforeOperation(kPpLock, pc, OperationDetail::kRandom);
    g_scheduler.RecordCell(SharedStateCell(state), kReadWrite, kValueRelevant | kAcquire | kRelease,
                           pc);
    g_scheduler.Progress();
  }
  ~SharedGenerator() { AfterOperation(kPpUnlock); }

 private:
  EngineScope scope_;
};

}  // namespace

void FillRandom(void* buffer, size_t size) {
  auto* bytes = static_cast<unsigned char*>(buffer);
  for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
    const uint64_t value = Draw();
    memcpy(bytes + at, &value, size - at < sizeof value ? size - at : sizeof value);
  }
}

}  // namespace mc::sched

using namespace mc::sched;

MC_HOOK int rand() noexcept {
  if (!g_scheduler.program_running()) return Real().rand();
  SharedGenerator call(SharedState::kRand, MC_CALLER_PC());
  return Real().rand();
}

MC_HOOK long random() noexcept {
  if (!g_scheduler.program_running()) return Real().random();
  SharedGenerator call(SharedState::kRand, MC_CALLER_PC());
  return Real().random();
}

MC_HOOK void srand(unsigned seed) noexcept {
  if (!g_scheduler.program_running()) return Real().srand(seed);
  SharedGenerator call(SharedState::kRand, MC_CALLER_PC());
  Real().srand(seed);
}

MC_HOOK void srandom(unsigned seed) noexcept {
  if (!g_scheduler.program_running()) return Real().srandom(seed);
  SharedGenerator call(SharedState::kRand, MC_CALLER_PC());
  Real().srandom(seed);
}

MC_HOOK char* initstate(unsigned seed, char* state, size_t size) noexcept {
  MC_REAL_OF(initstate);
  const uint64_t pc = MC_CALLER_PC();
  Writes(state, size, pc);
  if (!g_scheduler.program_running()) return real(seed, state, size);
  SharedGenerator call(SharedState::kRand, pc);
  return real(seed, state, size);
}

MC_HOOK char* setstate(char* state) noexcept {
  MC_REAL_OF(setstate);
  const uint64_t pc = MC_CALLER_PC();
  Reads(state, sizeof(int32_t), pc);
  if (!g_scheduler.program_running()) return real(state);
  SharedGenerator call(SharedState::kRand, pc);
  return real(state);
}

MC_HOOK int rand_r(unsigned* seed) noexcept {
  MC_REAL_OF(rand_r);
  const uint64_t pc = MC_CALLER_PC();
  ReadsAndWrites(seed, sizeof *seed, pc);
  return real(seed);
}

MC_HOOK ssize_t getrandom(void* buffer, size_t size, unsigned flags) {
  if (!g_scheduler.program_running()) return Real().getrandom(buffer, size, flags);
  Writes(buffer, size, MC_CALLER_PC());
  EngineScope scope;
  FillRandom(buffer, size);
  return static_cast<ssize_t>(size);
}

MC_HOOK int getentropy(void* buffer, size_t size) {
  if (!g_scheduler.program_running()) return Real().getentropy(buffer, size);
  EngineScope scope;
  if (size > 256) {
    errno = EIO;
    return -1;
  }
  g_scheduler.Access(reinterpret_cast<uintptr_t>(buffer), size, kWrite, 0, MC_CALLER_PC());
  FillRandom(buffer, size);
  return 0;
}

MC_HOOK uint32_t arc4random() noexcept {
  if (!g_scheduler.program_running()) return Real().arc4random();
  EngineScope scope;
  return static_cast<uint32_t>(Draw());
}

MC_HOOK void arc4random_buf(void* buffer, size_t size) noexcept {
  if (!g_scheduler.program_running()) return Real().arc4random_buf(buffer, size);
  Writes(buffer, size, MC_CALLER_PC());
  EngineScope scope;
  FillRandom(buffer, size);
}

MC_HOOK uint32_t arc4random_uniform(uint32_t bound) noexcept {
  if (!g_scheduler.program_running()) return Real().arc4random_uniform(bound);
  EngineScope scope;
  return bound < 2 ? 0 : static_cast<uint32_t>(Draw() % bound);
}

// std::random_device, whose members live in libstdc++. An object made in an execution holds no
// resources: its file is null.
MC_HOOK unsigned _ZNSt13random_device9_M_getvalEv(void* self) {
  if (!g_scheduler.program_running()) return Real().random_device_getval(self);
  EngineScope scope;
  return static_cast<unsigned>(Draw());
}

MC_HOOK unsigned _ZNSt13random_device16_M_getval_pretr1Ev(void* self) {
  if (!g_scheduler.program_running()) return Real().random_device_getval_pretr1(self);
  EngineScope scope;
  return static_cast<unsigned>(Draw());
}

namespace {

struct RandomDeviceView {
  void* file;
  unsigned (*function)(void*);
  int descriptor;
};

void MakeWithoutResources(void* self) { *static_cast<RandomDeviceView*>(self) = {}; }

}  // namespace

MC_HOOK void _ZNSt13random_device7_M_initERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(
    void* self, const void* token) {
  if (!g_scheduler.program_running()) return Real().random_device_init(self, token);
  MakeWithoutResources(self);
}

MC_HOOK void
_ZNSt13random_device14_M_init_pretr1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(
    void* self, const void* token) {
  if (!g_scheduler.program_running()) return Real().random_device_init_pretr1(self, token);
  MakeWithoutResources(self);
}
