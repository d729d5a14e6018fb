#include "checker/agent/helper.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "sched/start.h"

namespace mc::checker {
namespace {

constexpr size_t kMostKept = 16 << 10;  // bytes

}  // namespace

HelperEnd::HelperEnd(int socket, uint32_t number, CrewState* state)
    : Channel(socket), number_(number), state_(state) {}

void HelperEnd::Append(CrewMessage kind, const void* content, size_t size) {
  const CrewHead head = {kind, static_cast<uint32_t>(size)};
  const auto* const head_bytes = reinterpret_cast<const unsigned char*>(&head);
  const auto* const bytes = static_cast<const unsigned char*>(content);
  output_.insert(output_.end(), head_bytes, head_bytes + sizeof head);
  output_.insert(output_.end(), bytes, bytes + size);
}

// Without its worker a helper is of no use.
void HelperEnd::SendOrEnd(const void* data, size_t size) {
  const auto* at = static_cast<const unsigned char*>(data);
  while (size > 0) {
    const ssize_t count = send(fd(), at, size, MSG_NOSIGNAL);
    if (count > 0) {
      at += count;
      size -= static_cast<size_t>(count);
    } else if (errno != EINTR) {
      sched::RealExitNow(1);
    }
  }
}

void HelperEnd::ReceiveOrEnd(void* data, size_t size) {
  auto* at = static_cast<unsigned char*>(data);
  while (size > 0) {
    const ssize_t count = recv(fd(), at, size, 0);
    if (count > 0) {
      at += count;
      size -= static_cast<size_t>(count);
    } else if (count == 0 || errno != EINTR) {
      sched::RealExitNow(1);
    }
  }
}

void HelperEnd::Flush() {
  if (output_.empty()) return;
  SendOrEnd(output_.data(), output_.size());
  output_.clear();
  state_->mail.fetch_add(1, std::memory_order_release);
}

bool HelperEnd::Send(const Message& message) {
  const std::string line = message.Encode();
  Append(CrewMessage::kLine, line.data(), line.size());
  Flush();
  return true;
}

void HelperEnd::SendCandidate(const racedet::Candidate& candidate) {
  Append(CrewMessage::kCandidate, &candidate, sizeof candidate);
  Flush();
}

void HelperEnd::NoteMemory() {
  rusage usage;
  if (getrusage(RUSAGE_SELF, &usage) == 0) state_->NotePeak(static_cast<uint64_t>(usage.ru_maxrss));
}

void HelperEnd::AskForRestart(std::string_view reason) {
  NoteMemory();
  Append(CrewMessage::kRestart, reason.data(), reason.size());
  Flush();
  sched::RealExitNow(0);
}

void HelperEnd::SayBye(const CrewBye& bye) {
  NoteMemory();
  Append(CrewMessage::kBye, &bye, sizeof bye);
  Flush();
  sched::RealExitNow(0);
}

void HelperEnd::Tell(const dpor::Words& message) {
  Append(CrewMessage::kSearch, message.data(), message.size() * sizeof(uint32_t));
  if (output_.size() > kMostKept) Flush();
}

void HelperEnd::Ask(const dpor::Words& message, dpor::Words* answer) {
  Tell(message);
  Flush();
  uint32_t size = 0;
  ReceiveOrEnd(&size, sizeof size);
  answer->resize(size / sizeof(uint32_t));
  ReceiveOrEnd(answer->data(), answer->size() * sizeof(uint32_t));
}

}  // namespace mc::checker
