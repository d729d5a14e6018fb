// The environment of a harness, filled up to a size that does not depend on where mc is started.
//
// What a search has seen of memory, and writes down (certificates, saved searches), is full of
// addresses. Those of the program's arguments depend on how long the environment and the name of
// its file are: the kernel puts both above them.
#ifndef MC_CHECKER_PADDED_ENVIRONMENT_H_
#define MC_CHECKER_PADDED_ENVIRONMENT_H_

#include <string>

namespace mc::checker {

// Adds variables that begin with kPaddingPrefix (protocol.h) to this process's environment, for an
// exec of the file at `path`, to the next 256 variables and 64 kB of text. Does nothing where the
// stack is limited to less than 1 MB: the kernel would refuse so much.
void PadEnvironment(const std::string& path);

}  // namespace mc::checker

#endif  // MC_CHECKER_PADDED_ENVIRONMENT_H_
