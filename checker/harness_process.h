// HarnessProcess: the harness as a child process (DESIGN section 2; checker/protocol.h).
//
// Owns the zygote, at most one worker, the control socket and the shared memory. A worker can
// crash, hang or be killed at any time; what it said before is delivered first, then its death.
//
// Invariants
//  * Messages are sent only while somebody reads: to the worker while `worker_alive()`, else to the
//    zygote.
//  * Nothing the harness does makes a call here wait for ever: every wait has a limit.
#ifndef MC_CHECKER_HARNESS_PROCESS_H_
#define MC_CHECKER_HARNESS_PROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "checker/message.h"
#include "checker/protocol.h"
#include "checker/symbolizer.h"
#include "checker/worker_watch.h"

namespace mc::checker {

struct HarnessOptions {
  std::string path;
  std::vector<std::string> arguments;
  std::string entry = "main";         // MC_ENTRY
  bool pass_output = false;           // the program's output goes to ours
  std::vector<std::string> debugger;  // command put in front of the harness; empty: none
  int attach_control_fd = -1;         // talk to a running zygote instead of starting one
  int attach_shared_fd = -1;          // its shared memory, -1 for none
  absl::Duration hello_timeout = absl::Seconds(10);
  // Without a transition: may hang (checker/worker_watch.h).
  absl::Duration hang_timeout = absl::Seconds(10);
  uint64_t memory_limit = 0;  // bytes one execution may take; 0: no limit
};

struct Hello {
  std::string version, abi, build_id, executable, entry;
  pid_t pid = 0;
  std::vector<std::string> tests;
  std::vector<Module> modules;
};

class HarnessProcess {
 public:
  enum class EventKind {
    kMessage,
    kWorkerDied,   // by itself
    kHang,         // program code ran without a transition for hang_timeout; the worker was killed
    kOutOfMemory,  // one execution took more than memory_limit; the worker was killed
    kInterrupted,  // the user asked to stop and the worker did not answer; it was killed
    kTimeout,
    kGone,  // the zygote is gone: nothing more will come
  };
  struct Event {
    EventKind kind;
    Message message;
    int status = 0;  // kWorkerDied: wait status
  };

  // Starts (or attaches to) the harness and waits for its hello.
  static absl::StatusOr<std::unique_ptr<HarnessProcess>> Start(const HarnessOptions& options);
  ~HarnessProcess();
  HarnessProcess(const HarnessProcess&) = delete;
  HarnessProcess& operator=(const HarnessProcess&) = delete;

  const Hello& hello() const { return hello_; }
  SharedState& shared() { return *shared_; }

  // A new worker. There must be none.
  absl::Status ForkWorker();
  bool worker_alive() const { return worker_alive_; }
  // Ends the worker, if there is one, and what it knows.
  void StopWorker();

  // Errors are not reported here: a dead reader shows in Receive.
  void Send(const Message& message);
  // The next thing that happens. While the user asks to stop, tells the worker so and gives it
  // a few seconds.
  Event Receive(absl::Duration timeout);

  // The last few kilobytes the harness wrote to standard error (if it does not pass through).
  const std::string& ErrorTail() const { return error_tail_; }
  // After kGone: how the process we started ended, as DescribeWaitStatus says it; "" if unknown.
  std::string HowItEnded();
  uint64_t MaxRssKb() const { return max_rss_kb_; }
  // Reads the worker's memory use; in kilobytes, 0 if unknown.
  uint64_t SampleWorkerRss();

 private:
  explicit HarnessProcess(const HarnessOptions& options)
      : options_(options), hang_watch_(options.hang_timeout, options.memory_limit) {}
  absl::Status OpenSharedMemory();
  absl::Status Launch();
  [[noreturn]] void RunChild(pid_t supervisor, int control_fd, int error_fd, int report_fd);
  absl::Status AwaitHello();
  absl::Status StartFailure(std::string_view what);
  void Poll(absl::Duration timeout);
  void ReadControl();
  void ReadErrorOutput();
  bool TakeLine(Message* message);
  Event Handle(Message message);
  bool Hangs();
  bool TakesTooMuchMemory();
  void KillWorker();
  void Finish();

  HarnessOptions options_;
  Hello hello_;
  SharedState* shared_ = nullptr;
  int shared_fd_ = -1;
  int control_fd_ = -1;
  int error_fd_ = -1;
  pid_t pid_ = 0;  // of our child; 0 when attached
  pid_t worker_pid_ = 0;
  bool worker_alive_ = false;
  bool closed_ = false;
  std::string input_;
  size_t consumed_ = 0;  // of input_
  std::string error_tail_;
  uint64_t max_rss_kb_ = 0;
  HangWatch hang_watch_;
  uint64_t seen_executions_ = 0;
  uint64_t rss_at_execution_ = 0;  // kilobytes, when the execution that runs was first seen
  absl::Time last_memory_check_;
  absl::Time stop_asked_ = absl::InfiniteFuture();
  EventKind killed_because_ = EventKind::kWorkerDied;
};

}  // namespace mc::checker

#endif  // MC_CHECKER_HARNESS_PROCESS_H_
