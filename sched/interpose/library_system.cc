// What the C library asks the system for: files' properties, limits, users, names of the machine.
// What each function touches: library_call.h.
#include <grp.h>
#include <pwd.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <utime.h>

#include <cstdlib>

#include "sched/interpose/library_call.h"
#include "sched/interpose/name_services.h"

namespace mc::sched {
namespace {

// What is written if the call succeeds.
template <typename T>
Touch If(bool success, T* to) {
  return Out(to, success ? sizeof *to : 0);
}
Touch TextIf(bool success, char* to) { return success ? OutText(to) : Out(to, 0); }
// Where the function keeps it; null if it failed.
Touch KeptText(char* result) { return TextIf(result != nullptr, result); }
Touch CountedIf(long count, void* to, size_t unit, long most) {
  return Out(to, count > 0 && most > 0 ? unit * static_cast<size_t>(std::min(count, most)) : 0);
}

}  // namespace
}  // namespace mc::sched

using namespace mc::sched;  // NOLINT: for the tables below

// clang-format off

// ---- Files

#define MC_STATUS(name, type) \
  MC_ASKS_KERNEL(int, name, (const char* path, type* to), (path, to), Text(path), If(result == 0, \
  to))
#define MC_STATUS_OF_FILE(name, type) \
  MC_ASKS_KERNEL(int, name, (int file, type* to), (file, to), If(result == 0, to))
MC_STATUS(stat64, struct stat64)
MC_STATUS(lstat64, struct stat64)
MC_STATUS(statfs, struct statfs)
MC_STATUS(statfs64, struct statfs64)
MC_STATUS(statvfs, struct statvfs)
MC_STATUS(statvfs64, struct statvfs64)
MC_STATUS_OF_FILE(fstat64, struct stat64)
MC_STATUS_OF_FILE(fstatfs, struct statfs)
MC_STATUS_OF_FILE(fstatfs64, struct statfs64)
MC_STATUS_OF_FILE(fstatvfs, struct statvfs)
MC_STATUS_OF_FILE(fstatvfs64, struct statvfs64)
MC_ASKS_KERNEL(int, fstatat64, (int directory, const char* path, struct stat64* to, int flags),
           (directory, path, to, flags), Text(path), If(result == 0, to))
MC_ASKS_KERNEL(int, statx,
           (int directory, const char* path, int flags, unsigned mask, struct statx* to),
           (directory, path, flags, mask, to), Text(path), If(result == 0, to))
MC_ASKS_KERNEL(int, utime, (const char* path, const utimbuf* times), (path, times), Text(path),
           In(times))
MC_ASKS_KERNEL(int, utimes, (const char* path, const timeval* times), (path, times), Text(path),
           In(times, 2 * sizeof *times))
MC_ASKS_KERNEL(int, futimes, (int file, const timeval* times), (file, times),
           In(times, 2 * sizeof *times))
MC_ASKS_KERNEL(int, utimensat, (int directory, const char* path, const timespec* times, int flags),
           (directory, path, times, flags), Text(path), In(times, 2 * sizeof *times))
MC_ASKS_KERNEL(int, futimens, (int file, const timespec* times), (file, times),
           In(times, 2 * sizeof *times))
MC_ASKS_KERNEL(ssize_t, readlinkat, (int directory, const char* path, char* to, size_t size),
           (directory, path, to, size), Text(path),
           CountedIf(result, to, 1, static_cast<long>(size)))
MC_ASKS_KERNEL(char*, realpath, (const char* path, char* to), (path, to), Text(path),
           TextIf(result != nullptr, to))
MC_ASKS_KERNEL(char*, canonicalize_file_name, (const char* path), (path), Text(path))
MC_ASKS_KERNEL(long, pathconf, (const char* path, int name), (path, name), Text(path))
MC_ASKS_KERNEL(int, epoll_ctl, (int file, int operation, int of, epoll_event* event),
           (file, operation, of, event), In(event))
MC_ASKS_KERNEL(int, eventfd_read, (int file, uint64_t* to), (file, to), If(result == 0, to))
MC_ASKS_KERNEL(int, eventfd_write, (int file, uint64_t value), (file, value))
MC_ASKS_KERNEL(int, timerfd_settime, (int file, int flags, const itimerspec* time, itimerspec* old),
           (file, flags, time, old), In(time), If(result == 0, old))
MC_ASKS_KERNEL(int, timerfd_gettime, (int file, itimerspec* to), (file, to), If(result == 0, to))

// ---- The process

#define MC_LIMIT(get, set, type) \
  MC_ASKS_KERNEL(int, get, (int resource, type* to), (resource, to), If(result == 0, to)) \
  MC_ASKS_KERNEL(int, set, (int resource, const type* from), (resource, from), In(from))
MC_LIMIT(getrlimit, setrlimit, rlimit)
MC_LIMIT(getrlimit64, setrlimit64, rlimit64)
MC_ASKS_KERNEL(int, prlimit, (pid_t process, int resource, const rlimit* from, rlimit* old),
           (process, resource, from, old), In(from), If(result == 0, old))
MC_ASKS_KERNEL(int, prlimit64, (pid_t process, int resource, const rlimit64* from, rlimit64* old),
           (process, resource, from, old), In(from), If(result == 0, old))
MC_ASKS_KERNEL(pid_t, getpgrp, (), ())
MC_ASKS_KERNEL(pid_t, getpgid, (pid_t process), (process))
MC_ASKS_KERNEL(pid_t, getsid, (pid_t process), (process))
MC_ASKS_KERNEL(int, setpgrp, (), ())
MC_ASKS_KERNEL(int, setpgid, (pid_t process, pid_t to), (process, to))
MC_ASKS_KERNEL(pid_t, setsid, (), ())
MC_ASKS_KERNEL(int, getitimer, (int which, itimerval* to), (which, to), If(result == 0, to))
MC_ASKS_KERNEL(int, setitimer, (int which, const itimerval* from, itimerval* old),
           (which, from, old), In(from), If(result == 0, old))
MC_ASKS_KERNEL(unsigned, alarm, (unsigned seconds), (seconds))
MC_ASKS_KERNEL(pid_t, wait, (int* status), (status), If(result > 0, status))
MC_ASKS_KERNEL(pid_t, waitpid, (pid_t process, int* status, int options),
           (process, status, options), If(result > 0, status))
MC_ASKS_KERNEL(pid_t, wait3, (int* status, int options, rusage* to), (status, options, to),
           If(result > 0, status), If(result > 0, to))
MC_ASKS_KERNEL(pid_t, wait4, (pid_t process, int* status, int options, rusage* to),
           (process, status, options, to), If(result > 0, status), If(result > 0, to))
MC_ASKS_KERNEL(int, waitid, (idtype_t type, id_t id, siginfo_t* to, int options),
           (type, id, to, options), If(result == 0, to))
MC_TOUCHES(int, getgroups, (int most, gid_t* to), (most, to),
           CountedIf(result, to, sizeof *to, most))
MC_TOUCHES(int, getresuid, (uid_t* a, uid_t* b, uid_t* c), (a, b, c), Out(a), Out(b), Out(c))
MC_TOUCHES(int, getresgid, (gid_t* a, gid_t* b, gid_t* c), (a, b, c), Out(a), Out(b), Out(c))

// ---- The machine

MC_TOUCHES(int, gethostname, (char* to, size_t size), (to, size),
           Out(to, std::min(CountTo(to, size) + 1, size)))
MC_TOUCHES(int, getdomainname, (char* to, size_t size), (to, size),
           Out(to, std::min(CountTo(to, size) + 1, size)))
MC_TOUCHES(size_t, confstr, (int name, char* to, size_t size), (name, to, size),
           Out(to, std::min(result, size)))
MC_TOUCHES(int, ttyname_r, (int file, char* to, size_t size), (file, to, size),
           TextIf(result == 0, to))
MC_TOUCHES(int, ptsname_r, (int file, char* to, size_t size), (file, to, size),
           TextIf(result == 0, to))
MC_ASKS_KERNEL(char*, ttyname, (int file), (file), KeptText(result))
MC_ASKS_KERNEL(char*, ptsname, (int file), (file), KeptText(result))
MC_ASKS_KERNEL(char*, getlogin, (), (), KeptText(result))
MC_ASKS_KERNEL(int, tcgetattr, (int file, termios* to), (file, to), If(result == 0, to))
MC_ASKS_KERNEL(int, tcsetattr, (int file, int when, const termios* from), (file, when, from),
           In(from))
MC_ASKS_KERNEL(char*, get_current_dir_name, (), (), In(&environ))
MC_ASKS_KERNEL(char*, getwd, (char* to), (to), TextIf(result != nullptr, to))
MC_ASKS_KERNEL(char*, tmpnam, (char* to), (to), KeptText(result))
MC_ASKS_KERNEL(char*, tmpnam_r, (char* to), (to), TextIf(result != nullptr, to))
MC_ASKS_KERNEL(int, getdtablesize, (), ())
MC_TOUCHES(int, getlogin_r, (char* to, size_t size), (to, size), TextIf(result == 0, to))
MC_TOUCHES(int, sysinfo, (struct sysinfo* to), (to), If(result == 0, to))
MC_TOUCHES(int, getloadavg, (double* to, int count), (to, count),
           CountedIf(result, to, sizeof *to, count))
MC_TOUCHES(int, backtrace, (void** to, int most), (to, most),
           CountedIf(result, to, sizeof *to, most))
MC_TOUCHES(char**, backtrace_symbols, (void* const* from, int count), (from, count),
           In(from, count < 0 ? 0 : static_cast<size_t>(count) * sizeof *from))
MC_TOUCHES(void, backtrace_symbols_fd, (void* const* from, int count, int file),
           (from, count, file), In(from, count < 0 ? 0 : static_cast<size_t>(count) * sizeof *from))

// ---- Users: one result for all, or one that is given

#define MC_LOOK_UP(name, type, parameters, arguments, key) \
  MC_LIBRARY_FUNCTION(type*, name, parameters, arguments, LoadNameServices(), key, Out(result))
MC_LOOK_UP(getpwnam, passwd, (const char* key), (key), Text(key))
MC_LOOK_UP(getpwuid, passwd, (uid_t key), (key), In(&key, 0))
MC_LOOK_UP(getgrnam, group, (const char* key), (key), Text(key))
MC_LOOK_UP(getgrgid, group, (gid_t key), (key), In(&key, 0))
#define MC_LOOK_UP_R(name, type, key_type, key) \
  MC_LIBRARY_FUNCTION(int, name, \
             (key_type of, type* to, char* place, size_t size, type** found), \
             (of, to, place, size, found), LoadNameServices(), key, Out(found), \
             If(result == 0 && *found != nullptr, to), \
             Out(place, result == 0 && *found != nullptr ? size : 0))
MC_LOOK_UP_R(getpwnam_r, passwd, const char*, Text(of))
MC_LOOK_UP_R(getpwuid_r, passwd, uid_t, In(&of, 0))
MC_LOOK_UP_R(getgrnam_r, group, const char*, Text(of))
MC_LOOK_UP_R(getgrgid_r, group, gid_t, In(&of, 0))

// clang-format on

// ---- Which processor a thread runs on differs from run to run: under mc it is always the first.

MC_EXPORT int sched_getcpu() noexcept {
  MC_REAL_OF(sched_getcpu);
  return g_program_running ? 0 : real();
}
MC_EXPORT int getcpu(unsigned* processor, unsigned* node) noexcept {
  MC_REAL_OF(getcpu);
  if (!g_program_running) return real(processor, node);
  const uint64_t pc = MC_CALLER_PC();
  BeforeLibraryCall(pc);
  if (processor != nullptr) *processor = 0;
  if (node != nullptr) *node = 0;
  RecordTouched({Out(processor), Out(node)}, pc);
  return 0;
}
