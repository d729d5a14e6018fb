// Standard output, where mc tells people what it found. That it cannot be written is an error like
// any other: nobody may take a report that is cut off for a whole one.
#ifndef MC_CHECKER_STANDARD_OUTPUT_H_
#define MC_CHECKER_STANDARD_OUTPUT_H_

#include <string>
#include <string_view>

namespace mc::checker {

// To be called once, at the start: descriptors 0 to 2 are open from then on, so that no other file
// takes the place of one that was closed; writing to a pipe that nobody reads, or more to a file
// than is allowed, fails (no SIGPIPE, no SIGXFSZ).
void PrepareStandardFiles();

// Writes at once. The first failure asks the search to stop, as Ctrl-C does: nobody would see more.
void Print(std::string_view text);

// "" if everything so far was written, else why not.
std::string OutputProblem();

}  // namespace mc::checker

#endif  // MC_CHECKER_STANDARD_OUTPUT_H_
