// Interruption: Ctrl-C, and the signals by which a terminal or a system ends its programs, as a
// request to stop and report what was found so far.
#ifndef MC_CHECKER_INTERRUPTION_H_
#define MC_CHECKER_INTERRUPTION_H_

namespace mc::checker {

// From now on SIGINT, SIGTERM, SIGHUP (unless it is ignored: nohup) and SIGQUIT only set the
// request; the third one ends the process at once.
void CatchInterruptions();
// The same request, from inside.
void RequestInterruption();
// How many times the user asked.
int InterruptionCount();
inline bool Interrupted() { return InterruptionCount() > 0; }

}  // namespace mc::checker

#endif  // MC_CHECKER_INTERRUPTION_H_
