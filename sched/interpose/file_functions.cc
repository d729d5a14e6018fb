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

#include "sched/interpose/export.h"
#include "sched/interpose/kernel_cells.h"
#include "sched/interpose/real_function.h"
#include "sched/interpose/system_call_point.h"

using namespace mc::sched;  // NOLINT: the functions below are the C library's

#define MC_FILE_FUNCTION(result, name, parameters, arguments, ...) \
  MC_EXPORT result name parameters __VA_ARGS__ {                   \
    MC_REAL_OF(name);                                              \
    const SystemCallPoint point(MC_CALLER_PC());                   \
    return real arguments;                                         \
  }

// The mode is passed if a file may be made; what lies there if not means nothing.
#define MC_OPEN_FUNCTION(name, parameters, ...)  \
  MC_EXPORT int name(parameters, ...) {          \
    va_list rest;                                \
    va_start(rest, flags);                       \
    const mode_t mode = va_arg(rest, mode_t);    \
    va_end(rest);                                \
    MC_REAL_OF(name);                            \
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
MC_FILE_FUNCTION(int, creat, (const char* path, mode_t mode), (path, mode))
MC_FILE_FUNCTION(int, creat64, (const char* path, mode_t mode), (path, mode))
MC_FILE_FUNCTION(int, close, (int file), (file))
MC_FILE_FUNCTION(off_t, lseek, (int file, off_t offset, int from), (file, offset, from), noexcept)
MC_FILE_FUNCTION(off64_t, lseek64, (int file, off64_t offset, int from), (file, offset, from),
                 noexcept)
MC_FILE_FUNCTION(int, ftruncate, (int file, off_t size), (file, size), noexcept)
MC_FILE_FUNCTION(int, truncate, (const char* path, off_t size), (path, size), noexcept)
MC_FILE_FUNCTION(int, dup, (int file), (file), noexcept)
MC_FILE_FUNCTION(int, dup2, (int file, int as), (file, as), noexcept)
MC_FILE_FUNCTION(int, dup3, (int file, int as, int flags), (file, as, flags), noexcept)

MC_FILE_FUNCTION(int, access, (const char* path, int mode), (path, mode), noexcept)
MC_FILE_FUNCTION(int, unlink, (const char* path), (path), noexcept)
MC_FILE_FUNCTION(int, unlinkat, (int directory, const char* path, int flags),
                 (directory, path, flags), noexcept)
MC_FILE_FUNCTION(int, remove, (const char* path), (path), noexcept)
MC_FILE_FUNCTION(int, rename, (const char* from, const char* to), (from, to), noexcept)
MC_FILE_FUNCTION(int, link, (const char* from, const char* to), (from, to), noexcept)
MC_FILE_FUNCTION(int, symlink, (const char* from, const char* to), (from, to), noexcept)
MC_FILE_FUNCTION(int, mkdir, (const char* path, mode_t mode), (path, mode), noexcept)
MC_FILE_FUNCTION(int, rmdir, (const char* path), (path), noexcept)
MC_FILE_FUNCTION(int, chdir, (const char* path), (path), noexcept)
MC_FILE_FUNCTION(mode_t, umask, (mode_t mask), (mask), noexcept)

MC_FILE_FUNCTION(FILE*, fopen, (const char* path, const char* mode), (path, mode))
MC_FILE_FUNCTION(FILE*, fopen64, (const char* path, const char* mode), (path, mode))
MC_FILE_FUNCTION(FILE*, tmpfile, (), ())
MC_FILE_FUNCTION(DIR*, opendir, (const char* path), (path))
MC_FILE_FUNCTION(int, closedir, (DIR * directory), (directory))

MC_FILE_FUNCTION(int, eventfd, (unsigned count, int flags), (count, flags), noexcept)
MC_FILE_FUNCTION(int, epoll_create1, (int flags), (flags), noexcept)
MC_FILE_FUNCTION(int, socket, (int domain, int type, int protocol), (domain, type, protocol),
                 noexcept)
MC_FILE_FUNCTION(int, bind, (int file, const sockaddr* address, socklen_t size),
                 (file, address, size), noexcept)
MC_FILE_FUNCTION(int, listen, (int file, int length), (file, length), noexcept)
MC_FILE_FUNCTION(int, connect, (int file, const sockaddr* address, socklen_t size),
                 (file, address, size))
MC_FILE_FUNCTION(int, accept, (int file, sockaddr* address, socklen_t* size), (file, address, size))
MC_FILE_FUNCTION(int, shutdown, (int file, int how), (file, how), noexcept)

// ---- Those that make up a name

namespace {

// `made(result)`: has it made one?
template <typename Call, typename Made>
auto MakeName(char* path, uint64_t pc, Call call, Made made) {
  if (!g_program_running) return call();
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
