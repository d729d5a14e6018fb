// HelperEnd: a helper's end of the line to its worker (crew.h).
#ifndef MC_CHECKER_AGENT_HELPER_H_
#define MC_CHECKER_AGENT_HELPER_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "checker/agent/channel.h"
#include "checker/agent/crew.h"
#include "dpor/sharing.h"

namespace mc::checker {

class HelperEnd final : public Channel, public dpor::FrontierLink {
 public:
  // `number` counts the helpers from 1.
  HelperEnd(int socket, uint32_t number, CrewState* state);

  CrewState& crew() { return *state_; }
  CrewState::Helper& own() { return state_->helpers[number_ - 1]; }

  // For the supervisor, through the worker.
  bool Send(const Message& message) override;
  void SendCandidate(const racedet::Candidate& candidate);
  // The search cannot go on with helpers: it will begin again. Ends the process.
  [[noreturn]] void AskForRestart(std::string_view reason);
  // The last words. Ends the process.
  [[noreturn]] void SayBye(const CrewBye& bye);
  // The most that this process took so far, for CrewState.
  void NoteMemory();

  // What is told is kept for a while, since a message costs more than it says.
  void Tell(const dpor::Words& message) override;
  void Ask(const dpor::Words& message, dpor::Words* answer) override;
  void Flush();

 private:
  void Append(CrewMessage kind, const void* content, size_t size);
  void SendOrEnd(const void* data, size_t size);
  void ReceiveOrEnd(void* data, size_t size);

  uint32_t number_;
  CrewState* state_;
  std::vector<unsigned char> output_;
};

}  // namespace mc::checker

#endif  // MC_CHECKER_AGENT_HELPER_H_
