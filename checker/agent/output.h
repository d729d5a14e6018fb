// The program's standard output and error: thrown away while exploring, shown on replay.
#ifndef MC_CHECKER_AGENT_OUTPUT_H_
#define MC_CHECKER_AGENT_OUTPUT_H_

#include "sched/start.h"

namespace mc::checker {

void SilenceOutput();
void RestoreOutput();

// Is the program's main the runtime's own, which runs registered tests?
bool RunsOnlyRegisteredTests(const sched::ProgramEntry& entry);

}  // namespace mc::checker

#endif  // MC_CHECKER_AGENT_OUTPUT_H_
