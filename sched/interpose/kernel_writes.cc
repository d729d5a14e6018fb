// System calls that write into the program's memory.
//
// Pages of the snapshot are write-protected until they are first written. The program's own writes
// fault and are let through; the kernel's would fail with EFAULT. So these calls open the pages
// first. What was written is recorded as a write of the calling thread.
//
// A call that waits for what another thread of the program has to do cannot be scheduled: that is
// an error of its own, not a loop.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "sched/interpose/export.h"
#include "sched/interpose/hook.h"
#include "sched/scheduler.h"

namespace mc::sched {
namespace {

void MakeWritable(const void* address, size_t size) {
  if (address == nullptr) return;
  g_scheduler.snapshot().PrepareForKernelWrite(reinterpret_cast<uintptr_t>(address), size);
}

void RecordWritten(const void* address, size_t size, uint64_t pc) {
  if (address == nullptr || size == 0) return;
  g_scheduler.RecordMemory(reinterpret_cast<uintptr_t>(address), size, kWrite, 0, pc,
                           MemoryOrder::kRelaxed);
}

bool OthersExist() {
  for (uint32_t id = 0; id < g_scheduler.thread_limit(); ++id) {
    const Thread& t = g_scheduler.ThreadById(static_cast<ThreadId>(id));
    if (&t != &g_scheduler.current() && t.exists && t.status == ThreadStatus::kRunnable)
      return true;
  }
  return false;
}

void RefuseToWait(int descriptor, const char* call) {
  const int flags = fcntl(descriptor, F_GETFL);
  if (flags < 0 || (flags & O_NONBLOCK) != 0 || !OthersExist()) return;
  pollfd entry = {descriptor, POLLIN, 0};
  using Poll = int (*)(pollfd*, nfds_t, int);
  if (reinterpret_cast<Poll>(dlsym(RTLD_NEXT, "poll"))(&entry, 1, 0) != 0) return;
  Unsupported(std::string(call) + " that waits for another thread or process");
}

// Calls the C library's function of this name; `size` bytes at `place` are written if it succeeds.
template <typename Function, typename... Arguments>
auto Call(const char* name, const void* place, size_t size, uint64_t pc, Arguments... arguments) {
  const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
  if (!g_program_running) return real(arguments...);
  EngineScope scope;
  MakeWritable(place, size);
  const auto result = real(arguments...);
  if (result == 0) RecordWritten(place, size, pc);
  return result;
}

// The same for a call that returns how many bytes it has written, after waiting for them.
template <typename Function, typename... Arguments>
ssize_t Receive(const char* name, void* place, size_t size, uint64_t pc, int descriptor,
                Arguments... arguments) {
  const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
  if (!g_program_running) return real(descriptor, place, size, arguments...);
  EngineScope scope;
  RefuseToWait(descriptor, name);
  MakeWritable(place, size);
  const ssize_t result = real(descriptor, place, size, arguments...);
  if (result > 0) RecordWritten(place, static_cast<size_t>(result), pc);
  return result;
}

}  // namespace
}  // namespace mc::sched

using mc::sched::Call;
using mc::sched::Receive;

MC_EXPORT ssize_t read(int descriptor, void* place, size_t size) {
  return Receive<ssize_t (*)(int, void*, size_t)>("read", place, size, MC_CALLER_PC(), descriptor);
}
MC_EXPORT ssize_t pread(int descriptor, void* place, size_t size, off_t offset) {
  return Receive<ssize_t (*)(int, void*, size_t, off_t)>("pread", place, size, MC_CALLER_PC(),
                                                         descriptor, offset);
}
MC_EXPORT ssize_t pread64(int descriptor, void* place, size_t size, off_t offset) {
  return Receive<ssize_t (*)(int, void*, size_t, off_t)>("pread64", place, size, MC_CALLER_PC(),
                                                         descriptor, offset);
}
MC_EXPORT ssize_t recv(int descriptor, void* place, size_t size, int flags) {
  return Receive<ssize_t (*)(int, void*, size_t, int)>("recv", place, size, MC_CALLER_PC(),
                                                       descriptor, flags);
}
MC_EXPORT int pipe(int ends[2]) noexcept {
  return Call<int (*)(int*)>("pipe", ends, 2 * sizeof(int), MC_CALLER_PC(), ends);
}
MC_EXPORT int pipe2(int ends[2], int flags) noexcept {
  return Call<int (*)(int*, int)>("pipe2", ends, 2 * sizeof(int), MC_CALLER_PC(), ends, flags);
}
MC_EXPORT int socketpair(int domain, int type, int protocol, int ends[2]) noexcept {
  return Call<int (*)(int, int, int, int*)>("socketpair", ends, 2 * sizeof(int), MC_CALLER_PC(),
                                            domain, type, protocol, ends);
}
MC_EXPORT int stat(const char* path, struct stat* place) noexcept {
  return Call<int (*)(const char*, struct stat*)>("stat", place, sizeof *place, MC_CALLER_PC(),
                                                  path, place);
}
MC_EXPORT int lstat(const char* path, struct stat* place) noexcept {
  return Call<int (*)(const char*, struct stat*)>("lstat", place, sizeof *place, MC_CALLER_PC(),
                                                  path, place);
}
MC_EXPORT int fstat(int descriptor, struct stat* place) noexcept {
  return Call<int (*)(int, struct stat*)>("fstat", place, sizeof *place, MC_CALLER_PC(), descriptor,
                                          place);
}
MC_EXPORT int fstatat(int directory, const char* path, struct stat* place, int flags) noexcept {
  return Call<int (*)(int, const char*, struct stat*, int)>(
      "fstatat", place, sizeof *place, MC_CALLER_PC(), directory, path, place, flags);
}
MC_EXPORT int uname(struct utsname* place) noexcept {
  return Call<int (*)(struct utsname*)>("uname", place, sizeof *place, MC_CALLER_PC(), place);
}
MC_EXPORT int getsockopt(int socket, int level, int option, void* place, socklen_t* size) noexcept {
  if (mc::sched::g_program_running && size != nullptr) {
    mc::sched::EngineScope scope;
    mc::sched::MakeWritable(size, sizeof *size);
  }
  return Call<int (*)(int, int, int, void*, socklen_t*)>(
      "getsockopt", place, size == nullptr ? 0 : *size, MC_CALLER_PC(), socket, level, option,
      place, size);
}
MC_EXPORT char* getcwd(char* place, size_t size) noexcept {
  const auto real = reinterpret_cast<char* (*)(char*, size_t)>(dlsym(RTLD_NEXT, "getcwd"));
  if (!mc::sched::g_program_running || place == nullptr) return real(place, size);
  mc::sched::EngineScope scope;
  mc::sched::MakeWritable(place, size);
  return real(place, size);
}
MC_EXPORT ssize_t readlink(const char* path, char* place, size_t size) noexcept {
  using Function = ssize_t (*)(const char*, char*, size_t);
  const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "readlink"));
  if (!mc::sched::g_program_running) return real(path, place, size);
  mc::sched::EngineScope scope;
  mc::sched::MakeWritable(place, size);
  const ssize_t result = real(path, place, size);
  if (result > 0) mc::sched::RecordWritten(place, static_cast<size_t>(result), MC_CALLER_PC());
  return result;
}
