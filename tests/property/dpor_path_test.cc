// Path against its definition: clocks, races, D(i) and footprints on random traces with overlapping
// byte ranges, extended and cut back at random.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "dpor/path.h"

namespace mc::dpor {
namespace {

using Clock = std::vector<uint32_t>;

enum class Sizes { kSmall, kMixed };

// An address near the edge of a large block, and a size of up to some megabytes.
void PickLargeRange(sched::MicroAccess& access, std::mt19937_64& random) {
  const uint64_t edge = uint64_t{1} << (random() % 2 == 0 ? 12 : 21);
  access.begin = (uint64_t{1} << 30) - (2 << 20) + edge * (random() % 4) + random() % 24 - 12;
  const uint32_t sizes[] = {4, 16, 5000, 9000, 70000, 2 << 20, 5 << 20};
  access.size = sizes[random() % 7] + static_cast<uint32_t>(random() % 20);
}

sched::Event AppendRandomEvent(sched::Trace& trace, std::vector<uint32_t>& counts,
                               std::mt19937_64& random, Sizes sizes) {
  sched::Event e;
  e.thread = static_cast<sched::ThreadId>(random() % counts.size());
  e.index = counts[e.thread]++;
  e.first_access = static_cast<uint32_t>(trace.accesses.size());
  const uint64_t accesses = random() % 4;
  for (uint64_t k = 0; k < accesses; ++k) {
    sched::MicroAccess a;
    const uint8_t modes[] = {sched::kRead, sched::kRead, sched::kWrite, sched::kReadWrite,
                             sched::kAdd};
    a.mode = modes[random() % 5];
    if (random() % 4 == 0) {
      a.begin = sched::MakeCell(sched::CellKind::kMutex, random() % 3);
      a.size = 1;
    } else if (sizes == Sizes::kMixed) {
      PickLargeRange(a, random);
    } else {
      a.begin = 0x1000 + random() % 40;
      a.size = static_cast<uint32_t>(1 + random() % (random() % 3 == 0 ? 24 : 8));
    }
    trace.accesses.push_back(a);
  }
  e.access_count = static_cast<uint32_t>(accesses);
  trace.events.push_back(e);
  return e;
}

bool Conflict(const sched::Trace& trace, size_t i, size_t j) {
  for (const auto& a : trace.AccessesOf(trace.events[i])) {
    for (const auto& b : trace.AccessesOf(trace.events[j])) {
      if (a.ConflictsWith(b)) return true;
    }
  }
  return false;
}

std::vector<Clock> Clocks(const sched::Trace& trace, size_t threads) {
  std::vector<Clock> clocks;
  for (size_t j = 0; j < trace.size(); ++j) {
    Clock c(threads, 0);
    for (size_t i = 0; i < j; ++i) {
      if (trace.events[i].thread != trace.events[j].thread && !Conflict(trace, i, j)) continue;
      for (size_t t = 0; t < threads; ++t) c[t] = std::max(c[t], clocks[i][t]);
    }
    c[trace.events[j].thread] = trace.events[j].index + 1;
    clocks.push_back(c);
  }
  return clocks;
}

// Of the orders of `positions` in which no event comes before one that happens before it, the one
// with the lowest threads first: each time the lowest thread that has an event that can come next.
template <typename Before>
std::vector<uint32_t> LowestThreadsFirst(std::vector<uint32_t> positions, const sched::Trace& trace,
                                         const Before& before) {
  std::vector<uint32_t> order;
  while (!positions.empty()) {
    size_t next = positions.size();
    for (size_t k = 0; k < positions.size(); ++k) {
      const uint32_t p = positions[k];
      if (std::ranges::any_of(positions, [&](uint32_t o) { return o != p && before(o, p); })) {
        continue;
      }
      if (next == positions.size() ||
          trace.events[p].thread < trace.events[positions[next]].thread) {
        next = k;
      }
    }
    order.push_back(positions[next]);
    positions.erase(positions.begin() + long(next));
  }
  return order;
}

template <typename Before>
void CompareNormalForm(const Path& path, const sched::Trace& trace,
                       const std::vector<uint32_t>& positions, const Before& before) {
  std::vector<uint32_t> form;
  path.NormalForm(positions, &form);
  if (positions.size() <= Path::kMaxShift) {
    ASSERT_EQ(form, LowestThreadsFirst(positions, trace, before));
    return;
  }
  ASSERT_TRUE(std::ranges::is_permutation(form, positions));
  for (size_t k = 0; k < form.size(); ++k) {
    for (size_t m = 0; m < k; ++m) ASSERT_FALSE(form[k] < form[m] && before(form[k], form[m]));
  }
}

void Compare(Path& path, const sched::Trace& trace, size_t threads) {
  const std::vector<Clock> clocks = Clocks(trace, threads);
  auto before = [&](size_t i, size_t j) {
    return clocks[j][trace.events[i].thread] > trace.events[i].index;
  };
  std::set<std::pair<uint32_t, uint32_t>> races, found;
  std::vector<uint32_t> not_after;
  for (uint32_t i = 0; i < trace.size(); ++i) {
    std::vector<uint32_t> expected;
    for (uint32_t j = i + 1; j < trace.size(); ++j) {
      ASSERT_EQ(path.HappensBefore(i, j), before(i, j)) << i << " " << j;
      ASSERT_EQ(path.pool().Conflict(path.record(i), path.record(j)), Conflict(trace, i, j));
      if (!before(i, j)) expected.push_back(j);
      if (trace.events[i].thread == trace.events[j].thread || !Conflict(trace, i, j)) continue;
      bool between = false;
      for (uint32_t k = i + 1; k < j && !between; ++k) between = before(i, k) && before(k, j);
      if (!between) races.insert({i, j});
    }
    const size_t count = path.NotAfter(i, &not_after);
    ASSERT_EQ(std::vector<uint32_t>(not_after.begin(), not_after.begin() + long(count)), expected);
    ASSERT_EQ(path.LastNotAfter(i), expected.empty() ? i : expected.back());
    CompareNormalForm(path, trace, expected, before);
  }
  for (const Pair& pair : path.pairs()) {
    EXPECT_TRUE(found.insert({pair.first, pair.second}).second) << "a race was found twice";
  }
  ASSERT_EQ(found, races);
}

void RunRandomTraces(uint64_t seed, int rounds, size_t most_threads, size_t most_events,
                     Sizes sizes = Sizes::kSmall) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  EventPool pool;
  const size_t threads = 1 + random() % most_threads;
  {
    Path path(pool);
    sched::Trace trace;
    std::vector<uint32_t> counts(threads, 0);
    for (int round = 0; round < rounds; ++round) {
      const size_t keep = random() % (trace.size() + 1);
      for (size_t p = trace.size(); p-- > keep;) --counts[trace.events[p].thread];
      trace.CutBack(keep);
      path.CutBack(keep);
      const size_t length = keep + random() % (most_events - std::min(keep, most_events - 1));
      while (trace.size() < length) AppendRandomEvent(trace, counts, random, sizes);
      for (size_t p = keep; p < trace.size(); ++p) path.Extend(trace, kNoEvent);
      Compare(path, trace, threads);
      if (testing::Test::HasFatalFailure()) return;
    }
    path.CutBack(0);
    path.ForgetRecentEvents();
  }
  EXPECT_EQ(pool.live(), 0u);
}

TEST(PathProperty, ShortTraces) {
  for (uint64_t seed = 1; seed <= 400; ++seed) RunRandomTraces(seed, 12, 5, 24);
}

TEST(PathProperty, LargeAccesses) {
  for (uint64_t seed = 1; seed <= 200; ++seed) RunRandomTraces(seed, 8, 4, 20, Sizes::kMixed);
}

// Beyond the distance up to which D(i) is found by looking at every event; more threads than one
// register of a clock holds.
TEST(PathProperty, LongTraces) {
  for (uint64_t seed = 1; seed <= 4; ++seed) RunRandomTraces(seed, 2, 40, 700);
}

TEST(Footprint, NormalisedFormIsCanonical) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 20000; ++round) {
    std::vector<Range> ranges;
    uint32_t modes[80] = {};
    const size_t count = random() % 18;
    for (size_t k = 0; k < count; ++k) {
      const Range r{random() % 40, static_cast<uint32_t>(1 + random() % 12),
                    static_cast<uint32_t>(1 + random() % 7)};
      for (sched::Cell c = r.begin; c < r.end(); ++c) modes[c] |= r.modes;
      ranges.push_back(r);
    }
    for (uint32_t& m : modes) m = (m & sched::kWrite) != 0 ? uint32_t{sched::kWrite} : m;
    Normalise(&ranges);
    uint32_t found[80] = {};
    for (size_t k = 0; k < ranges.size(); ++k) {
      ASSERT_GT(ranges[k].size, 0u);
      if (k > 0) {
        ASSERT_GE(ranges[k].begin, ranges[k - 1].end());
        ASSERT_FALSE(ranges[k].begin == ranges[k - 1].end() &&
                     ranges[k].modes == ranges[k - 1].modes);
      }
      for (sched::Cell c = ranges[k].begin; c < ranges[k].end(); ++c) found[c] = ranges[k].modes;
    }
    ASSERT_TRUE(std::equal(modes, modes + 80, found)) << "round " << round;
  }
}

}  // namespace
}  // namespace mc::dpor
