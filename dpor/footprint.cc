#include "dpor/footprint.h"

#include <algorithm>

namespace mc::dpor {
namespace {

// Memory is summarised in units of 4 cells: neighbours of an array of int get different bits.
constexpr int kMemoryUnitShift = 2;

uint64_t BitOf(uint64_t unit) { return uint64_t{1} << ((unit * 0x9e3779b97f4a7c15u) >> 58); }

uint64_t BitsOf(const Range& range) {
  const int shift = sched::IsMemory(range.begin) ? kMemoryUnitShift : 0;
  const uint64_t first = range.begin >> shift;
  const uint64_t last = (range.end() - 1) >> shift;
  if (last - first >= 64) return ~uint64_t{0};
  uint64_t bits = 0;
  for (uint64_t unit = first; unit <= last; ++unit) bits |= BitOf(unit);
  return bits;
}

// Adds `range`, which begins at or after every range in `out` begins, to the disjoint list `out`.
void AddSorted(std::vector<Range>& out, Range range) {
  size_t at = out.size();
  while (at > 0 && out[at - 1].end() > range.begin) --at;
  while (range.size > 0) {
    if (at == out.size() || out[at].begin >= range.end()) {
      out.insert(out.begin() + static_cast<ptrdiff_t>(at), range);
      return;
    }
    if (out[at].begin < range.begin) {  // split off the part before
      Range rest = out[at];
      const uint32_t before = static_cast<uint32_t>(range.begin - rest.begin);
      rest.begin += before;
      rest.size -= before;
      out[at].size = before;
      out.insert(out.begin() + static_cast<ptrdiff_t>(++at), rest);
    } else if (out[at].begin > range.begin) {  // fill the gap
      Range gap = range;
      gap.size = static_cast<uint32_t>(out[at].begin - range.begin);
      out.insert(out.begin() + static_cast<ptrdiff_t>(at++), gap);
      range.begin += gap.size;
      range.size -= gap.size;
      continue;
    }
    if (out[at].end() > range.end()) {  // split off the part behind
      Range rest = out[at];
      rest.begin = range.end();
      rest.size = static_cast<uint32_t>(out[at].end() - range.end());
      out[at].size -= rest.size;
      out.insert(out.begin() + static_cast<ptrdiff_t>(at) + 1, rest);
    }
    out[at].modes |= range.modes;
    range.begin += out[at].size;
    range.size -= out[at].size;
    ++at;
  }
}

}  // namespace

void Summary::Add(const Range& range) {
  const uint64_t bits = BitsOf(range);
  if ((range.modes & sched::kRead) != 0) read |= bits;
  if ((range.modes & sched::kWrite) != 0) write |= bits;
  if ((range.modes & sched::kAdd) != 0) add |= bits;
}

void Normalise(std::vector<Range>* ranges) {
  std::vector<Range>& r = *ranges;
  if (r.size() < 2) return;
  auto by_begin = [](const Range& a, const Range& b) { return a.begin < b.begin; };
  if (r.size() <= 12) {
    for (size_t i = 1; i < r.size(); ++i) {
      const Range moving = r[i];
      size_t k = i;
      for (; k > 0 && by_begin(moving, r[k - 1]); --k) r[k] = r[k - 1];
      r[k] = moving;
    }
  } else {
    std::sort(r.begin(), r.end(), by_begin);
  }
  // In place while ranges are equal, disjoint or adjacent; the general case is rare.
  size_t kept = 1;
  for (size_t i = 1; i < r.size(); ++i) {
    Range& last = r[kept - 1];
    const Range& next = r[i];
    if (next.begin == last.begin && next.size == last.size) {
      last.modes |= next.modes;
    } else if (next.begin < last.end()) {
      std::vector<Range> general(r.begin(), r.begin() + static_cast<ptrdiff_t>(kept));
      for (; i < r.size(); ++i) AddSorted(general, r[i]);
      r.swap(general);
      kept = r.size();
      break;
    } else {
      r[kept++] = next;
    }
  }
  r.resize(kept);
  size_t merged = 1;
  for (size_t i = 1; i < kept; ++i) {
    Range& last = r[merged - 1];
    if (r[i].begin == last.end() && r[i].modes == last.modes && sched::IsMemory(r[i].begin)) {
      last.size += r[i].size;
    } else {
      r[merged++] = r[i];
    }
  }
  r.resize(merged);
}

bool RangesConflict(std::span<const Range> a, std::span<const Range> b) {
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (a[i].end() <= b[j].begin) {
      ++i;
    } else if (b[j].end() <= a[i].begin) {
      ++j;
    } else {
      if (ModeSetsConflict(a[i].modes, b[j].modes)) return true;
      if (a[i].end() < b[j].end()) {
        ++i;
      } else {
        ++j;
      }
    }
  }
  return false;
}

bool RangesInclude(std::span<const Range> whole, std::span<const Range> part) {
  size_t i = 0;
  for (const Range& p : part) {
    sched::Cell at = p.begin;
    while (at < p.end()) {
      while (i < whole.size() && whole[i].end() <= at) ++i;
      if (i == whole.size() || whole[i].begin > at) return false;
      if ((whole[i].modes & p.modes) != p.modes && (whole[i].modes & sched::kWrite) == 0) {
        return false;
      }
      at = whole[i].end();
    }
  }
  return true;
}

}  // namespace mc::dpor
