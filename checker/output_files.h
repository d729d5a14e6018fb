// Output files: those the options name, looked at before a search that may take hours.
#ifndef MC_CHECKER_OUTPUT_FILES_H_
#define MC_CHECKER_OUTPUT_FILES_H_

#include <string>

#include "absl/status/status.h"
#include "checker/options.h"

namespace mc::checker {

// Can every file that the options ask for be written, and would none of them replace another, the
// harness or the schedule to replay? Nothing is left changed. An error names the option. What
// nobody asked for, the folder that schedules go to if none is given, is worth a warning, which
// goes to *warning ("" for none).
absl::Status CheckOutputFiles(const Options& options, std::string* warning);

// Unavailable, with the file's name and the reason, if it cannot be written whole.
absl::Status WriteTextFile(const std::string& path, const std::string& text);

}  // namespace mc::checker

#endif  // MC_CHECKER_OUTPUT_FILES_H_
