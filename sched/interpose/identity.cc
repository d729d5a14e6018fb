// setuid and its relatives. The C library makes the system call in each of its threads, which are
// not those of the program; here one call does. One that changes something is an error: the next
// execution could not begin with the rights of the first.
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "sched/interpose/hook.h"
#include "sched/interpose/kernel_call.h"
#include "sched/interpose/library_call.h"
#include "sched/interpose/real_function.h"

namespace mc::sched {
namespace {

struct Identity {
  std::array<uid_t, 3> users;
  std::array<gid_t, 3> groups;
  std::vector<gid_t> more;

  bool operator==(const Identity&) const = default;
};

Identity Now() {
  Identity now;
  auto& [u, g, more] = now;
  KernelCall(SYS_getresuid, AddressOf(&u[0]), AddressOf(&u[1]), AddressOf(&u[2]));
  KernelCall(SYS_getresgid, AddressOf(&g[0]), AddressOf(&g[1]), AddressOf(&g[2]));
  more.resize(static_cast<size_t>(std::max(KernelCall(SYS_getgroups, 0, 0), 0L)));
  KernelCall(SYS_getgroups, static_cast<long>(more.size()), AddressOf(more.data()));
  return now;
}

int Change(const char* function, long number, long a, long b = 0, long c = 0) {
  EngineScope scope;
  const Identity before = Now();
  const long result = KernelCall(number, a, b, c);
  if (result < 0) {
    errno = static_cast<int>(-result);
    return -1;
  }
  if (Now() != before) Unsupported(function + std::string(", which changes its user or group"));
  return 0;
}

}  // namespace
}  // namespace mc::sched

using namespace mc::sched;  // NOLINT: the functions below are the C library's

#define MC_IDENTITY(name, parameters, arguments, ...) \
  MC_EXPORT int name parameters noexcept {            \
    MC_REAL_OF(name);                                 \
    if (!g_program_running) return real arguments;    \
    return Change(#name, __VA_ARGS__);                \
  }
MC_IDENTITY(setuid, (uid_t id), (id), SYS_setuid, id)
MC_IDENTITY(setgid, (gid_t id), (id), SYS_setgid, id)
MC_IDENTITY(seteuid, (uid_t id), (id), SYS_setresuid, -1, id, -1)
MC_IDENTITY(setegid, (gid_t id), (id), SYS_setresgid, -1, id, -1)
MC_IDENTITY(setreuid, (uid_t a, uid_t b), (a, b), SYS_setreuid, a, b)
MC_IDENTITY(setregid, (gid_t a, gid_t b), (a, b), SYS_setregid, a, b)
MC_IDENTITY(setresuid, (uid_t a, uid_t b, uid_t c), (a, b, c), SYS_setresuid, a, b, c)
MC_IDENTITY(setresgid, (gid_t a, gid_t b, gid_t c), (a, b, c), SYS_setresgid, a, b, c)

MC_EXPORT int mc_c_setgroups(size_t count, const gid_t* groups) __asm__("setgroups");
MC_EXPORT int mc_c_setgroups(size_t count, const gid_t* groups) {
  static decltype(&mc_c_setgroups) known;
  const auto real = Find(&known, "setgroups");
  if (!g_program_running) return real(count, groups);
  RecordTouched({In(groups, count * sizeof *groups)}, MC_CALLER_PC());
  return Change("setgroups", SYS_setgroups, static_cast<long>(count), AddressOf(groups));
}
