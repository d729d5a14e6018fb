#include "racedet/shared_lines.h"

#include <algorithm>

namespace mc::racedet {

using Answer = SharedLines::Answer;
using sched::Event;
using sched::MicroAccess;
using sched::ThreadId;
using sched::Trace;

void SharedLines::Clear() {
  slots_.assign(kInitialSlots, Slot{});
  mask_ = kInitialSlots - 1;
  size_ = 0;
  large_.clear();
  ++version_;
  creations_.clear();
}

void SharedLines::BeginEvent(const Trace& trace, const Event& event) {
  after_creation_ = false;
  if (event.index != 0) return;
  for (const MicroAccess& access : trace.AccessesOf(event)) {
    const sched::CellKind kind = sched::KindOf(access.begin);
    if (kind == sched::CellKind::kAlive) continue;
    after_creation_ = kind == sched::CellKind::kThreadStart && access.mode == sched::kRead;
    return;
  }
}

Answer SharedLines::TouchLines(uint64_t first, uint64_t last, const Trace& trace,
                               const Event& event, uint32_t position) {
  if (last - first >= kMaxLines) return TouchLarge(first, last);
  Answer answer = Answer::kOneThread;
  for (uint64_t line = first; line <= last; ++line) {
    answer = std::max(answer, TouchLine(line, trace, event, position));
  }
  return answer;
}

void SharedLines::Create(const Event& event, uint32_t position, ThreadId child) {
  if (creations_.size() <= child) creations_.resize(child + 1u);
  creations_[child] = {position, event.thread};
}

// What was entered last may have been in an execution that went another way.
bool SharedLines::Exists(const Trace& trace, ThreadId thread, uint32_t position) const {
  if (thread >= creations_.size()) return false;
  const uint32_t at = creations_[thread].position;
  if (at >= position) return false;
  const MicroAccess& access = trace.accesses[at];
  return access.begin == sched::MakeCell(sched::CellKind::kThreadStart, thread) &&
         access.mode == sched::kWrite;
}

Answer SharedLines::TouchAnew(Slot& slot, uint64_t line, const Trace& trace, const Event& event,
                              uint32_t position) {
  const ThreadId thread = event.thread;
  if (!slot.used) {
    slot = {line, thread, kNobody, true, InLargeRange(line), position, version_};
    const bool shared = slot.shared;
    if (2 * ++size_ > slots_.size()) Grow();
    return shared ? Answer::kShared : Answer::kOneThread;
  }
  bool shared = InLargeRange(line);
  slot.version = version_;
  if (thread == slot.owner) {
    shared |= slot.heir != kNobody && Exists(trace, slot.heir, position);
    slot.owner_last = position;
  } else if (thread == slot.heir) {
    shared |= !after_creation_;
  } else {
    shared |= slot.heir != kNobody || !after_creation_ || !Exists(trace, thread, position) ||
              creations_[thread].creator != slot.owner ||
              creations_[thread].position < slot.owner_last;
    slot.heir = thread;
  }
  slot.shared = shared;
  return shared ? Answer::kBecameShared : Answer::kOneThread;
}

Answer SharedLines::TouchLarge(uint64_t first, uint64_t last) {
  for (const LargeRange& range : large_) {
    if (range.first <= first && last <= range.last) return Answer::kShared;
  }
  if (large_.size() == kMaxLargeRanges) {
    for (const LargeRange& range : large_) {
      first = std::min(first, range.first);
      last = std::max(last, range.last);
    }
    large_.clear();
  }
  large_.push_back({first, last});
  ++version_;
  return Answer::kBecameShared;
}

bool SharedLines::InLargeRange(uint64_t line) const {
  return std::ranges::any_of(large_, [line](const LargeRange& range) {
    return range.first <= line && line <= range.last;
  });
}

void SharedLines::Grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  mask_ = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.used) At(slot.line) = slot;
  }
}

}  // namespace mc::racedet
