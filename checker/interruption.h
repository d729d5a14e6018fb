// Interruption: Ctrl-C and SIGTERM as a request to stop and report what was found so far.
#ifndef MC_CHECKER_INTERRUPTION_H_
#define MC_CHECKER_INTERRUPTION_H_

namespace mc::checker {

// From now on SIGINT and SIGTERM only set the request; the third one ends the process at once.
void CatchInterruptions();
// How many times the user asked.
int InterruptionCount();
inline bool Interrupted() { return InterruptionCount() > 0; }

}  // namespace mc::checker

#endif  // MC_CHECKER_INTERRUPTION_H_
