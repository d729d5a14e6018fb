#include "checker/pp_set.h"

#include <algorithm>
#include <bit>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "checker/message.h"
#include "checker/text.h"

namespace mc::checker {
namespace {

struct NamedClasses {
  std::string_view name;
  uint32_t classes;
};

// Unions first, so that the canonical text uses the shortest names.
constexpr NamedClasses kNames[] = {
    {"all", sched::kPpAll},       {"sync", sched::kPpSync},     {"lock", sched::kPpLock},
    {"unlock", sched::kPpUnlock}, {"cond", sched::kPpCond},     {"thread", sched::kPpThread},
    {"yield", sched::kPpYield},   {"atomic", sched::kPpAtomic}, {"dma", sched::kPpDma},
};

constexpr std::string_view kAccessPrefix = "access:";

// Every access includes atomic ones; `all` is spelled with every bit.
uint32_t Implied(uint32_t classes) {
  return (classes & sched::kPpEveryAccess) != 0 ? classes | sched::kPpAtomic : classes;
}

bool IsAccessName(std::string_view line) {
  if (line.starts_with("0x")) {
    const std::string_view digits = line.substr(2);
    return !digits.empty() && digits.size() <= 16 &&
           digits.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
  }
  const size_t colon = line.rfind(':');
  return colon != std::string_view::npos && colon > 0 &&
         ParseNumber<int>(line.substr(colon + 1)).value_or(0) > 0;
}

}  // namespace

absl::StatusOr<PpSet> PpSet::Parse(std::string_view text) {
  PpSet set;
  if (text == "none") return set;
  if (Split(text, ',').empty()) {
    return absl::InvalidArgumentError("no preemption points: write none, or names");
  }
  for (const std::string_view name : Split(text, ',')) {
    if (name.starts_with(kAccessPrefix)) {
      const std::string_view line = name.substr(kAccessPrefix.size());
      if (!IsAccessName(line)) {
        return absl::InvalidArgumentError(
            absl::StrCat("'", View(name), "' is not a preemption point: write access:FILE:LINE"));
      }
      set.AddAccess(line);
      continue;
    }
    const auto* found = std::find_if(std::begin(kNames), std::end(kNames),
                                     [&](const NamedClasses& n) { return n.name == name; });
    if (found == std::end(kNames)) {
      return absl::InvalidArgumentError(
          absl::StrCat("unknown preemption point '", View(name),
                       "': the names are lock, unlock, cond, thread, yield, atomic, dma, "
                       "access:FILE:LINE, sync, all and none"));
    }
    set.AddClasses(found->classes);
  }
  return set;
}

void PpSet::Add(const PpSet& other) {
  classes_ |= other.classes_;
  accesses_.insert(other.accesses_.begin(), other.accesses_.end());
}

bool PpSet::Includes(const PpSet& other) const {
  if ((Implied(classes_) & other.classes_) != other.classes_) return false;
  if ((classes_ & sched::kPpEveryAccess) != 0) return true;
  return std::includes(accesses_.begin(), accesses_.end(), other.accesses_.begin(),
                       other.accesses_.end());
}

bool PpSet::IncludesAccess(const std::string& line) const {
  return (classes_ & sched::kPpEveryAccess) != 0 || accesses_.contains(line);
}

size_t PpSet::Size() const {
  return static_cast<size_t>(std::popcount(classes_)) + accesses_.size();
}

std::vector<std::string> PpSet::Names() const {
  std::vector<std::string> names;
  uint32_t rest = classes_;
  for (const NamedClasses& named : kNames) {
    if (rest != 0 && (rest & named.classes) == named.classes) {
      names.emplace_back(named.name);
      rest &= ~named.classes;
    }
  }
  for (const std::string& line : accesses_)
    names.push_back(absl::StrCat(View(kAccessPrefix), line));
  return names;
}

std::string PpSet::Text() const { return empty() ? "none" : absl::StrJoin(Names(), ","); }

}  // namespace mc::checker
