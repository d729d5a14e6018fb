#include "sched/spin.h"

#include <algorithm>
#include <cstring>

#include "sched/virtual_time.h"

namespace mc::sched {

namespace {

// Does a word show a virtual time, in seconds, milliseconds, microseconds or nanoseconds? No other
// value of interest lies in these four small ranges. Returns the unit per second, or 0.
uint64_t UnitOfTime(uint64_t word) {
  constexpr uint64_t kBegin = kStartOfTimeNs / kNanosecondsPerSecond;
  constexpr uint64_t kEnd = kBegin + uint64_t{10} * 365 * 24 * 3600;
  for (uint64_t unit = 1; unit <= kNanosecondsPerSecond; unit *= 1000) {
    if (word >= kBegin * unit && word < kEnd * unit) return unit;
  }
  return 0;
}

// Compares two equally long states of a thread word by word, in several parts.
class TimeComparison {
 public:
  // Remembers how the nanoseconds of the timespecs in this part have changed: they follow seconds.
  void Learn(const uint64_t* old_words, const uint64_t* new_words, size_t count) {
    for (size_t i = 1; i < count && pair_count_ < kMaxPairs; ++i) {
      if (old_words[i] != new_words[i] && UnitOfTime(old_words[i - 1]) == 1 &&
          UnitOfTime(new_words[i - 1]) == 1 && old_words[i] < kNanosecondsPerSecond &&
          new_words[i] < kNanosecondsPerSecond) {
        pairs_[pair_count_++] = {old_words[i], new_words[i]};
      }
    }
  }
  // Does this part differ only in times, and in nanoseconds as learned?
  bool Same(const uint64_t* old_words, const uint64_t* new_words, size_t count) const {
    for (size_t i = 0; i < count; ++i) {
      if (old_words[i] != new_words[i] && !IsTime(old_words[i], new_words[i])) return false;
    }
    return true;
  }

 private:
  bool IsTime(uint64_t old_word, uint64_t new_word) const {
    const uint64_t unit = UnitOfTime(old_word);
    if (unit != 0 && unit == UnitOfTime(new_word)) return true;
    for (size_t i = 0; i < pair_count_; ++i) {
      if (pairs_[i].old_word == old_word && pairs_[i].new_word == new_word) return true;
    }
    return false;
  }

  static constexpr size_t kMaxPairs = 8;
  struct Pair {
    uint64_t old_word, new_word;
  };
  Pair pairs_[kMaxPairs];
  size_t pair_count_ = 0;
};

}  // namespace

// A lock in the thread's own stack shows what is done to it: leaves it out of both stacks.
void SpinTracker::LeaveOutLocks(uintptr_t stack_low, size_t stack_size,
                                const unsigned char** old_stack, const unsigned char** live) {
  bool copied = false;
  for (const LockOperation& operation : locks_.operations()) {
    const size_t offset = operation.lock - stack_low;
    if (operation.lock < stack_low || offset + operation.size > stack_size) continue;
    if (!copied) {
      old_copy_.assign(*old_stack, *old_stack + stack_size);
      live_copy_.assign(*live, *live + stack_size);
      *old_stack = old_copy_.data();
      *live = live_copy_.data();
      copied = true;
    }
    memset(old_copy_.data() + offset, 0, operation.size);
    memset(live_copy_.data() + offset, 0, operation.size);
  }
}

FloatingEnvironment ReadFloatingEnvironment() {
  FloatingEnvironment environment;
#if defined(__x86_64__)
  constexpr uint16_t kExceptions = 0x3f;  // the rest tells of the last operation
  asm volatile("stmxcsr %0" : "=m"(environment.vector));
  asm volatile("fnstcw %0" : "=m"(environment.scalar_control));
  asm volatile("fnstsw %0" : "=m"(environment.scalar_status));
  environment.scalar_status &= kExceptions;
#endif
  return environment;
}

bool SpinTracker::SameState(const Visit& visit, const EntryRegisters& registers,
                            const unsigned char* live, size_t stack_size,
                            std::span<const uintptr_t> held) {
  const unsigned char* old_stack = stack_bytes_.data() + visit.stack_offset;
  if (visit.held_count != held.size() ||
      (!held.empty() && memcmp(old_stack + stack_size, held.data(), held.size_bytes()) != 0)) {
    return false;
  }
  if (visit.floating != ReadFloatingEnvironment()) return false;
  const bool same_registers = memcmp(&visit.registers, &registers, sizeof registers) == 0;
  const bool times_may_differ = visit.clock_reads != clock_reads_;
  if (!same_registers && !times_may_differ) return false;  // before what takes longer
  LeaveOutLocks(registers.stack_pointer, stack_size, &old_stack, &live);
  if (same_registers && memcmp(old_stack, live, stack_size) == 0) return true;
  if (!times_may_differ) return false;
  const auto* old_words = reinterpret_cast<const uint64_t*>(old_stack);
  const auto* new_words = reinterpret_cast<const uint64_t*>(live);
  const size_t words = stack_size / sizeof(uint64_t);
  TimeComparison comparison;
  comparison.Learn(old_words, new_words, words);
  return comparison.Same(old_words, new_words, words) &&
         comparison.Same(visit.registers.callee_saved, registers.callee_saved, 6);
}

// A loop that looks at the clock is about to be closed: lets time pass first. True if that was
// done. A whole iteration has to come then, in which it looks at the clock again, wherever in the
// loop this is.
bool SpinTracker::PutClockOn(const Visit& visit) {
  if (visit.clock_reads == clock_reads_ || clock_put_on_) return false;
  StartOver();
  clock_put_on_ = true;
  *clock_ns_ += kMonthNs;
  return true;
}

// A loop that takes a lock and gives it back closes only where it does not hold it: the thread
// would keep it while it waits.
bool SpinTracker::HoldsWhatLoopReleases(const Visit& visit, std::span<const uintptr_t> held) const {
  for (const LockOperation& operation : locks_.operations().subspan(visit.first_lock_operation)) {
    if (!operation.refused() && std::ranges::find(held, operation.lock) != held.end()) return true;
  }
  return false;
}

void SpinTracker::IterationBeginsAt(Visit& visit) {
  visit.iteration = iteration_;
  visit.first_read = last_begin_ = reads_.size();
  visit.first_lock_operation = locks_.operations().size();
}

SpinTracker::Arrival SpinTracker::Arrive(uint64_t pc, const EntryRegisters& registers,
                                         std::span<const uintptr_t> held) {
  // The live stack begins above the return address: what lies below is dead.
  const uintptr_t stack_low = registers.stack_pointer;
  if (stack_low >= stack_high_ || stack_high_ - stack_low > StackView::kMaxSize) {
    return Arrival::kNew;
  }
  const size_t stack_size = stack_high_ - stack_low;
  bool overwritten;
  const unsigned char* live = stack_.Show(stack_low, &overwritten);
  if (overwritten) Progress();
  is_clear_ = false;
  for (size_t i = visits_.size(); i-- > 0;) {
    Visit& visit = visits_[i];
    if (visit.pc != pc || visit.stack_size != stack_size ||
        !SameState(visit, registers, live, stack_size, held)) {
      continue;
    }
    if (visit.iteration != iteration_) {
      IterationBeginsAt(visit);
      return Arrival::kKnown;
    }
    if (HoldsWhatLoopReleases(visit, held)) return Arrival::kKnown;
    if (PutClockOn(visit)) return Arrival::kKnown;
    loop_visit_ = i;
    loop_read_ = visit.first_read;
    loop_lock_operation_ = visit.first_lock_operation;
    scanned_events = 0;
    written = false;
    return Arrival::kLoop;
  }
  if (visits_.size() >= visit_limit_) {
    // Too many different states since the last change: start over, remembering this one. A loop
    // longer than the last limit is not recognised (executions are bounded in length anyhow).
    visit_limit_ = std::min(2 * visit_limit_, kLastVisitLimit);
    StartOver();
  }
  locks_.AnnounceSoon();
  Visit& visit = visits_.emplace_back();
  visit.pc = pc;
  visit.registers = registers;
  visit.floating = ReadFloatingEnvironment();
  visit.stack_offset = stack_bytes_.size();
  visit.stack_size = stack_size;
  visit.held_count = held.size();
  IterationBeginsAt(visit);
  visit.clock_reads = clock_reads_;
  stack_bytes_.resize(stack_bytes_.size() + stack_size + held.size_bytes());
  memcpy(stack_bytes_.data() + visit.stack_offset, live, stack_size);
  if (!held.empty()) {
    memcpy(stack_bytes_.data() + visit.stack_offset + stack_size, held.data(), held.size_bytes());
  }
  return Arrival::kNew;
}

}  // namespace mc::sched
