#include "checker/picture_order.h"

#include <algorithm>
#include <map>
#include <optional>

#include "absl/strings/str_cat.h"
#include "sched/cell.h"
#include "sched/event.h"

namespace mc::checker {
namespace {

// The accesses of a step as disjoint ranges in ascending order, modes combined.
struct Range {
  uint64_t begin, end;
  uint8_t mode;
};

std::vector<Range> Footprint(const PictureStep& step) {
  std::vector<uint64_t> cuts;
  for (const PictureAccess& access : step.accesses) {
    cuts.push_back(access.begin);
    cuts.push_back(access.begin + access.size);
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  std::vector<Range> ranges;
  for (size_t i = 0; i + 1 < cuts.size(); ++i) ranges.push_back({cuts[i], cuts[i + 1], 0});
  for (const PictureAccess& access : step.accesses) {
    auto range = std::lower_bound(ranges.begin(), ranges.end(), access.begin,
                                  [](const Range& r, uint64_t begin) { return r.begin < begin; });
    for (; range != ranges.end() && range->begin < access.begin + access.size; ++range) {
      range->mode |= access.mode;
    }
  }
  std::erase_if(ranges, [](const Range& r) { return r.mode == 0; });
  return ranges;
}

std::optional<uint64_t> Conflict(const std::vector<Range>& a, const std::vector<Range>& b) {
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const uint64_t begin = std::max(a[i].begin, b[j].begin);
    if (begin < std::min(a[i].end, b[j].end) && sched::ModesConflict(a[i].mode, b[j].mode)) {
      return begin;
    }
    a[i].end < b[j].end ? ++i : ++j;
  }
  return std::nullopt;
}

}  // namespace

std::vector<OrderArrow> ReducedHappensBefore(const std::vector<PictureStep>& steps) {
  // Threads and the steps of each, numbered from 0.
  std::map<uint32_t, size_t> lanes;
  for (const PictureStep& step : steps) lanes.emplace(step.thread, lanes.size());
  std::vector<std::vector<size_t>> steps_of(lanes.size());
  std::vector<size_t> lane_of(steps.size()), ordinal(steps.size());
  std::vector<std::vector<Range>> footprints(steps.size());
  // clocks[j][t]: how many steps of lane t happen before step j or are j.
  std::vector<std::vector<size_t>> clocks(steps.size());
  std::vector<OrderArrow> arrows;
  for (size_t j = 0; j < steps.size(); ++j) {
    const size_t lane = lanes[steps[j].thread];
    footprints[j] = Footprint(steps[j]);
    std::vector<size_t>& clock = clocks[j];
    clock =
        steps_of[lane].empty() ? std::vector<size_t>(lanes.size()) : clocks[steps_of[lane].back()];
    // The latest dependent step of each other thread that is not known to happen before already.
    std::vector<OrderArrow> candidates;
    for (size_t t = 0; t < steps_of.size(); ++t) {
      if (t == lane) continue;
      for (size_t k = steps_of[t].size(); k > clock[t]; --k) {
        const size_t i = steps_of[t][k - 1];
        if (const auto cell = Conflict(footprints[i], footprints[j])) {
          candidates.push_back({i, j, *cell});
          break;
        }
      }
    }
    // From the latest on: what follows from another one follows from a later one.
    std::sort(candidates.begin(), candidates.end(),
              [](const OrderArrow& a, const OrderArrow& b) { return a.from > b.from; });
    for (const OrderArrow& arrow : candidates) {
      if (ordinal[arrow.from] < clock[lane_of[arrow.from]]) continue;
      arrows.push_back(arrow);
      for (size_t t = 0; t < clock.size(); ++t) {
        clock[t] = std::max(clock[t], clocks[arrow.from][t]);
      }
    }
    lane_of[j] = lane;
    ordinal[j] = steps_of[lane].size();
    steps_of[lane].push_back(j);
    clock[lane] = steps_of[lane].size();
  }
  return arrows;
}

std::string CellText(uint64_t cell) {
  using sched::CellKind;
  const uint64_t object = sched::ObjectOf(cell);
  const std::string at = absl::StrCat("0x", absl::Hex(object));
  switch (sched::KindOf(cell)) {
    case CellKind::kMemory:
      return at;
    case CellKind::kMutex:
      return absl::StrCat("mutex ", at);
    case CellKind::kConditionVariable:
      return absl::StrCat("condition variable ", at);
    case CellKind::kSemaphore:
      return absl::StrCat("semaphore ", at);
    case CellKind::kBarrierState:
      return absl::StrCat("barrier ", at);
    case CellKind::kBarrierGeneration:
      return absl::StrCat("barrier 0x", absl::Hex(object >> 8), ", generation ", object & 255);
    case CellKind::kWriterHalf:
      return absl::StrCat("writer of read-write lock ", at);
    case CellKind::kReadersHalf:
      return absl::StrCat("readers of read-write lock ", at);
    case CellKind::kThreadStart:
      return absl::StrCat("start of T", object);
    case CellKind::kThreadExit:
      return absl::StrCat("end of T", object);
    case CellKind::kWake:
      return absl::StrCat("wake-up of T", object);
    case CellKind::kAlive:
      return "the process is alive";
    case CellKind::kFutexQueue:
      return absl::StrCat("futex ", at);
    case CellKind::kHeapClass:
      return absl::StrCat("free list of size class ", object);
    case CellKind::kHandlerPhase:
      return "exit handlers";
    case CellKind::kLockChange:
      return absl::StrCat("attempts to lock mutex ", at);
    case CellKind::kThreadHandle:
      return absl::StrCat("handle of T", object);
    case CellKind::kDescheduled:
      return absl::StrCat("descheduled T", object);
    case CellKind::kSharedState:
      return absl::StrCat("shared library state ", object);
  }
  return absl::StrCat("cell 0x", absl::Hex(cell));
}

}  // namespace mc::checker
