#include "sched/spin.h"

#include <cstring>

namespace mc::sched {

bool SpinTracker::Arrive(uint64_t pc, const EntryRegisters& registers, uintptr_t stack_high,
                         size_t* first_read) {
  // The live stack begins above the return address: what lies below is dead.
  const uintptr_t stack_low = registers.stack_pointer;
  if (stack_low >= stack_high || stack_high - stack_low > kMaxStack) return false;
  const size_t stack_size = stack_high - stack_low;
  const void* live = reinterpret_cast<const void*>(stack_low);
  for (size_t i = visit_count_; i-- > 0;) {
    const Visit& visit = visits_[i];
    if (visit.pc != pc || visit.stack_size != stack_size ||
        memcmp(&visit.registers, &registers, sizeof registers) != 0 ||
        memcmp(stack_bytes_.data() + visit.stack_offset, live, stack_size) != 0) {
      continue;
    }
    *first_read = visit.first_read;
    return true;
  }
  if (visit_count_ == kMaxVisits) {
    // Too many different states since the last change: start over, remembering this one. A loop
    // with a longer period is not recognised (it is then bounded by the length of executions).
    Progress();
  }
  Visit& visit = visits_[visit_count_++];
  visit.pc = pc;
  visit.registers = registers;
  visit.stack_offset = stack_bytes_.size();
  visit.stack_size = stack_size;
  visit.first_read = reads_.size();
  stack_bytes_.resize(stack_bytes_.size() + stack_size);
  memcpy(stack_bytes_.data() + visit.stack_offset, live, stack_size);
  return false;
}

}  // namespace mc::sched
