// How a process of the harness ended, and whether that says anything about the program: a signal
// that somebody else sent, an operator or the system when memory runs out, does not.
#ifndef MC_CHECKER_WORKER_DEATH_H_
#define MC_CHECKER_WORKER_DEATH_H_

#include <cstdint>
#include <string>

#include "checker/findings.h"
#include "sched/last_words.h"

namespace mc::checker {

// Of a wait status: "killed by signal 11 (Segmentation fault)", "exited with status 3".
std::string DescribeWaitStatus(int status);

// The signal, sent by somebody else, that a worker with these last words died of; 0 if it was none.
int SignalFromOutside(int status, const sched::LastWords& words);

// What happened, and what to do.
std::string DescribeForeignSignal(int number);

// Did a worker that ended by itself, with this wait status, do so because it took too much memory?
bool EndedForLackOfMemory(int status, const sched::LastWords& words);

// The bug of a worker that took more than `limit` bytes in one execution, whoever ended it.
Bug BugOfTooMuchMemory(const sched::LastWords& words, uint64_t limit);

}  // namespace mc::checker

#endif  // MC_CHECKER_WORKER_DEATH_H_
