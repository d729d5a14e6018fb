// The zygote: a harness process at its entry, which forks one worker at a time
// (checker/protocol.h).
#include "checker/agent/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "checker/agent/channel.h"
#include "checker/agent/output.h"
#include "checker/agent/registered_tests.h"
#include "checker/agent/worker.h"
#include "checker/protocol.h"
#include "sched/other_processes.h"

namespace mc::checker {

namespace {

// What ends a whole group of processes: from the terminal or by whoever started it.
constexpr int kStopSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

struct ModuleText {
  std::string text;
  bool first = true;
};

int AddModule(dl_phdr_info* info, size_t, void* argument) {
  auto* modules = static_cast<ModuleText*>(argument);
  uintptr_t end = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& h = info->dlpi_phdr[i];
    if (h.p_type != PT_LOAD) continue;
    const uintptr_t segment_end = info->dlpi_addr + h.p_vaddr + h.p_memsz;
    if (segment_end > end) end = segment_end;
  }
  std::string path = info->dlpi_name;
  if (modules->first) {
    char buffer[4096];
    const ssize_t length = readlink("/proc/self/exe", buffer, sizeof buffer);
    if (length > 0) path.assign(buffer, static_cast<size_t>(length));
    modules->first = false;
  }
  if (path.empty()) return 0;
  if (!modules->text.empty()) modules->text += ';';
  modules->text += path + "," + std::to_string(info->dlpi_addr) + "," + std::to_string(end);
  return 0;
}

struct BuildId {
  std::string text;
};

int ReadBuildId(dl_phdr_info* info, size_t, void* argument) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& h = info->dlpi_phdr[i];
    if (h.p_type != PT_NOTE) continue;
    uintptr_t at = info->dlpi_addr + h.p_vaddr;
    const uintptr_t end = at + h.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(at);
      const uintptr_t name = at + sizeof *note;
      const uintptr_t data = name + ((note->n_namesz + 3) & ~3u);
      if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
          memcmp(reinterpret_cast<const void*>(name), "GNU", 4) == 0) {
        for (size_t k = 0; k < note->n_descsz; ++k) {
          char digits[3];
          snprintf(digits, sizeof digits, "%02x", reinterpret_cast<const unsigned char*>(data)[k]);
          static_cast<BuildId*>(argument)->text += digits;
        }
        return 1;
      }
      at = data + ((note->n_descsz + 3) & ~3u);
    }
  }
  return 1;  // only the program itself
}

Message Hello(const std::string& entry) {
  std::string tests;
  for (size_t i = 0; i < RegisteredTestCount(); ++i) {
    if (i != 0) tests += ';';
    tests += RegisteredTestAt(i).name;
  }
  ModuleText modules;
  dl_iterate_phdr(AddModule, &modules);
  BuildId build_id;
  dl_iterate_phdr(ReadBuildId, &build_id);
  char executable[4096];
  const ssize_t length = readlink("/proc/self/exe", executable, sizeof executable);
  Message hello("hello");
  hello.Set("version", kVersion).Set("abi", kProtocolVersion).Set("build_id", build_id.text);
  hello.Set("pid", static_cast<uint64_t>(getpid()));
  hello.Set("executable",
            std::string_view(executable, length > 0 ? static_cast<size_t>(length) : 0));
  return hello.Set("tests", tests).Set("modules", modules.text).Set("entry", entry);
}

SharedState* MapSharedState(int fd) {
  void* memory = mmap(nullptr, sizeof(SharedState), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<SharedState*>(memory);
}

}  // namespace

int ServeAsZygote(const ProgramBody& body, int control_fd, int shared_fd,
                  const std::string& entry) {
  sched::MarkEngineStarted();
  // The supervisor says when to stop.
  for (int number : kStopSignals) signal(number, SIG_IGN);
  Channel channel(control_fd);
  fcntl(control_fd, F_SETFD, FD_CLOEXEC);
  for (int fd : {control_fd, shared_fd}) sched::OwnDescriptor(fd, false);
  SharedState* shared = MapSharedState(shared_fd);
  sched::OwnSharedMemory(shared);
  if (shared == nullptr) {
    channel.Send(Message("error").Set("message", "the shared memory cannot be mapped"));
    return 2;
  }
  channel.Send(Hello(entry));
  Message message;
  while (channel.Receive(&message)) {
    if (message.type() == "quit") return 0;
    if (message.type() != "fork") continue;
    fflush(nullptr);
    const pid_t parent = getpid();
    const pid_t worker = sched::RealFork();
    if (worker == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) sched::RealExitNow(1);
      for (int number : kStopSignals) signal(number, SIG_DFL);  // the program's own
      sched::InstallSignalHandlers();
      sched::RealExitNow(Worker(channel, shared, body).Serve());
    }
    if (worker < 0) {
      channel.Send(Message("error")
                       .Set("message", "a worker process cannot be started")
                       .Set("errno", static_cast<uint64_t>(errno)));
      return 2;
    }
    channel.Send(Message("worker-started").Set("pid", static_cast<uint64_t>(worker)));
    int status = 0;
    rusage usage = {};
    while (wait4(worker, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    channel.Send(Message("worker-died")
                     .Set("pid", static_cast<uint64_t>(worker))
                     .Set("status", static_cast<uint64_t>(status))
                     .Set("rss", static_cast<uint64_t>(usage.ru_maxrss)));
  }
  return 1;
}

namespace {

int NumberFromEnvironment(const char* name) {
  const char* text = getenv(name);
  return text == nullptr ? -1 : atoi(text);
}

void RemovePadding() {
  char** out = environ;
  for (char** in = environ; *in != nullptr; ++in) {
    if (strncmp(*in, kPaddingPrefix, sizeof kPaddingPrefix - 1) != 0) *out++ = *in;
  }
  *out = nullptr;
}

// Under a supervisor the process serves it at the entry it asks for: main, or the n-th mc::Check
// (then the program runs on as an ordinary one until it gets there).
int RunUnderSupervisor(const sched::ProgramEntry& entry) {
  const char* wanted = getenv(kEntryVariable);
  if (wanted != nullptr) RemovePadding();
  if (wanted != nullptr && strncmp(wanted, "check:", 6) == 0) {
    return entry.main(entry.argc, entry.argv, entry.environment);
  }
  const int control = NumberFromEnvironment(kControlFdVariable);
  const int shared = NumberFromEnvironment(kSharedFdVariable);
  unsetenv(kControlFdVariable);
  unsetenv(kSharedFdVariable);
  unsetenv(kEntryVariable);
  ProgramBody body;
  body.entry = entry;
  const int status = ServeAsZygote(body, control, shared, "main");
  sched::RealExitNow(status);
}

__attribute__((constructor)) void InstallAgent() {
  sched::g_agent = &RunUnderSupervisor;
  sched::NoteInheritedDescriptors();
}

}  // namespace

bool WantsCheck(uint64_t number) {
  const char* wanted = getenv(kEntryVariable);
  if (wanted == nullptr || strncmp(wanted, "check:", 6) != 0) return false;
  return strtoull(wanted + 6, nullptr, 10) == number &&
         NumberFromEnvironment(kControlFdVariable) >= 0;
}

void ServeCheck(const ProgramBody& body, uint64_t number) {
  const int control = NumberFromEnvironment(kControlFdVariable);
  const int shared = NumberFromEnvironment(kSharedFdVariable);
  sched::RealExitNow(ServeAsZygote(body, control, shared, "check:" + std::to_string(number)));
}

}  // namespace mc::checker
