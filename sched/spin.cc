#include "sched/spin.h"

#include <algorithm>
#include <cstring>

#include "sched/virtual_time.h"

namespace mc::sched {

namespace {

constexpr uint64_t kMonthNs = uint64_t{30} * 24 * 3600 * kNanosecondsPerSecond;

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

// A mutex in the thread's own stack shows what others do to it: leaves it out of both stacks.
void SpinTracker::LeaveOutMutexes(uintptr_t stack_low, size_t stack_size,
                                  const unsigned char** old_stack, const void** live) {
  bool copied = false;
  for (const MutexOperation& operation : mutex_operations_) {
    const size_t offset = operation.mutex - stack_low;
    if (operation.mutex < stack_low || offset + kMutexSize > stack_size) continue;
    if (!copied) {
      old_copy_.assign(*old_stack, *old_stack + stack_size);
      const auto* live_bytes = static_cast<const unsigned char*>(*live);
      live_copy_.assign(live_bytes, live_bytes + stack_size);
      *old_stack = old_copy_.data();
      *live = live_copy_.data();
      copied = true;
    }
    memset(old_copy_.data() + offset, 0, kMutexSize);
    memset(live_copy_.data() + offset, 0, kMutexSize);
  }
}

bool SpinTracker::SameState(const Visit& visit, const EntryRegisters& registers, const void* live,
                            size_t stack_size, std::span<const uintptr_t> held) {
  const unsigned char* old_stack = stack_bytes_.data() + visit.stack_offset;
  if (visit.held_count != held.size() ||
      (!held.empty() && memcmp(old_stack + stack_size, held.data(), held.size_bytes()) != 0)) {
    return false;
  }
  LeaveOutMutexes(registers.stack_pointer, stack_size, &old_stack, &live);
  if (memcmp(&visit.registers, &registers, sizeof registers) == 0 &&
      memcmp(old_stack, live, stack_size) == 0) {
    return true;
  }
  if (visit.clock_reads == clock_reads_) return false;
  const auto* old_words = reinterpret_cast<const uint64_t*>(old_stack);
  const auto* new_words = static_cast<const uint64_t*>(live);
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
  Progress();
  clock_put_on_ = true;
  *clock_ns_ += kMonthNs;
  return true;
}

// A loop that takes a mutex and gives it back closes only where it does not hold it: the thread
// would keep it while it waits.
bool SpinTracker::HoldsWhatLoopReleases(const Visit& visit, std::span<const uintptr_t> held) const {
  for (size_t i = visit.first_mutex_operation; i < mutex_operations_.size(); ++i) {
    const MutexOperation& operation = mutex_operations_[i];
    if (operation.step != MutexStep::kRefused &&
        std::ranges::find(held, operation.mutex) != held.end()) {
      return true;
    }
  }
  return false;
}

void SpinTracker::OnMutexOperation(const void* mutex, MutexStep step) {
  const auto address = reinterpret_cast<uintptr_t>(mutex);
  if (mutex_operations_.size() >= kMaxReads) Progress();
  mutex_operations_.push_back({address, step});
  if (step == MutexStep::kRefused || used_mutexes_) return;
  used_mutexes_ = true;
  KeepRecordedVisits();
  if (std::ranges::find(unannounced_, address) == unannounced_.end()) {
    unannounced_.push_back(address);
  }
}

// From now on, whether a state is new matters to others; so it must not depend on what the trace
// does not know.
void SpinTracker::KeepRecordedVisits() {
  size_t kept = 0;
  for (size_t i = 0; i < visit_count_; ++i) {
    if (visits_[i].recorded) visits_[kept++] = visits_[i];
  }
  visit_count_ = kept;
}

void SpinTracker::BeginIteration() {
  visits_[loop_visit_].first_read = last_begin_ = reads_.size();
  visits_[loop_visit_].first_mutex_operation = mutex_operations_.size();
}

SpinTracker::Arrival SpinTracker::Arrive(uint64_t pc, const EntryRegisters& registers,
                                         uintptr_t stack_high, std::span<const uintptr_t> held,
                                         bool recorded) {
  // The live stack begins above the return address: what lies below is dead.
  const uintptr_t stack_low = registers.stack_pointer;
  if (stack_low >= stack_high || stack_high - stack_low > kMaxStack) return Arrival::kNew;
  const size_t stack_size = stack_high - stack_low;
  const void* live = reinterpret_cast<const void*>(stack_low);
  for (size_t i = visit_count_; i-- > 0;) {
    Visit& visit = visits_[i];
    if (visit.pc != pc || visit.stack_size != stack_size ||
        !SameState(visit, registers, live, stack_size, held)) {
      continue;
    }
    if (HoldsWhatLoopReleases(visit, held)) return Arrival::kKnown;
    if (PutClockOn(visit)) return Arrival::kKnown;
    loop_visit_ = i;
    loop_read_ = visit.first_read;
    loop_mutex_operation_ = visit.first_mutex_operation;
    scanned_events = 0;
    written = false;
    return Arrival::kLoop;
  }
  if (visit_count_ == kMaxVisits) {
    // Too many different states since the last change: start over, remembering this one. A loop
    // with a longer period is not recognised (it is then bounded by the length of executions).
    Progress();
  }
  if (!unannounced_.empty()) announce_ = true;
  Visit& visit = visits_[visit_count_++];
  visit.pc = pc;
  visit.registers = registers;
  visit.stack_offset = stack_bytes_.size();
  visit.stack_size = stack_size;
  visit.held_count = held.size();
  visit.first_read = last_begin_ = reads_.size();
  visit.first_mutex_operation = mutex_operations_.size();
  visit.clock_reads = clock_reads_;
  visit.recorded = recorded;
  stack_bytes_.resize(stack_bytes_.size() + stack_size + held.size_bytes());
  memcpy(stack_bytes_.data() + visit.stack_offset, live, stack_size);
  if (!held.empty()) {
    memcpy(stack_bytes_.data() + visit.stack_offset + stack_size, held.data(), held.size_bytes());
  }
  return Arrival::kNew;
}

}  // namespace mc::sched
