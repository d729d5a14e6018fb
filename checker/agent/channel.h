// Channel: messages over the control socket, on the harness's side.
#ifndef MC_CHECKER_AGENT_CHANNEL_H_
#define MC_CHECKER_AGENT_CHANNEL_H_

#include <string>

#include "checker/message.h"

namespace mc::checker {

class Channel {
 public:
  explicit Channel(int fd) : fd_(fd) {}
  virtual ~Channel() = default;
  // Waits for the next message. False when the supervisor is gone.
  bool Receive(Message* message);
  // Blocks until it is sent. False when the supervisor is gone.
  virtual bool Send(const Message& message);
  int fd() const { return fd_; }

 private:
  int fd_;
  std::string input_;
};

}  // namespace mc::checker

#endif  // MC_CHECKER_AGENT_CHANNEL_H_
