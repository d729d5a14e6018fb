#include "checker/certificate/causal_order.h"

#include <algorithm>
#include <numeric>

namespace mc::checker {
namespace {

constexpr int kGrainShift = 3;
constexpr uint64_t kManyGrains = 64;

uint64_t BitsOf(const RecordedAccess& access) {
  const uint64_t first = access.begin >> kGrainShift, last = (access.end() - 1) >> kGrainShift;
  if (last - first >= kManyGrains) return ~uint64_t{0};
  uint64_t bits = 0;
  for (uint64_t grain = first; grain <= last; ++grain) {
    bits |= uint64_t{1} << (grain * 0x9e3779b97f4a7c15u >> 58);
  }
  return bits;
}

}  // namespace

bool Conflict(const RecordedAccess& a, const RecordedAccess& b) {
  if (a.begin >= b.end() || b.begin >= a.end()) return false;
  const bool both_read = a.mode == sched::kRead && b.mode == sched::kRead;
  const bool both_add = a.mode == sched::kAdd && b.mode == sched::kAdd;
  return !both_read && !both_add;
}

CausalOrder::CausalOrder(const RecordedTraces& traces) : traces_(traces) {
  for (const RecordedEvent& event : traces.events) {
    width_ = std::max<size_t>(width_, event.thread + size_t{1});
    Summary& summary = summaries_.emplace_back();
    for (const RecordedAccess& access : event.accesses) {
      const uint64_t bits = BitsOf(access);
      summary.touched |= bits;
      if (access.mode != sched::kRead) summary.changed |= bits;
    }
  }
  for (const RecordedEnds& ends : traces.ends) width_ = std::max(width_, ends.threads.size());
  by_thread_.resize(width_);
  created_at_.resize(width_, kNoEventPosition);
}

bool CausalOrder::Depend(const RecordedEvent& a, const RecordedEvent& b) const {
  if (a.thread == b.thread || IsUniversal(a) || IsUniversal(b)) return true;
  const Summary& x = summaries_[static_cast<size_t>(&a - traces_.events.data())];
  const Summary& y = summaries_[static_cast<size_t>(&b - traces_.events.data())];
  if ((x.changed & y.touched) == 0 && (x.touched & y.changed) == 0) return false;
  for (const RecordedAccess& one : a.accesses) {
    for (const RecordedAccess& other : b.accesses) {
      if (Conflict(one, other)) return true;
    }
  }
  return false;
}

void CausalOrder::CutBack(size_t length) {
  if (length < positions_.size()) races_.resize(positions_[length].first_race);
  for (size_t p = positions_.size(); p-- > length;) by_thread_[event(p).thread].pop_back();
  positions_.resize(length);
  clocks_.resize(length * width_);
  for (size_t& at : created_at_) {
    if (at >= length) at = kNoEventPosition;
  }
  if (exit_position_ >= length) exit_position_ = kNoEventPosition;
}

size_t CausalOrder::Follow(size_t trace) {
  const std::vector<uint32_t>& events = traces_.traces[trace].events;
  size_t shared = 0;
  while (shared < positions_.size() && shared < events.size() &&
         positions_[shared].event == events[shared]) {
    ++shared;
  }
  CutBack(shared);
  for (size_t p = shared; p < events.size(); ++p) Append(events[p]);
  return shared;
}

// Looking back from the event, what conflicts with it and does not happen before what was found
// already has nothing in between.
void CausalOrder::Append(uint32_t number) {
  const RecordedEvent& e = traces_.events[number];
  const size_t position = positions_.size();
  positions_.push_back({number, 0, static_cast<uint32_t>(races_.size())});
  clocks_.resize((position + 1) * width_, 0);
  uint32_t* const clock = clocks_.data() + position * width_;
  const auto join = [&](size_t earlier) {
    const uint32_t* const other = ClockAt(earlier);
    for (size_t t = 0; t < width_; ++t) clock[t] = std::max(clock[t], other[t]);
  };
  std::vector<uint32_t>& own = by_thread_[e.thread];
  if (!own.empty()) join(own.back());
  // Until all that is left happens before what was found.
  const auto all_before = [&] {
    return std::accumulate(clock, clock + width_, size_t{0}) == position;
  };
  bool done = all_before();
  for (size_t p = position; p-- > 0 && !done;) {
    const RecordedEvent& earlier = event(p);
    if (earlier.thread == e.thread || clock[earlier.thread] > earlier.index) continue;
    if (!Depend(earlier, e)) continue;
    join(p);
    races_.push_back({static_cast<uint32_t>(p), static_cast<uint32_t>(position)});
    done = all_before();
  }
  clock[e.thread] = e.index + 1;
  own.push_back(static_cast<uint32_t>(position));
  positions_[position].key = KeyOf(e, number);
  if ((e.flags & sched::kExited) != 0) exit_position_ = position;
  for (const RecordedAccess& a : e.accesses) {
    if (sched::KindOf(a.begin) != sched::CellKind::kThreadStart || a.mode != sched::kWrite)
      continue;
    const uint64_t created = sched::ObjectOf(a.begin);
    if (created < width_) created_at_[created] = position;
  }
}

uint32_t CausalOrder::KeyOf(const RecordedEvent& e, uint32_t number) {
  std::vector<uint32_t> words = {e.thread, e.index, static_cast<uint32_t>(e.choices.size())};
  for (const RecordedChoice& choice : e.choices) words.push_back(choice.value);
  const uint32_t* const clock = ClockAt(positions_.size() - 1);
  for (size_t t = 0; t < width_; ++t) {
    const size_t before = clock[t] - (t == e.thread ? 1 : 0);
    if (before == 0) continue;
    words.push_back(static_cast<uint32_t>(t));
    words.push_back(key(by_thread_[t][before - 1]));
  }
  const auto [at, is_new] =
      key_numbers_.try_emplace(std::move(words), static_cast<uint32_t>(keys_.size()));
  if (is_new) {
    keys_.push_back({number, {}});
    key_clocks_.insert(key_clocks_.end(), clock, clock + width_);
  }
  return at->second;
}

size_t CausalOrder::Enter() {
  const size_t trace = entered();
  std::vector<uint32_t> last;
  for (const std::vector<uint32_t>& of_thread : by_thread_) {
    starts_.push_back(entered_keys_.size());
    for (const uint32_t position : of_thread) {
      entered_keys_.push_back(key(position));
      keys_[key(position)].traces.push_back(static_cast<uint32_t>(trace));
    }
    last.push_back(of_thread.empty() ? kNoKey : key(of_thread.back()));
  }
  starts_.push_back(entered_keys_.size());
  return last_keys_.try_emplace(std::move(last), trace).first->second;
}

}  // namespace mc::checker
