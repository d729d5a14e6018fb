// The program's standard output and error: thrown away while exploring, shown on replay.
#ifndef MC_CHECKER_AGENT_OUTPUT_H_
#define MC_CHECKER_AGENT_OUTPUT_H_

namespace mc::checker {

// To be called before the first execution, while the standard output is still the program's. Its
// buffer is there from then on: else whichever thread is the first to print would allocate it, and
// whoever prints after another would do something else than the first.
void PrepareOutput();
void SilenceOutput();
void RestoreOutput();

}  // namespace mc::checker

#endif  // MC_CHECKER_AGENT_OUTPUT_H_
