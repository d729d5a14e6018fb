// ProgressDisplay: says on standard error how the search is getting on.
//
// On a terminal one line that is rewritten a few times a second, otherwise a line every few
// seconds.
#ifndef MC_CHECKER_PROGRESS_DISPLAY_H_
#define MC_CHECKER_PROGRESS_DISPLAY_H_

#include <string>

#include "absl/time/time.h"
#include "checker/job_engine.h"

namespace mc::checker {

class ProgressDisplay {
 public:
  explicit ProgressDisplay(bool on);
  ~ProgressDisplay() { Clear(); }

  void Show(const JobEngine& engine, const Job& running, size_t bugs);
  // Before anything else is printed to the terminal.
  void Clear();

 private:
  bool on_;
  bool terminal_;
  bool line_shown_ = false;
  absl::Time last_;
};

}  // namespace mc::checker

#endif  // MC_CHECKER_PROGRESS_DISPLAY_H_
