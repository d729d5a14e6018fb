// LengthTable: how many executions a planned subtree will have, judged by those that are finished
// (spec optimal-dpor 10, prediction *length*).
//
// The key is the remaining length: typical length of an execution minus the depth at which the plan
// ends. The table holds the mean size of the finished subtrees of each remaining length; gaps are
// interpolated geometrically, and beyond the ends the growth seen is continued, by at most a factor
// of 4 per event.
#ifndef MC_DPOR_ESTIMATE_H_
#define MC_DPOR_ESTIMATE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mc::dpor {

class LengthTable {
 public:
  // A subtree with this remaining length, in which so many plans ended, had `executions` executions.
  void Add(double remaining, uint64_t plans, uint64_t executions);
  // At least 1.
  double Predict(double remaining) const;

 private:
  static constexpr size_t kMost = 1024;  // longer ones are taken together
  static constexpr double kMostGrowth = 4;

  struct Entry {
    double sum = 0;
    double count = 0;
    double mean() const { return sum / count; }
  };
  static size_t KeyOf(double remaining);

  std::vector<Entry> entries_;
};

}  // namespace mc::dpor

#endif  // MC_DPOR_ESTIMATE_H_
