// The harness's side of the conversation with the supervisor: see checker/protocol.h.
#ifndef MC_CHECKER_AGENT_AGENT_H_
#define MC_CHECKER_AGENT_AGENT_H_

#include <cstdint>
#include <string>

#include "checker/agent/worker.h"

namespace mc::checker {

// Turns the process into a zygote: says hello and forks workers until told to quit. Returns the
// exit status; the process must then end without running the program's exit handlers.
int ServeAsZygote(const ProgramBody& body, int control_fd, int shared_fd, const std::string& entry);

// Does the supervisor that started this process wait for the n-th mc::Check?
bool WantsCheck(uint64_t number);
[[noreturn]] void ServeCheck(const ProgramBody& body, uint64_t number);

}  // namespace mc::checker

#endif  // MC_CHECKER_AGENT_AGENT_H_
