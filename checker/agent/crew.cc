#include "checker/agent/crew.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <new>

#include "sched/other_processes.h"

namespace mc::checker {
namespace {

using std::chrono::milliseconds;

// A helper whose program makes no transition for so long is ended; the worker will see for itself.
constexpr std::chrono::seconds kHangs(10);
// How long helpers get to finish the execution they are in, when all is to end.
constexpr std::chrono::seconds kPatience(10);

bool SendAll(int socket, const void* data, size_t size) {
  const auto* at = static_cast<const unsigned char*>(data);
  while (size > 0) {
    const ssize_t count = send(socket, at, size, MSG_NOSIGNAL);
    if (count > 0) {
      at += count;
      size -= static_cast<size_t>(count);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

uint64_t ResidentBytes(pid_t process) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/statm", static_cast<int>(process));
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[128] = {};
  const ssize_t count = read(file, text, sizeof text - 1);
  close(file);
  unsigned long size = 0, resident = 0;
  if (count <= 0 || sscanf(text, "%lu %lu", &size, &resident) != 2) return 0;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// One for all crews of the process: its names stay.
CrewState* g_state = nullptr;

// A helper is not waited for when it ends: that takes longer than what it was needed for.
void CollectEnded() {
  while (waitpid(-1, nullptr, WNOHANG | __WALL) > 0) {
  }
}

}  // namespace

Crew::Crew(dpor::Frontier& frontier, CrewListener& listener, uint64_t executions, uint64_t memory)
    : frontier_(frontier), listener_(listener), memory_(memory), last_look_(Clock::now()) {
  if (g_state == nullptr) {
    void* const shared =
        mmap(nullptr, sizeof(CrewState), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return;
    sched::OwnSharedMemory(shared);
    g_state = new (shared) CrewState;
  }
  state_ = g_state;
  state_->hungry.store(0);
  state_->stop.store(0);
  constexpr uint64_t kMost = uint64_t{1} << 62;
  state_->is_limited.store(executions < kMost ? 1 : 0);
  state_->tickets.store(static_cast<int64_t>(std::min(executions, kMost)));
  seen_mail_ = state_->mail.load();
}

Crew::~Crew() {
  for (const Helper& helper : helpers_) {
    kill(helper.process, SIGKILL);
    sched::CloseOwnDescriptor(helper.socket);
  }
}

uint64_t Crew::PeakOfHelpers() { return g_state == nullptr ? 0 : g_state->peak_kb.load(); }

int Crew::Add() {
  int ends[2];
  CollectEnded();
  const auto number = static_cast<uint32_t>(helpers_.size()) + 1;
  if (state_ == nullptr || number > kMostHelpers ||
      socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return 0;
  }
  for (int& end : ends) end = sched::OwnDescriptor(end, true);
  if (ends[0] < 0 || ends[1] < 0) {  // the system gives no more
    for (const int end : ends) {
      if (end >= 0) sched::CloseOwnDescriptor(end);
    }
    return 0;
  }
  state_->helpers[number - 1].in_program.store(0);
  const pid_t process = sched::ForkCopy();
  if (process == 0) {
    sched::CloseOwnDescriptor(ends[0]);
    for (const Helper& helper : helpers_) sched::CloseOwnDescriptor(helper.socket);
    helpers_.clear();
    helper_number_ = static_cast<int>(number);
    helper_socket_ = ends[1];
    return -1;
  }
  sched::CloseOwnDescriptor(ends[1]);
  if (process < 0) {
    sched::CloseOwnDescriptor(ends[0]);
    return 0;
  }
  helpers_.push_back({number, process, ends[0], false, false, {}, 0, Clock::now()});
  return static_cast<int>(number);
}

// -- Mail ----------------------------------------------------------------------------------------

void Crew::ReadMail() {
  seen_mail_ = state_->mail.load(std::memory_order_acquire);
  for (Helper& helper : helpers_) Read(helper);
  RemoveEnded();
  Feed();
}

void Crew::Read(Helper& helper) {
  std::vector<unsigned char>& input = helper.input;
  for (;;) {
    constexpr size_t kPart = size_t{1} << 16;
    const size_t before = input.size();
    input.resize(before + kPart);
    const ssize_t count = recv(helper.socket, input.data() + before, kPart, MSG_DONTWAIT);
    input.resize(before + (count > 0 ? static_cast<size_t>(count) : 0));
    if (count == static_cast<ssize_t>(kPart) || (count < 0 && errno == EINTR)) continue;
    if (count > 0) break;
    if (count == 0 || errno != EAGAIN) helper.ended = true;
    break;
  }
  size_t at = 0;
  CrewHead head;
  while (input.size() - at >= sizeof head) {
    memcpy(&head, input.data() + at, sizeof head);
    if (input.size() - at - sizeof head < head.size) break;
    Handle(helper, head.kind, std::span(input).subspan(at + sizeof head, head.size));
    at += sizeof head + head.size;
  }
  input.erase(input.begin(), input.begin() + static_cast<ptrdiff_t>(at));
}

void Crew::Handle(Helper& helper, CrewMessage kind, std::span<const unsigned char> content) {
  const std::string_view text(reinterpret_cast<const char*>(content.data()), content.size());
  switch (kind) {
    case CrewMessage::kSearch:
      Serve(helper, content);
      break;
    case CrewMessage::kLine:
      listener_.OnLine(text);
      break;
    case CrewMessage::kCandidate: {
      racedet::Candidate candidate;
      if (content.size() != sizeof candidate) break;
      memcpy(&candidate, content.data(), sizeof candidate);
      listener_.OnCandidate(candidate);
      break;
    }
    case CrewMessage::kRestart:
      listener_.OnRestart(text);
      break;
    case CrewMessage::kBye: {
      CrewBye bye;
      if (content.size() != sizeof bye) break;
      memcpy(&bye, content.data(), sizeof bye);
      listener_.OnBye(bye);
      helper.ended = true;
      break;
    }
  }
}

void Crew::Serve(Helper& helper, std::span<const unsigned char> content) {
  words_.resize(content.size() / sizeof(uint32_t));
  if (words_.empty()) return;
  memcpy(words_.data(), content.data(), words_.size() * sizeof(uint32_t));
  switch (static_cast<dpor::WorkerMessage>(words_.front())) {
    case dpor::WorkerMessage::kTake:
      helper.waits = true;
      break;
    case dpor::WorkerMessage::kStarted:
      frontier_.Serve(helper.number, words_, &answer_);
      Answer(helper, answer_);
      break;
    case dpor::WorkerMessage::kInsert:
    case dpor::WorkerMessage::kGive:
    case dpor::WorkerMessage::kCounts:
    case dpor::WorkerMessage::kFinished:
      frontier_.Serve(helper.number, words_, &answer_);
      break;
  }
}

void Crew::Answer(Helper& helper, const dpor::Words& answer) {
  const auto size = static_cast<uint32_t>(answer.size() * sizeof(uint32_t));
  if (!SendAll(helper.socket, &size, sizeof size) || !SendAll(helper.socket, answer.data(), size)) {
    helper.ended = true;
  }
}

void Crew::Feed() {
  const bool stops = state_->stop.load() != 0;
  for (Helper& helper : helpers_) {
    if (!helper.waits || helper.ended) continue;
    answer_.clear();
    if (!stops) {
      words_.assign(1, static_cast<uint32_t>(dpor::WorkerMessage::kTake));
      if (!frontier_.complete() && !frontier_.HasWork()) continue;
      frontier_.Serve(helper.number, words_, &answer_);
    }
    helper.waits = false;
    Answer(helper, answer_);
  }
  CountHungry();
}

void Crew::CountHungry() {
  const auto waiting = std::ranges::count_if(helpers_, &Helper::waits);
  state_->hungry.store(static_cast<uint32_t>(waiting) + (worker_is_hungry_ ? 1 : 0),
                       std::memory_order_relaxed);
}

// -- Waiting and ending --------------------------------------------------------------------------

void Crew::Poll(milliseconds longest) {
  std::vector<pollfd> polled;
  for (const Helper& helper : helpers_) polled.push_back({helper.socket, POLLIN, 0});
  poll(polled.data(), polled.size(), static_cast<int>(longest.count()));
  ReadMail();
}

void Crew::Wait(milliseconds longest) {
  worker_is_hungry_ = true;
  CountHungry();
  Poll(longest);
  worker_is_hungry_ = false;
  CountHungry();
}

void Crew::RemoveEnded() {
  std::erase_if(helpers_, [this](const Helper& helper) {
    if (!helper.ended) return false;
    if (frontier_.IsAtWork(helper.number)) listener_.OnRestart("a helper was lost");
    sched::CloseOwnDescriptor(helper.socket);
    return true;
  });
}

void Crew::LookAfter() {
  const Clock::time_point now = Clock::now();
  if (now - last_look_ < milliseconds(200)) return;
  last_look_ = now;
  ReadMail();  // whoever was killed has sent nothing
  for (Helper& helper : helpers_) {
    const CrewState::Helper& state = state_->helpers[helper.number - 1];
    const uint64_t heartbeat = state.heartbeat.load(std::memory_order_relaxed);
    if (heartbeat != helper.heartbeat || state.in_program.load() == 0) {
      helper.heartbeat = heartbeat;
      helper.last_heartbeat = now;
    }
    const uint64_t resident = ResidentBytes(helper.process);
    state_->NotePeak(resident >> 10);
    const bool too_large = memory_ != 0 && resident > memory_;
    if (now - helper.last_heartbeat < kHangs && !too_large) continue;
    kill(helper.process, SIGKILL);
    helper.ended = true;
  }
  RemoveEnded();
}

void Crew::Disband() {
  state_->stop.store(1);
  const Clock::time_point end = Clock::now() + kPatience;
  Feed();
  while (!helpers_.empty() && Clock::now() < end) Poll(milliseconds(50));
  for (Helper& helper : helpers_) {
    kill(helper.process, SIGKILL);
    helper.ended = true;
  }
  RemoveEnded();
}

}  // namespace mc::checker
