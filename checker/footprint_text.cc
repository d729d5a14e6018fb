#include "checker/footprint_text.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "checker/text.h"
#include "sched/cell.h"
#include "sched/fiber.h"
#include "sched/heap_layout.h"

namespace mc::checker {
namespace {

constexpr std::string_view kBegin = " touching {";
constexpr size_t kMostNames = 3;

std::string NameOfMemory(uint64_t address, Symbolizer* symbolizer) {
  if (std::string name = symbolizer->VariableAt(address); !name.empty()) {
    return absl::StrCat("the variable ", name);
  }
  if (sched::IsProgramHeapAddress(address)) {
    return absl::StrCat("heap memory that T", sched::RegionOf(address), " allocated");
  }
  const uint64_t slot = (address - sched::kFiberStackBase) / sched::kFiberStackStride;
  if (address >= sched::kFiberStackBase && slot < sched::kMaxThreads) {
    return absl::StrCat("the stack of T", slot);
  }
  return absl::StrCat("memory at 0x", absl::Hex(address));
}

std::string NameOfCell(uint64_t cell, Symbolizer* symbolizer) {
  switch (sched::KindOf(cell)) {
    case sched::CellKind::kMemory:
      return NameOfMemory(cell, symbolizer);
    case sched::CellKind::kMutex:
    case sched::CellKind::kWriterHalf:
    case sched::CellKind::kReadersHalf:
    case sched::CellKind::kLockChange:
      return "a lock";
    case sched::CellKind::kConditionVariable:
    case sched::CellKind::kSemaphore:
    case sched::CellKind::kBarrierState:
    case sched::CellKind::kBarrierGeneration:
    case sched::CellKind::kFutexQueue:
      return "something that threads wait for";
    case sched::CellKind::kThreadStart:
    case sched::CellKind::kThreadExit:
    case sched::CellKind::kWake:
    case sched::CellKind::kDescheduled:
    case sched::CellKind::kThreadHandle:
      return "the begin, the end or the waking of a thread";
    default:
      return "what the system or the C library keeps";
  }
}

// One for each range: "W 0x2000000e0010+16".
using Footprint = std::vector<std::string>;

// Cuts the first footprint out of `text`; false if there is none.
bool CutFootprint(std::string* text, Footprint* footprint) {
  const size_t begin = text->find(kBegin);
  const size_t end = begin == std::string::npos ? begin : text->find('}', begin);
  if (end == std::string::npos) return false;
  const std::string inside = text->substr(begin + kBegin.size(), end - begin - kBegin.size());
  std::string mode;
  for (absl::string_view word : absl::StrSplit(inside, ' ', absl::SkipEmpty())) {
    if (absl::string_view::npos == word.find("0x")) {
      mode = std::string(word);
    } else {
      footprint->push_back(absl::StrCat(mode, " ", word));
    }
  }
  text->erase(begin, end + 1 - begin);
  return true;
}

// What `some` has and `others` have not, in words; a few of them.
std::string NamesOfRest(const Footprint& some, const Footprint& others, Symbolizer* symbolizer) {
  std::vector<std::string> names;
  for (const std::string& range : some) {
    if (std::ranges::find(others, range) != others.end()) continue;
    const size_t begin = range.find("0x"), end = range.find('+');
    const auto cell = ParseNumber<uint64_t>(range.substr(begin + 2, end - begin - 2), 16);
    if (!cell) continue;
    const std::string name = NameOfCell(*cell, symbolizer);
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  const bool has_more = names.size() > kMostNames;
  if (has_more) names.resize(kMostNames);
  return absl::StrCat(absl::StrJoin(names, ", "), has_more ? " and more" : "");
}

}  // namespace

FootprintText ExplainFootprints(std::string_view text, Symbolizer* symbolizer) {
  FootprintText result;
  result.words = text;
  Footprint before, now;
  if (!CutFootprint(&result.words, &before)) return result;
  result.raw = text;
  if (!CutFootprint(&result.words, &now)) return result;
  result.words = "this step did not read and write what it did before";
  // "At least" tells only of the part that is certain: then more is no surprise.
  const bool only_part = text.find("expected at least") != text.npos;
  const std::string added = only_part ? "" : NamesOfRest(now, before, symbolizer);
  const std::string gone = NamesOfRest(before, now, symbolizer);
  if (!added.empty()) absl::StrAppend(&result.words, "; only now: ", added);
  if (!gone.empty()) absl::StrAppend(&result.words, "; only before: ", gone);
  return result;
}

}  // namespace mc::checker
