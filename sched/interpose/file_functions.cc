// Functions of the C library that work on files, descriptors and what else the kernel keeps for all
// threads: system_call_point.h. What they do is seen where they ask the kernel for it.
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sched/interpose/buffer_access.h"
#include "sched/interpose/export.h"
#include "sched/interpose/kernel_cells.h"
#include "sched/interpose/library_call.h"
#include "sched/interpose/real_function.h"
#include "sched/interpose/system_call_point.h"

using namespace mc::sched;  // NOLINT: the functions below are the C library's

namespace {

size_t Length(const socklen_t* size) { return size == nullptr ? 0 : *size; }

Touch Changed(const DIR* directory) { return {directory, sizeof(int), kReadWrite, kAtomic}; }

}  // namespace

// The mode is passed if a file may be made; what lies there if not means nothing.
#define MC_OPEN_FUNCTION(name, parameters, ...)  \
  MC_EXPORT int name(parameters, ...) {          \
    va_list rest;                                \
    va_start(rest, flags);                       \
    const mode_t mode = va_arg(rest, mode_t);    \
    va_end(rest);                                \
    MC_REAL_OF(name);                            \
    ReadsString(path, MC_CALLER_PC());           \
    const SystemCallPoint point(MC_CALLER_PC()); \
    return real(__VA_ARGS__, mode);              \
  }
#define MC_COMMA ,
MC_OPEN_FUNCTION(open, const char* path MC_COMMA int flags, path, flags)
MC_OPEN_FUNCTION(open64, const char* path MC_COMMA int flags, path, flags)
MC_OPEN_FUNCTION(openat, int directory MC_COMMA const char* path MC_COMMA int flags, directory,
                 path, flags)
MC_OPEN_FUNCTION(openat64, int directory MC_COMMA const char* path MC_COMMA int flags, directory,
                 path, flags)

// clang-format off
MC_ASKS_KERNEL(int, creat, (const char* path, mode_t mode), (path, mode), Text(path))
MC_ASKS_KERNEL(int, creat64, (const char* path, mode_t mode), (path, mode), Text(path))
MC_ASKS_KERNEL(int, close, (int file), (file))
MC_ASKS_KERNEL(off_t, lseek, (int file, off_t offset, int from), (file, offset, from))
MC_ASKS_KERNEL(off64_t, lseek64, (int file, off64_t offset, int from), (file, offset, from))
MC_ASKS_KERNEL(int, ftruncate, (int file, off_t size), (file, size))
MC_ASKS_KERNEL(int, ftruncate64, (int file, off64_t size), (file, size))
MC_ASKS_KERNEL(int, truncate, (const char* path, off_t size), (path, size), Text(path))
MC_ASKS_KERNEL(int, truncate64, (const char* path, off64_t size), (path, size), Text(path))
MC_ASKS_KERNEL(int, dup, (int file), (file))
MC_ASKS_KERNEL(int, dup2, (int file, int as), (file, as))
MC_ASKS_KERNEL(int, dup3, (int file, int as, int flags), (file, as, flags))

MC_ASKS_KERNEL(int, access, (const char* path, int mode), (path, mode), Text(path))
MC_ASKS_KERNEL(int, faccessat, (int directory, const char* path, int mode, int flags),
           (directory, path, mode, flags), Text(path))
MC_ASKS_KERNEL(int, euidaccess, (const char* path, int mode), (path, mode), Text(path))
MC_ASKS_KERNEL(int, eaccess, (const char* path, int mode), (path, mode), Text(path))
MC_ASKS_KERNEL(int, chmod, (const char* path, mode_t mode), (path, mode), Text(path))
MC_ASKS_KERNEL(int, fchmod, (int file, mode_t mode), (file, mode))
MC_ASKS_KERNEL(int, chown, (const char* path, uid_t owner, gid_t group), (path, owner, group),
           Text(path))
MC_ASKS_KERNEL(int, fchown, (int file, uid_t owner, gid_t group), (file, owner, group))
MC_ASKS_KERNEL(int, unlink, (const char* path), (path), Text(path))
MC_ASKS_KERNEL(int, unlinkat, (int directory, const char* path, int flags),
           (directory, path, flags), Text(path))
MC_ASKS_KERNEL(int, remove, (const char* path), (path), Text(path))
MC_ASKS_KERNEL(int, rename, (const char* from, const char* to), (from, to), Text(from), Text(to))
MC_ASKS_KERNEL(int, renameat, (int a, const char* from, int b, const char* to), (a, from, b, to),
           Text(from), Text(to))
MC_ASKS_KERNEL(int, link, (const char* from, const char* to), (from, to), Text(from), Text(to))
MC_ASKS_KERNEL(int, symlink, (const char* from, const char* to), (from, to), Text(from), Text(to))
MC_ASKS_KERNEL(int, mkdir, (const char* path, mode_t mode), (path, mode), Text(path))
MC_ASKS_KERNEL(int, mkdirat, (int directory, const char* path, mode_t mode),
           (directory, path, mode), Text(path))
MC_ASKS_KERNEL(int, mkfifo, (const char* path, mode_t mode), (path, mode), Text(path))
MC_ASKS_KERNEL(int, rmdir, (const char* path), (path), Text(path))
MC_ASKS_KERNEL(int, chdir, (const char* path), (path), Text(path))
MC_ASKS_KERNEL(int, fchdir, (int file), (file))
MC_ASKS_KERNEL(mode_t, umask, (mode_t mask), (mask))
MC_ASKS_KERNEL(int, flock, (int file, int operation), (file, operation))
MC_ASKS_KERNEL(int, fsync, (int file), (file))
MC_ASKS_KERNEL(int, fdatasync, (int file), (file))

MC_ASKS_KERNEL(FILE*, fopen, (const char* path, const char* mode), (path, mode), Text(path),
           Text(mode))
MC_ASKS_KERNEL(FILE*, fopen64, (const char* path, const char* mode), (path, mode), Text(path),
           Text(mode))
MC_ASKS_KERNEL(FILE*, fdopen, (int file, const char* mode), (file, mode), Text(mode))
MC_ASKS_KERNEL(FILE*, tmpfile, (), ())
MC_ASKS_KERNEL(FILE*, tmpfile64, (), ())
MC_ASKS_KERNEL(DIR*, opendir, (const char* path), (path), Text(path))
MC_ASKS_KERNEL(DIR*, fdopendir, (int file), (file))
// Each has a lock, and a buffer of what the kernel has given.
MC_ASKS_KERNEL(dirent*, readdir, (DIR* directory), (directory), Changed(directory), Out(result))
MC_ASKS_KERNEL(dirent64*, readdir64, (DIR* directory), (directory), Changed(directory), Out(result))
MC_ASKS_KERNEL(int, readdir_r, (DIR* directory, dirent* to, dirent** found),
           (directory, to, found), Changed(directory), Out(found),
           Out(to, result == 0 && *found != nullptr ? sizeof *to : 0))
MC_ASKS_KERNEL(int, readdir64_r, (DIR* directory, dirent64* to, dirent64** found),
           (directory, to, found), Changed(directory), Out(found),
           Out(to, result == 0 && *found != nullptr ? sizeof *to : 0))
MC_ASKS_KERNEL(void, rewinddir, (DIR* directory), (directory), Changed(directory))
MC_ASKS_KERNEL(void, seekdir, (DIR* directory, long place), (directory, place), Changed(directory))
MC_ASKS_KERNEL(long, telldir, (DIR* directory), (directory), Changed(directory))
MC_ASKS_KERNEL(int, closedir, (DIR* directory), (directory))

MC_ASKS_KERNEL(int, eventfd, (unsigned count, int flags), (count, flags))
MC_ASKS_KERNEL(int, epoll_create, (int size), (size))
MC_ASKS_KERNEL(int, epoll_create1, (int flags), (flags))
MC_ASKS_KERNEL(int, memfd_create, (const char* name, unsigned flags), (name, flags), Text(name))
MC_ASKS_KERNEL(int, shm_open, (const char* name, int flags, mode_t mode), (name, flags, mode),
           Text(name))
MC_ASKS_KERNEL(int, shm_unlink, (const char* name), (name), Text(name))
MC_ASKS_KERNEL(int, socket, (int domain, int type, int protocol), (domain, type, protocol))
MC_ASKS_KERNEL(int, bind, (int file, const sockaddr* address, socklen_t size),
           (file, address, size), In(address, size))
MC_ASKS_KERNEL(int, listen, (int file, int length), (file, length))
MC_ASKS_KERNEL(int, connect, (int file, const sockaddr* address, socklen_t size),
           (file, address, size), In(address, size))
MC_ASKS_KERNEL(int, accept, (int file, sockaddr* address, socklen_t* size), (file, address, size),
           InOut(size), Out(address, Length(size)))
MC_ASKS_KERNEL(int, accept4, (int file, sockaddr* address, socklen_t* size, int flags),
           (file, address, size, flags), InOut(size), Out(address, Length(size)))
MC_ASKS_KERNEL(int, getsockname, (int file, sockaddr* address, socklen_t* size),
           (file, address, size), InOut(size), Out(address, Length(size)))
MC_ASKS_KERNEL(int, getpeername, (int file, sockaddr* address, socklen_t* size),
           (file, address, size), InOut(size), Out(address, Length(size)))
MC_ASKS_KERNEL(int, setsockopt,
           (int file, int level, int option, const void* value, socklen_t size),
           (file, level, option, value, size), In(value, size))
MC_ASKS_KERNEL(int, shutdown, (int file, int how), (file, how))
// clang-format on

// ---- Those whose third argument depends on the second

namespace {

bool AsksForLock(int command) { return command == F_GETLK || command == F_OFD_GETLK; }
bool SetsLock(int command) {
  return command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK ||
         command == F_OFD_SETLKW;
}

template <typename Function>
int Control(Function real, int file, int command, void* argument, uint64_t pc) {
  if (!g_program_running) return real(file, command, argument);
  const SystemCallPoint point(pc);
  return LibraryCall(
      pc, [&] { return real(file, command, argument); },
      [&](int) {
        const size_t size = sizeof(flock);
        RecordTouched({AsksForLock(command) ? InOut(argument, size) : InOut(argument, 0),
                       SetsLock(command) ? In(argument, size) : In(argument, 0)},
                      pc);
      });
}

}  // namespace

#define MC_CONTROL(name)                                                                 \
  MC_EXPORT int mc_c_##name(int file, int command, ...) __asm__(#name);                  \
  MC_EXPORT int mc_c_##name(int file, int command, ...) {                                \
    va_list rest;                                                                        \
    va_start(rest, command);                                                             \
    void* const argument = va_arg(rest, void*); /* means nothing if it was not passed */ \
    va_end(rest);                                                                        \
    static int (*known)(int, int, ...);                                                  \
    return Control(Find(&known, #name), file, command, argument, MC_CALLER_PC());        \
  }
MC_CONTROL(fcntl)
MC_CONTROL(fcntl64)

// ---- Those that make up a name

namespace {

// `made(result)`: has it made one?
template <typename Call, typename Made>
auto MakeName(char* path, uint64_t pc, Call call, Made made) {
  if (!g_program_running) return call();
  ReadsAndWrites(path, LengthOf(path) + 1, pc);
  const SystemCallPoint point(pc);
  {
    EngineScope scope;
    BeginTemporaryName();
  }
  const auto result = call();
  EngineScope scope;
  EndTemporaryName(made(result) ? path : nullptr);
  return result;
}

}  // namespace

#define MC_MAKES_NAME(result, name, parameters, arguments, failure, ...) \
  MC_EXPORT result name parameters __VA_ARGS__ {                         \
    MC_REAL_OF(name);                                                    \
    return MakeName(                                                     \
        path, MC_CALLER_PC(), [&] { return real arguments; },            \
        [](const auto& value) { return value != failure; });             \
  }
MC_MAKES_NAME(int, mkstemp, (char* path), (path), -1)
MC_MAKES_NAME(int, mkstemp64, (char* path), (path), -1)
MC_MAKES_NAME(int, mkostemp, (char* path, int flags), (path, flags), -1)
MC_MAKES_NAME(int, mkstemps, (char* path, int suffix), (path, suffix), -1)
MC_MAKES_NAME(char*, mkdtemp, (char* path), (path), nullptr, noexcept)
