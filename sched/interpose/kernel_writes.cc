// Functions of the C library that make a system call which writes into the program's memory
// (kernel_arguments.h). What was written is recorded as a write of the calling thread.
//
// kernel_boundary.h sees every system call, but not what part of its result means anything to the
// program; and it is not there under every kernel.
#include <dlfcn.h>
#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "sched/interpose/buffer_access.h"
#include "sched/interpose/export.h"
#include "sched/interpose/hook.h"
#include "sched/interpose/kernel_arguments.h"
#include "sched/interpose/kernel_state.h"
#include "sched/interpose/system_call_point.h"
#include "sched/scheduler.h"
#include "sched/system_call_watch.h"

namespace mc::sched {
namespace {

void RecordWritten(const void* address, size_t size, uint64_t pc) {
  if (address == nullptr || size == 0) return;
  g_scheduler.RecordMemory(reinterpret_cast<uintptr_t>(address), size, kWrite, 0, pc,
                           MemoryOrder::kRelaxed);
}

// The call has failed. If the kernel could not write there, others decide whether it can.
void RecordUnwritable(const void* address, size_t size, uint64_t pc) {
  if (errno != EFAULT || size == 0) return;
  g_scheduler.RecordFailedAccess(reinterpret_cast<uintptr_t>(address), size, kWrite, 0, pc);
}

template <typename... Arguments>
void NoteCall(long number, Arguments... arguments) {
  const long all[6] = {(long)arguments...};  // NOLINT: pointers and integers alike, as the kernel
  long unused;
  NoteSystemCall(number, all, &unused);
}

// Calls the C library's function of this name; `size` bytes at `place` are written if it succeeds.
// `number` is that of the system call, which has the same arguments.
template <typename Function, typename... Arguments>
auto Call(const char* name, long number, const void* place, size_t size, uint64_t pc,
          Arguments... arguments) {
  const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
  if (!g_program_running) return real(arguments...);
  const SystemCallPoint point(pc);
  EngineScope scope;
  OpenForKernel(place, size);
  NoteCall(number, arguments...);  // not seen at the boundary: engine code makes it
  const auto result = real(arguments...);
  if (result == 0) {
    RecordWritten(place, size, pc);
  } else {
    RecordUnwritable(place, size, pc);
  }
  return result;
}

// The same for a call that returns how many bytes it has written, after waiting for them. `number`
// is that of the system call, whose first three arguments are the same.
template <typename Function, typename... Arguments>
ssize_t Receive(long number, const char* name, void* place, size_t size, uint64_t pc,
                int descriptor, Arguments... arguments) {
  const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
  if (!g_program_running) return real(descriptor, place, size, arguments...);
  const SystemCallPoint point(pc);
  EngineScope scope;
  const auto address = reinterpret_cast<uintptr_t>(place);
  if (size != 0) g_scheduler.BeforeAccess(address, 1, kWrite, 0, pc);
  BeforeSystemCall(number, descriptor, place, size, arguments...);
  const ssize_t result = real(descriptor, place, size, arguments...);
  if (result > 0) {
    g_scheduler.CheckAlive(address, static_cast<size_t>(result), kWrite, pc);
    RecordWritten(place, static_cast<size_t>(result), pc);
  } else if (result < 0) {
    RecordUnwritable(place, size, pc);
  }
  return result;
}

}  // namespace
}  // namespace mc::sched

using mc::sched::Call;
using mc::sched::Receive;

MC_EXPORT ssize_t read(int descriptor, void* place, size_t size) {
  return Receive<ssize_t (*)(int, void*, size_t)>(SYS_read, "read", place, size, MC_CALLER_PC(),
                                                  descriptor);
}
MC_EXPORT ssize_t pread(int descriptor, void* place, size_t size, off_t offset) {
  return Receive<ssize_t (*)(int, void*, size_t, off_t)>(SYS_pread64, "pread", place, size,
                                                         MC_CALLER_PC(), descriptor, offset);
}
MC_EXPORT ssize_t pread64(int descriptor, void* place, size_t size, off_t offset) {
  return Receive<ssize_t (*)(int, void*, size_t, off_t)>(SYS_pread64, "pread64", place, size,
                                                         MC_CALLER_PC(), descriptor, offset);
}
MC_EXPORT ssize_t recv(int descriptor, void* place, size_t size, int flags) {
  return Receive<ssize_t (*)(int, void*, size_t, int)>(SYS_recvfrom, "recv", place, size,
                                                       MC_CALLER_PC(), descriptor, flags);
}
MC_EXPORT ssize_t recvfrom(int descriptor, void* place, size_t size, int flags, sockaddr* address,
                           socklen_t* address_size) {
  return Receive<ssize_t (*)(int, void*, size_t, int, sockaddr*, socklen_t*)>(
      SYS_recvfrom, "recvfrom", place, size, MC_CALLER_PC(), descriptor, flags, address,
      address_size);
}
MC_EXPORT int pipe(int ends[2]) noexcept {
  return Call<int (*)(int*)>("pipe", SYS_pipe, ends, 2 * sizeof(int), MC_CALLER_PC(), ends);
}
MC_EXPORT int pipe2(int ends[2], int flags) noexcept {
  return Call<int (*)(int*, int)>("pipe2", SYS_pipe2, ends, 2 * sizeof(int), MC_CALLER_PC(), ends,
                                  flags);
}
MC_EXPORT int socketpair(int domain, int type, int protocol, int ends[2]) noexcept {
  return Call<int (*)(int, int, int, int*)>("socketpair", SYS_socketpair, ends, 2 * sizeof(int),
                                            MC_CALLER_PC(), domain, type, protocol, ends);
}
MC_EXPORT int stat(const char* path, struct stat* place) noexcept {
  mc::sched::ReadsString(path, MC_CALLER_PC());
  return Call<int (*)(const char*, struct stat*)>("stat", SYS_stat, place, sizeof *place,
                                                  MC_CALLER_PC(), path, place);
}
MC_EXPORT int lstat(const char* path, struct stat* place) noexcept {
  mc::sched::ReadsString(path, MC_CALLER_PC());
  return Call<int (*)(const char*, struct stat*)>("lstat", SYS_lstat, place, sizeof *place,
                                                  MC_CALLER_PC(), path, place);
}
MC_EXPORT int fstat(int descriptor, struct stat* place) noexcept {
  return Call<int (*)(int, struct stat*)>("fstat", SYS_fstat, place, sizeof *place, MC_CALLER_PC(),
                                          descriptor, place);
}
MC_EXPORT int fstatat(int directory, const char* path, struct stat* place, int flags) noexcept {
  mc::sched::ReadsString(path, MC_CALLER_PC());
  return Call<int (*)(int, const char*, struct stat*, int)>("fstatat", SYS_newfstatat, place,
                                                            sizeof *place, MC_CALLER_PC(),
                                                            directory, path, place, flags);
}
MC_EXPORT int uname(struct utsname* place) noexcept {
  return Call<int (*)(struct utsname*)>("uname", SYS_uname, place, sizeof *place, MC_CALLER_PC(),
                                        place);
}
MC_EXPORT int getsockopt(int socket, int level, int option, void* place, socklen_t* size) noexcept {
  if (mc::sched::g_program_running && size != nullptr) {
    mc::sched::EngineScope scope;
    mc::sched::OpenForKernel(size, sizeof *size);
  }
  return Call<int (*)(int, int, int, void*, socklen_t*)>(
      "getsockopt", SYS_getsockopt, place, size == nullptr ? 0 : *size, MC_CALLER_PC(), socket,
      level, option, place, size);
}
MC_EXPORT char* getcwd(char* place, size_t size) noexcept {
  const auto real = reinterpret_cast<char* (*)(char*, size_t)>(dlsym(RTLD_NEXT, "getcwd"));
  if (!mc::sched::g_program_running || place == nullptr) return real(place, size);
  const mc::sched::SystemCallPoint point(MC_CALLER_PC());
  mc::sched::EngineScope scope;
  mc::sched::OpenForKernel(place, size);
  mc::sched::NoteCall(SYS_getcwd, place, size);
  char* const result = real(place, size);
  if (result != nullptr) {
    mc::sched::RecordWritten(place, mc::sched::LengthOf(place) + 1, MC_CALLER_PC());
  } else {
    mc::sched::RecordUnwritable(place, size, MC_CALLER_PC());
  }
  return result;
}
MC_EXPORT ssize_t readlink(const char* path, char* place, size_t size) noexcept {
  mc::sched::ReadsString(path, MC_CALLER_PC());
  using Function = ssize_t (*)(const char*, char*, size_t);
  const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "readlink"));
  if (!mc::sched::g_program_running) return real(path, place, size);
  const mc::sched::SystemCallPoint point(MC_CALLER_PC());
  mc::sched::EngineScope scope;
  mc::sched::OpenForKernel(place, size);
  mc::sched::NoteCall(SYS_readlink, path, place, size);
  const ssize_t result = real(path, place, size);
  if (result > 0) mc::sched::RecordWritten(place, static_cast<size_t>(result), MC_CALLER_PC());
  if (result < 0) mc::sched::RecordUnwritable(place, size, MC_CALLER_PC());
  return result;
}
