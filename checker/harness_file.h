// What can be told about a harness from its file alone, before it is run.
#ifndef MC_CHECKER_HARNESS_FILE_H_
#define MC_CHECKER_HARNESS_FILE_H_

#include <string>

#include "absl/status/status.h"

namespace mc::checker {

// OK if `path` is an executable program built with mc-c++ or mc-cc. An error says what is wrong and
// what to do.
absl::Status CheckHarnessFile(const std::string& path);

}  // namespace mc::checker

#endif  // MC_CHECKER_HARNESS_FILE_H_
