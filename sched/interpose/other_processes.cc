#include "sched/other_processes.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sched/interpose/kernel_call.h"
#include "sched/interpose/kernel_state.h"
#include "sched/kernel_state.h"

namespace mc::sched {
namespace {

std::vector<uintptr_t>& SharedMemory() {
  static std::vector<uintptr_t>* memory = nullptr;  // for good; no guard, as in kernel_state.cc
  if (memory == nullptr) memory = new std::vector<uintptr_t>;
  return *memory;
}

std::string ContentOf(const char* path) {
  std::string text;
  const long file = KernelCall(SYS_open, AddressOf(path), O_RDONLY | O_CLOEXEC);
  if (file < 0) return text;
  char part[4096];
  for (long n; (n = KernelCall(SYS_read, file, AddressOf(part), sizeof part)) > 0;) {
    text.append(part, static_cast<size_t>(n));
  }
  KernelCall(SYS_close, file);
  return text;
}

// Memory that can be written, is shared, and is not the engine's. A mapping that the kernel's
// answer does not tell of counts as one.
bool HasSharedMemoryOfProgram() {
  const std::string text = ContentOf("/proc/self/maps");
  if (text.empty()) return true;
  for (size_t line = 0; line < text.size();) {
    const char* const begin_text = text.c_str() + line;
    char* at = nullptr;
    const uintptr_t begin = strtoull(begin_text, &at, 16);  // BEGIN-END rwxp ...
    strtoull(at + 1, &at, 16);
    const std::vector<uintptr_t>& own = SharedMemory();
    if (at[2] == 'w' && at[4] == 's' && std::find(own.begin(), own.end(), begin) == own.end()) {
      return true;
    }
    const size_t next = text.find('\n', line);
    line = next == std::string::npos ? text.size() : next + 1;
  }
  return false;
}

// Calls visit(number) for every open descriptor but the three standard ones; false if the kernel
// does not tell.
template <typename Visit>
bool VisitDescriptors(const Visit& visit) {
  const long folder = KernelCall(SYS_open, AddressOf("/proc/self/fd"), O_RDONLY | O_DIRECTORY);
  if (folder < 0) return false;
  alignas(dirent64) char part[4096];
  for (long n; (n = KernelCall(SYS_getdents64, folder, AddressOf(part), sizeof part)) > 0;) {
    for (long at = 0; at < n;) {
      const auto* const entry = reinterpret_cast<const dirent64*>(part + at);
      at += entry->d_reclen;
      const int number = atoi(entry->d_name);
      if (entry->d_name[0] != '.' && number > STDERR_FILENO && number != folder) visit(number);
    }
  }
  KernelCall(SYS_close, folder);
  return true;
}

std::vector<int>& Inherited() {
  static std::vector<int>* inherited = nullptr;
  if (inherited == nullptr) inherited = new std::vector<int>;
  return *inherited;
}

bool HasOpenFiles() {
  bool found = false;
  const bool told = VisitDescriptors([&](int number) {
    const std::vector<int>& inherited = Inherited();
    found = found || (!IsOwnDescriptor(number) &&
                      std::find(inherited.begin(), inherited.end(), number) == inherited.end());
  });
  return found || !told;
}

}  // namespace

int ForkCopy() { return static_cast<int>(KernelCall(SYS_clone, 0)); }

void NoteInheritedDescriptors() {
  VisitDescriptors([](int number) { Inherited().push_back(number); });
}

void OwnSharedMemory(const void* begin) {
  SharedMemory().push_back(reinterpret_cast<uintptr_t>(begin));
}

bool ProcessesWouldMeet() {
  return HasLastingEffects() || HasOpenFiles() || HasSharedMemoryOfProgram();
}

}  // namespace mc::sched
