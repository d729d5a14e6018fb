#include "checker/agent/channel.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

namespace mc::checker {

bool Channel::Receive(Message* message) {
  for (;;) {
    const size_t end = input_.find('\n');
    if (end != std::string::npos) {
      const bool good = Message::Decode(std::string_view(input_).substr(0, end), message);
      input_.erase(0, end + 1);
      if (good) return true;
      continue;
    }
    char buffer[4096];
    const ssize_t count = read(fd_, buffer, sizeof buffer);
    if (count > 0) {
      input_.append(buffer, static_cast<size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      return false;
    }
  }
}

bool Channel::Send(const Message& message) {
  const std::string line = message.Encode() + "\n";
  size_t sent = 0;
  while (sent < line.size()) {
    const ssize_t count = send(fd_, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (count > 0) {
      sent += static_cast<size_t>(count);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace mc::checker
