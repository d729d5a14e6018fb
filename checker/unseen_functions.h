// Functions of libraries that the program calls, and whose own accesses to memory mc does not see.
//
// A module of the harness is instrumented if it calls the runtime's __tsan functions. Of the
// functions that such a module takes from elsewhere, those are seen that the runtime or another
// instrumented module defines. Of the others, most matter to nobody (harmless_functions.h). What
// remains may hide a race, and is told with every verdict.
//
// Not found: what a library that is loaded later (dlopen) calls, and code that was compiled without
// mc-c++ and linked statically.
#ifndef MC_CHECKER_UNSEEN_FUNCTIONS_H_
#define MC_CHECKER_UNSEEN_FUNCTIONS_H_

#include <string>
#include <vector>

#include "checker/symbolizer.h"

namespace mc::checker {

struct UnseenFunction {
  std::string name;     // "regexec", "std::filesystem::remove"
  std::string library;  // base name of the file that defines it
  friend auto operator<=>(const UnseenFunction&, const UnseenFunction&) = default;
};

// Sorted by library and name, each once. `modules` in the order in which names are looked up in
// them. A file that cannot be read has no functions.
std::vector<UnseenFunction> FindUnseenFunctions(const std::vector<Module>& modules);

// One line for people, without its end; "" for none. Without `all`, a long list is cut.
std::string DescribeUnseenFunctions(const std::vector<UnseenFunction>& functions, bool all);

}  // namespace mc::checker

#endif  // MC_CHECKER_UNSEEN_FUNCTIONS_H_
