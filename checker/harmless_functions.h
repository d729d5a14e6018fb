// Functions of the system's libraries whose own accesses to memory need not be seen.
//
// What the program calls of a library that is not instrumented is unseen, unless the runtime
// defines it. For most such functions that means: mc may miss a race. Those here touch no memory
// that threads of the program share, or only through functions that the runtime does define. One
// table, in groups, each with its reason; a function that is in none is told to the user
// (unseen_functions.h).
#ifndef MC_CHECKER_HARMLESS_FUNCTIONS_H_
#define MC_CHECKER_HARMLESS_FUNCTIONS_H_

#include <string>
#include <string_view>

namespace mc::checker {

// `function`: the symbol, without version. `library`: the base name of the file that defines it,
// "libm.so.6".
bool IsHarmless(const std::string& function, std::string_view library);

}  // namespace mc::checker

#endif  // MC_CHECKER_HARMLESS_FUNCTIONS_H_
