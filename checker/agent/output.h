// The program's standard output and error: thrown away while exploring, shown on replay.
#ifndef MC_CHECKER_AGENT_OUTPUT_H_
#define MC_CHECKER_AGENT_OUTPUT_H_

namespace mc::checker {

void SilenceOutput();
void RestoreOutput();

}  // namespace mc::checker

#endif  // MC_CHECKER_AGENT_OUTPUT_H_
