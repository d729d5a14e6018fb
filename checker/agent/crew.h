// Crew: the processes that help a worker with one search (dpor/sharing.h, dpor/frontier.h).
//
// Helpers are copies of the worker, made in the middle of the search, between two executions. They
// run executions of subtrees that the worker's Frontier gives them, and send it what they see: what
// the search says, lines for the supervisor, candidates. The worker reads that between executions
// of its own.
//
// Invariants
//  * A helper that dies is told of (OnRestart): the search then begins again, alone, and if the
//    program was the reason the worker shows the same.
//  * A helper never outlives its worker.
#ifndef MC_CHECKER_AGENT_CREW_H_
#define MC_CHECKER_AGENT_CREW_H_

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dpor/frontier.h"
#include "racedet/candidate.h"
#include "sched/event.h"
#include "sched/last_words.h"

namespace mc::checker {

inline constexpr uint32_t kMostHelpers = 63;

// In memory that the worker and its helpers share. What different processes write often lies in
// different cache lines.
struct CrewState {
  alignas(64) std::atomic<uint32_t> hungry;         // how many wait for something to do
  std::atomic<uint32_t> stop;                       // helpers give back what is left and end
  std::atomic<uint32_t> is_limited;                 // whether tickets are needed
  alignas(64) std::atomic<uint32_t> mail;           // changes when a helper has sent something
  alignas(64) std::atomic<int64_t> tickets;         // executions that may still be begun
  std::atomic<uint64_t> names[sched::kMaxThreads];  // Scheduler::ShareNames
  struct alignas(64) Helper {
    std::atomic<uint64_t> heartbeat;
    std::atomic<uint32_t> in_program;
    sched::LastWords last_words;
  } helpers[kMostHelpers];
  alignas(64) std::atomic<uint64_t> peak_kb;  // the most memory that any helper ever took

  void NotePeak(uint64_t kilobytes) {
    uint64_t known = peak_kb.load(std::memory_order_relaxed);
    while (known < kilobytes && !peak_kb.compare_exchange_weak(known, kilobytes)) {
    }
  }

  // Before an execution: may it be begun?
  bool TakeTicket() {
    return is_limited.load(std::memory_order_relaxed) == 0 ||
           tickets.fetch_sub(1, std::memory_order_relaxed) > 0;
  }
};

// What a helper sends: a head, then `size` bytes.
enum class CrewMessage : uint32_t {
  kSearch,     // words for the frontier
  kLine,       // a Message for the supervisor
  kCandidate,  // a racedet::Candidate
  kRestart,    // the search has to begin again, alone; why
  kBye,        // CrewBye, the last
};
struct CrewHead {
  CrewMessage kind;
  uint32_t size;
};
struct CrewBye {
  uint64_t repeated = 0;  // Job::repeated, of this helper
  uint64_t handlers_waited = 0;
};

// What the worker hears.
class CrewListener {
 public:
  virtual ~CrewListener() = default;
  virtual void OnLine(std::string_view line) = 0;
  virtual void OnCandidate(const racedet::Candidate& candidate) = 0;
  virtual void OnRestart(std::string_view reason) = 0;
  virtual void OnBye(const CrewBye& bye) = 0;
};

class Crew {
 public:
  // `executions`: how many may be begun, by all together. `memory`: how much a helper may take, in
  // bytes; 0: as much as it likes. Both references must outlive the crew.
  Crew(dpor::Frontier& frontier, CrewListener& listener, uint64_t executions, uint64_t memory);
  // Kills the helpers that are left.
  ~Crew();
  // The most memory, in kilobytes, that a helper of this process ever took.
  static uint64_t PeakOfHelpers();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // One helper more. In the worker: its number, 0 if there can be none. In the helper: -1; then
  // helper_number() and helper_socket() are set.
  int Add();
  int helper_number() const { return helper_number_; }
  int helper_socket() const { return helper_socket_; }
  CrewState& state() { return *state_; }

  void GiveTicketBack() { state_->tickets.fetch_add(1, std::memory_order_relaxed); }

  // Between executions: reads what came, if anything did, and answers.
  void Attend() {
    if (state_->mail.load(std::memory_order_acquire) != seen_mail_) ReadMail();
  }
  // Does a helper wait for something to do?
  bool hungry() const { return state_->hungry.load(std::memory_order_relaxed) != 0; }
  // Gives those that wait what there is now.
  void Feed();
  // The worker has nothing to do: waits for something to come, at most that long.
  void Wait(std::chrono::milliseconds longest);
  // Now and then: ends helpers that hang or take too much memory.
  void LookAfter();
  // Lets all give back what is left of their items, and end.
  void Disband();

  size_t size() const { return helpers_.size(); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Helper {
    uint32_t number;  // also of the frontier's worker
    pid_t process;
    int socket;
    bool waits = false;  // for an item
    bool ended = false;
    std::vector<unsigned char> input;
    uint64_t heartbeat = 0;
    Clock::time_point last_heartbeat;
  };

  void ReadMail();
  void Read(Helper& helper);
  void Handle(Helper& helper, CrewMessage kind, std::span<const unsigned char> content);
  void Serve(Helper& helper, std::span<const unsigned char> content);
  void Answer(Helper& helper, const dpor::Words& answer);
  void Poll(std::chrono::milliseconds longest);
  void RemoveEnded();
  void CountHungry();

  dpor::Frontier& frontier_;
  CrewListener& listener_;
  CrewState* state_ = nullptr;
  uint64_t memory_;
  std::vector<Helper> helpers_;
  uint32_t seen_mail_ = 0;
  bool worker_is_hungry_ = false;
  int helper_number_ = 0, helper_socket_ = -1;
  Clock::time_point last_look_;
  dpor::Words words_, answer_, sent_;
};

}  // namespace mc::checker

#endif  // MC_CHECKER_AGENT_CREW_H_
