// PpSet: the PP predicates of one job as the supervisor names them (DESIGN section 3).
//
// A set of classes (sched::PreemptionPointClass bits) and of access PPs, each the name of a source
// line "FILE:LINE", or "0xADDR" for code without line information. kPpEveryAccess stands for all
// access PPs and for `atomic`. Two sets are equal iff their Text() is: the text is canonical.
#ifndef MC_CHECKER_PP_SET_H_
#define MC_CHECKER_PP_SET_H_

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "sched/preemption_points.h"

namespace mc::checker {

class PpSet {
 public:
  PpSet() = default;
  explicit PpSet(uint32_t classes) : classes_(classes) {}

  // "lock,unlock", "sync,access:queue.cc:31", "all", "none". An error says which name is unknown.
  static absl::StatusOr<PpSet> Parse(std::string_view text);

  uint32_t classes() const { return classes_; }
  const std::set<std::string>& accesses() const { return accesses_; }
  void AddClasses(uint32_t classes) { classes_ |= classes; }
  void AddAccess(std::string_view line) { accesses_.emplace(line); }
  void Add(const PpSet& other);

  // True if every PP of `other` is one of this set.
  bool Includes(const PpSet& other) const;
  bool IncludesAccess(const std::string& line) const;
  bool empty() const { return classes_ == 0 && accesses_.empty(); }
  // For ordering sets by how much they can preempt: classes and access PPs count 1 each.
  size_t Size() const;

  std::vector<std::string> Names() const;
  std::string Text() const;  // Names joined by commas; "none" if empty

  bool operator==(const PpSet&) const = default;

 private:
  uint32_t classes_ = 0;
  std::set<std::string> accesses_;
};

}  // namespace mc::checker

#endif  // MC_CHECKER_PP_SET_H_
