#include "checker/harness_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "checker/harness_file.h"
#include "checker/interruption.h"
#include "checker/padded_environment.h"
#include "checker/system_limits.h"
#include "checker/text.h"
#include "checker/worker_death.h"

namespace mc::checker {
namespace {

constexpr size_t kErrorTailSize = 4096;
constexpr absl::Duration kTick = absl::Milliseconds(100);
constexpr absl::Duration kStopGrace = absl::Seconds(5);
// Descriptor numbers in the child. Below 10, so that a shell in between passes them on.
constexpr int kChildControlFd = 8;
constexpr int kChildSharedFd = 9;

// Why the child could not become the harness: written to a pipe that closes at exec.
enum class ChildFailure : int { kDescriptors, kRandomization, kExec };
struct ChildReport {
  ChildFailure failure;
  int error;
};

bool RandomizationIsOff() {
  std::ifstream file("/proc/sys/kernel/randomize_va_space");
  int value = -1;
  return (file >> value) && value == 0;
}

Hello ParseHello(const Message& message) {
  Hello hello;
  hello.version = message.Text("version");
  hello.abi = message.Text("abi");
  hello.build_id = message.Text("build_id");
  hello.executable = message.Text("executable");
  hello.entry = message.Text("entry");
  hello.pid = static_cast<pid_t>(message.Number("pid"));
  for (std::string_view test : Split(message.Text("tests"), ';')) hello.tests.emplace_back(test);
  for (std::string_view entry : Split(message.Text("modules"), ';')) {
    const size_t end_comma = entry.rfind(',');
    if (end_comma == std::string_view::npos || end_comma == 0) continue;
    const size_t base_comma = entry.rfind(',', end_comma - 1);
    if (base_comma == std::string_view::npos) continue;
    Module module;
    module.path = entry.substr(0, base_comma);
    const std::string base(entry.substr(base_comma + 1, end_comma - base_comma - 1));
    const std::string end(entry.substr(end_comma + 1));
    module.base = strtoull(base.c_str(), nullptr, 0);
    module.end = strtoull(end.c_str(), nullptr, 0);
    hello.modules.push_back(std::move(module));
  }
  return hello;
}

}  // namespace

absl::StatusOr<std::unique_ptr<HarnessProcess>> HarnessProcess::Start(
    const HarnessOptions& options) {
  std::unique_ptr<HarnessProcess> process(new HarnessProcess(options));
  if (absl::Status status = process->OpenSharedMemory(); !status.ok()) return status;
  if (options.attach_control_fd >= 0) {
    process->control_fd_ = options.attach_control_fd;
    fcntl(process->control_fd_, F_SETFD, FD_CLOEXEC);
  } else {
    if (absl::Status status = CheckHarnessFile(options.path); !status.ok()) return status;
    if (absl::Status status = process->Launch(); !status.ok()) return status;
  }
  if (absl::Status status = process->AwaitHello(); !status.ok()) return status;
  return process;
}

HarnessProcess::~HarnessProcess() {
  Finish();
  if (shared_ != nullptr) munmap(shared_, sizeof(SharedState));
  for (int fd : {shared_fd_, control_fd_, error_fd_}) {
    if (fd >= 0) close(fd);
  }
}

absl::Status HarnessProcess::OpenSharedMemory() {
  if (options_.attach_shared_fd >= 0) {
    shared_fd_ = options_.attach_shared_fd;
    fcntl(shared_fd_, F_SETFD, FD_CLOEXEC);
    struct stat status;
    if (fstat(shared_fd_, &status) != 0 ||
        static_cast<size_t>(status.st_size) < sizeof(SharedState)) {
      return absl::FailedPreconditionError("the shared memory to attach to has the wrong size");
    }
  } else {
    shared_fd_ = memfd_create("mc-shared", MFD_CLOEXEC);
    if (shared_fd_ < 0 || ftruncate(shared_fd_, sizeof(SharedState)) != 0) {
      return absl::ResourceExhaustedError(
          absl::StrCat("cannot create shared memory for the harness: ", ExplainSystemError(errno)));
    }
  }
  void* memory =
      mmap(nullptr, sizeof(SharedState), PROT_READ | PROT_WRITE, MAP_SHARED, shared_fd_, 0);
  if (memory == MAP_FAILED) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot map shared memory for the harness: ", ExplainSystemError(errno)));
  }
  shared_ = static_cast<SharedState*>(memory);
  return absl::OkStatus();
}

absl::Status HarnessProcess::Launch() {
  int sockets[2], report[2], errors[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0 ||
      pipe2(report, O_CLOEXEC) != 0 || (!options_.pass_output && pipe2(errors, O_CLOEXEC) != 0)) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot open a channel to the harness: ", ExplainSystemError(errno)));
  }
  fflush(nullptr);
  const pid_t supervisor = getpid();
  pid_ = fork();
  if (pid_ < 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot start a process: ", ExplainSystemError(errno)));
  }
  if (pid_ == 0) RunChild(supervisor, sockets[1], errors[1], report[1]);
  close(sockets[1]);
  close(report[1]);
  if (errors[1] >= 0) close(errors[1]);
  control_fd_ = sockets[0];
  error_fd_ = errors[0];
  if (error_fd_ >= 0) fcntl(error_fd_, F_SETFL, O_NONBLOCK);
  ChildReport failure;
  const bool failed = read(report[0], &failure, sizeof failure) == sizeof failure;
  close(report[0]);
  if (!failed) return absl::OkStatus();
  if (failure.failure == ChildFailure::kRandomization) {
    return absl::FailedPreconditionError(absl::StrCat(
        "cannot turn address space randomisation off for the harness (", strerror(failure.error),
        "), and schedules cannot be repeated with it on. In a container, allow the personality ",
        "system call (docker: --security-opt seccomp=unconfined), or run: ",
        "sysctl kernel.randomize_va_space=0"));
  }
  if (failure.failure == ChildFailure::kDescriptors) {
    return absl::ResourceExhaustedError(absl::StrCat("cannot pass the channels to the harness on: ",
                                                     ExplainSystemError(failure.error)));
  }
  const std::string& program = options_.debugger.empty() ? options_.path : options_.debugger[0];
  return absl::FailedPreconditionError(
      absl::StrCat("cannot run '", program, "': ", strerror(failure.error)));
}

void HarnessProcess::RunChild(pid_t supervisor, int control_fd, int error_fd, int report_fd) {
  auto fail = [&report_fd](ChildFailure failure) {
    const ChildReport report{failure, errno};
    if (write(report_fd, &report, sizeof report) < 0) _exit(127);
    _exit(127);
  };
  // Clear of the numbers that are about to be given out.
  auto moved = [&fail](int fd) {
    const int number = fcntl(fd, F_DUPFD_CLOEXEC, 10);
    if (number >= 0) return number;
    if (errno == EINVAL) errno = EMFILE;  // none of these numbers is allowed
    fail(ChildFailure::kDescriptors);
    return -1;
  };
  report_fd = moved(report_fd);
  control_fd = moved(control_fd);
  const int shared_fd = moved(shared_fd_);
  if (dup2(control_fd, kChildControlFd) < 0 || dup2(shared_fd, kChildSharedFd) < 0) {
    fail(ChildFailure::kDescriptors);
  }
  if (options_.debugger.empty()) {
    // A process group of its own: Ctrl-C is for the supervisor.
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != supervisor) _exit(127);
    const int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(null_fd, STDIN_FILENO);
    if (!options_.pass_output) {
      dup2(null_fd, STDOUT_FILENO);
      dup2(error_fd, STDERR_FILENO);
    }
  }
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ}) signal(number, SIG_DFL);
  const int current = personality(0xffffffff);
  if ((current < 0 || personality(static_cast<unsigned long>(current) | ADDR_NO_RANDOMIZE) < 0) &&
      !RandomizationIsOff()) {
    fail(ChildFailure::kRandomization);
  }
  setenv(kControlFdVariable, std::to_string(kChildControlFd).c_str(), 1);
  setenv(kSharedFdVariable, std::to_string(kChildSharedFd).c_str(), 1);
  setenv(kEntryVariable, options_.entry.c_str(), 1);
  // Libraries bind their calls at the start: a table of bound calls that goes back to its first
  // state would be bound anew in every execution.
  setenv("LD_BIND_NOW", "1", 1);
  // A debugger is looked up, and hands on what it likes.
  PadEnvironment(options_.debugger.empty() ? options_.path : "");
  std::vector<std::string> words = options_.debugger;
  words.push_back(options_.path);
  words.insert(words.end(), options_.arguments.begin(), options_.arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  fail(ChildFailure::kExec);
  abort();
}

absl::Status HarnessProcess::AwaitHello() {
  const Event event = Receive(options_.hello_timeout);
  switch (event.kind) {
    case EventKind::kMessage:
      break;
    case EventKind::kTimeout:
      return StartFailure(absl::StrCat("it did not come to its ",
                                       options_.entry == "main" ? "" : "entry ", options_.entry,
                                       " in time: it must get there without waiting"));
    case EventKind::kInterrupted:
      return absl::CancelledError("interrupted");
    default:
      return StartFailure(options_.entry == "main"
                              ? "it ended before its main"
                              : absl::StrCat("it ended before its entry ", options_.entry));
  }
  if (event.message.type() == "error") {
    return StartFailure(event.message.Text("message"));
  }
  if (event.message.type() != "hello") {
    return StartFailure(absl::StrCat("unexpected message '", event.message.type(), "'"));
  }
  hello_ = ParseHello(event.message);
  if (hello_.abi != kProtocolVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("harness '", options_.path, "' was built for another version of mc (",
                     hello_.version, ", protocol ", hello_.abi, "; this one is ", kVersion,
                     ", protocol ", kProtocolVersion, "): build it again with this mc-c++"));
  }
  return absl::OkStatus();
}

absl::Status HarnessProcess::StartFailure(std::string_view what) {
  // Whatever the loader still had to say.
  Poll(kTick);
  std::string text = absl::StrCat("harness '", options_.path, "' cannot be used: ", View(what));
  if (pid_ > 0) {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == pid_) {
      pid_ = 0;
      if (WIFEXITED(status)) absl::StrAppend(&text, " (exit status ", WEXITSTATUS(status), ")");
      if (WIFSIGNALED(status)) absl::StrAppend(&text, " (", strsignal(WTERMSIG(status)), ")");
    }
  }
  rlimit address_space;
  if (getrlimit(RLIMIT_AS, &address_space) == 0 && address_space.rlim_cur != RLIM_INFINITY) {
    absl::StrAppend(&text,
                    "; the address space is limited (ulimit -v), of which the runtime reserves "
                    "much without using it: try without the limit");
  }
  const absl::string_view tail = absl::StripAsciiWhitespace(error_tail_);
  if (!tail.empty()) absl::StrAppend(&text, "\nIt said:\n", tail);
  return absl::FailedPreconditionError(text);
}

absl::Status HarnessProcess::ForkWorker() {
  shared_->stop_requested = 0;
  shared_->steps = 0;
  shared_->in_program = 0;
  shared_->last_words.failure = 0;
  shared_->last_words.own_signal = 0;
  shared_->last_words.foreign_signal = 0;
  shared_->last_words.out_of_memory = 0;
  shared_->last_words.Tell({});
  Send(Message("fork"));
  const Event event = Receive(options_.hello_timeout);
  if (event.kind == EventKind::kMessage && event.message.type() == "worker-started") {
    return absl::OkStatus();
  }
  if (event.kind == EventKind::kMessage && event.message.type() == "error") {
    std::string text(event.message.Text("message"));
    if (const uint64_t error = event.message.Number("errno")) {
      absl::StrAppend(&text, ": ", ExplainSystemError(static_cast<int>(error)));
    }
    return StartFailure(text);
  }
  if (event.kind == EventKind::kInterrupted) return absl::CancelledError("interrupted");
  return StartFailure("it did not start a worker process");
}

void HarnessProcess::StopWorker() {
  if (!worker_alive_) return;
  KillWorker();
  const absl::Time deadline = absl::Now() + absl::Seconds(5);
  while (worker_alive_ && !closed_ && absl::Now() < deadline) Receive(kTick);
}

void HarnessProcess::Send(const Message& message) {
  const std::string line = message.Encode() + "\n";
  size_t sent = 0;
  while (sent < line.size() && !closed_) {
    // MSG_DONTWAIT: a worker that does not read while it floods us must not block both sides.
    const ssize_t n =
        send(control_fd_, line.data() + sent, line.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) {
      sent += static_cast<size_t>(n);
    } else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      Poll(absl::Milliseconds(1));
    } else if (n < 0 && errno != EINTR) {
      return;
    }
  }
}

void HarnessProcess::Poll(absl::Duration timeout) {
  pollfd fds[2] = {{control_fd_, POLLIN, 0}, {error_fd_, POLLIN, 0}};
  const int count = poll(fds, 2, static_cast<int>(absl::ToInt64Milliseconds(timeout)));
  if (count <= 0) return;
  if ((fds[1].revents & (POLLIN | POLLHUP)) != 0) ReadErrorOutput();
  if ((fds[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0) ReadControl();
}

void HarnessProcess::ReadControl() {
  char buffer[65536];
  const ssize_t n = recv(control_fd_, buffer, sizeof buffer, MSG_DONTWAIT);
  if (n > 0) {
    input_.append(buffer, static_cast<size_t>(n));
  } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
    closed_ = true;
  }
}

void HarnessProcess::ReadErrorOutput() {
  char buffer[4096];
  const ssize_t n = read(error_fd_, buffer, sizeof buffer);
  if (n == 0) {
    close(error_fd_);
    error_fd_ = -1;
  }
  if (n <= 0) return;
  error_tail_.append(buffer, static_cast<size_t>(n));
  if (error_tail_.size() > 2 * kErrorTailSize) {
    error_tail_.erase(0, error_tail_.size() - kErrorTailSize);
  }
}

bool HarnessProcess::TakeLine(Message* message) {
  for (;;) {
    const size_t end = input_.find('\n', consumed_);
    if (end == std::string::npos) {
      input_.erase(0, consumed_);
      consumed_ = 0;
      return false;
    }
    std::string_view line = std::string_view(input_).substr(consumed_, end - consumed_);
    // A worker may die in the middle of a line; the zygote's word then follows on the same one.
    const size_t death = line.find("worker-died pid=");
    if (death != std::string_view::npos) line.remove_prefix(death);
    consumed_ = end + 1;
    if (Message::Decode(line, message)) return true;
  }
}

HarnessProcess::Event HarnessProcess::Handle(Message message) {
  Event event{EventKind::kMessage, std::move(message), 0};
  if (event.message.type() == "worker-started") {
    worker_alive_ = true;
    worker_pid_ = static_cast<pid_t>(event.message.Number("pid"));
    hang_watch_.Start(absl::Now());
    killed_because_ = EventKind::kWorkerDied;
    stop_asked_ = absl::InfiniteFuture();
  } else if (event.message.type() == "worker-died") {
    worker_alive_ = false;
    event.kind = killed_because_;
    event.status = static_cast<int>(event.message.Number("status"));
    max_rss_kb_ = std::max(max_rss_kb_, event.message.Number("rss"));
  }
  return event;
}

HarnessProcess::Event HarnessProcess::Receive(absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  for (;;) {
    Message message;
    if (TakeLine(&message)) return Handle(std::move(message));
    if (closed_) {
      const bool had_worker = worker_alive_;
      worker_alive_ = false;
      return {had_worker
                  ? killed_because_ == EventKind::kWorkerDied ? EventKind::kGone : killed_because_
                  : EventKind::kGone,
              Message(), 0};
    }
    const absl::Time now = absl::Now();
    if (Interrupted()) {
      if (!worker_alive_) return {EventKind::kInterrupted, Message(), 0};
      shared_->stop_requested = 1;
      if (stop_asked_ == absl::InfiniteFuture()) stop_asked_ = now;
      if (now - stop_asked_ > kStopGrace || InterruptionCount() > 1) {
        killed_because_ = EventKind::kInterrupted;
        KillWorker();
      }
    }
    if (worker_alive_ && Hangs()) {
      killed_because_ = EventKind::kHang;
      KillWorker();
    }
    if (worker_alive_ && TakesTooMuchMemory()) {
      killed_because_ = EventKind::kOutOfMemory;
      KillWorker();
    }
    if (now >= deadline) return {EventKind::kTimeout, Message(), 0};
    Poll(std::clamp(deadline - now, absl::Milliseconds(1), kTick));
  }
}

bool HarnessProcess::Hangs() {
  const absl::Time now = absl::Now();
  return hang_watch_.IsQuiet(now, shared_->transitions, shared_->in_program != 0) &&
         hang_watch_.Hangs(now, ReadWorkerStanding(worker_pid_));
}

// What an execution takes is its growth while it runs: the searches' own memory is not the
// program's.
bool HarnessProcess::TakesTooMuchMemory() {
  const absl::Time now = absl::Now();
  if (options_.memory_limit == 0 || now - last_memory_check_ < kTick) return false;
  last_memory_check_ = now;
  const uint64_t rss = SampleWorkerRss();
  const uint64_t executions = shared_->executions;
  if (executions != seen_executions_ || shared_->in_program == 0 || rss < rss_at_execution_) {
    seen_executions_ = executions;
    rss_at_execution_ = rss;
  }
  return (rss - rss_at_execution_) * 1024 > options_.memory_limit;
}

void HarnessProcess::KillWorker() {
  if (worker_pid_ > 0) kill(worker_pid_, SIGKILL);
}

void HarnessProcess::Finish() {
  if (control_fd_ < 0) return;
  if (!closed_) {
    StopWorker();
    Send(Message("quit"));
    shutdown(control_fd_, SHUT_WR);
    const absl::Time deadline = absl::Now() + absl::Seconds(1);
    while (!closed_ && absl::Now() < deadline) Poll(kTick);
  }
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
}

std::string HarnessProcess::HowItEnded() {
  int status = 0;
  if (pid_ <= 0 || waitpid(pid_, &status, WNOHANG) != pid_) return "";
  pid_ = 0;
  return DescribeWaitStatus(status);
}

uint64_t HarnessProcess::SampleWorkerRss() {
  std::ifstream file(absl::StrCat("/proc/", worker_pid_, "/status"));
  uint64_t current = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmHWM:")) {
      max_rss_kb_ = std::max<uint64_t>(max_rss_kb_, strtoull(line.c_str() + 6, nullptr, 10));
    } else if (line.starts_with("VmRSS:")) {
      current = strtoull(line.c_str() + 6, nullptr, 10);
    }
  }
  return current;
}

}  // namespace mc::checker
