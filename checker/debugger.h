// Debugger: gdb around a harness that replays a schedule (mc --replay=FILE --gdb).
//
// It stops where the failure shows, with the program's own frame selected: what mc has on the stack
// above it is of no interest to anybody. A data race is no event of its own; there it stops at the
// line of the race.
#ifndef MC_CHECKER_DEBUGGER_H_
#define MC_CHECKER_DEBUGGER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace mc::checker {

class Debugger {
 public:
  Debugger() = default;
  ~Debugger();
  Debugger(const Debugger&) = delete;
  Debugger& operator=(const Debugger&) = delete;

  // The command to put in front of the harness, valid as long as this object lives. `race_place`:
  // FILE:LINE to stop at as well, "" for none.
  absl::StatusOr<std::vector<std::string>> Command(const std::string& race_place);

 private:
  int script_fd_ = -1;
};

}  // namespace mc::checker

#endif  // MC_CHECKER_DEBUGGER_H_
