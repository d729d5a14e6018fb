#include "sched/interpose/system_call_effects.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstddef>

#include "sched/interpose/kernel_call.h"

namespace mc::sched {
namespace {

constexpr size_t kTableSize = 512;

struct Row {
  uint16_t number;
  uint16_t bits;
  const char* name = nullptr;
};

constexpr Row kRows[] = {
    // Those that only look.
    {SYS_stat, 0},
    {SYS_lstat, 0},
    {SYS_fstat, 0},
    {SYS_newfstatat, 0},
    {SYS_statx, 0},
    {SYS_access, 0},
    {SYS_faccessat, 0},
    {SYS_faccessat2, 0},
    {SYS_readlink, 0},
    {SYS_readlinkat, 0},
    {SYS_getcwd, 0},
    {SYS_getpid, 0},
    {SYS_gettid, 0},
    {SYS_getppid, 0},
    {SYS_getuid, 0},
    {SYS_geteuid, 0},
    {SYS_getgid, 0},
    {SYS_getegid, 0},
    {SYS_uname, 0},
    {SYS_sysinfo, 0},
    {SYS_sched_getaffinity, 0},
    {SYS_sched_yield, 0},
    {SYS_clock_gettime, 0},
    {SYS_gettimeofday, 0},
    // What they change goes with the descriptor or the process that has it.
    {SYS_rt_sigreturn, kElse},
    {SYS_poll, kElse},
    {SYS_ppoll, kElse},
    {SYS_select, kElse},
    {SYS_pselect6, kElse},
    {SYS_epoll_ctl, kElse},
    {SYS_epoll_wait, kElse},
    {SYS_epoll_pwait, kElse},
    {SYS_futex, kElse},
    {SYS_madvise, kElse},
    {SYS_mincore, kElse},
    {SYS_msync, kElse},
    {SYS_mlock, kElse},
    {SYS_munlock, kElse},
    {SYS_membarrier, kElse},
    {SYS_nanosleep, kElse},
    {SYS_clock_nanosleep, kElse},
    {SYS_getrandom, kElse},
    {SYS_getrlimit, kElse},
    {SYS_getrusage, kElse},
    {SYS_times, kElse},
    {SYS_getpgid, kElse},
    {SYS_getpgrp, kElse},
    {SYS_getsid, kElse},
    {SYS_getgroups, kElse},
    {SYS_getpriority, kElse},
    {SYS_getitimer, kElse},
    {SYS_getdents64, kMoves},
    {SYS_getsockname, kElse},
    {SYS_getpeername, kElse},
    {SYS_getsockopt, kElse},
    {SYS_setsockopt, kElse},
    {SYS_listen, kElse},
    {SYS_shutdown, kElse},
    {SYS_getxattr, kElse},
    {SYS_lgetxattr, kElse},
    {SYS_fgetxattr, kElse},
    {SYS_listxattr, kElse},
    {SYS_llistxattr, kElse},
    {SYS_flistxattr, kElse},
    {SYS_statfs, kElse},
    {SYS_fstatfs, kElse},
    {SYS_fsync, kElse},
    {SYS_fdatasync, kElse},
    {SYS_sync, kElse},
    {SYS_fadvise64, kElse},
    {SYS_readahead, kElse},
    {SYS_flock, kElse},
    {SYS_sched_setaffinity, kElse},
    {SYS_sched_getparam, kElse},
    {SYS_sched_getscheduler, kElse},
    {SYS_sched_get_priority_max, kElse},
    {SYS_sched_get_priority_min, kElse},
    {SYS_clock_getres, kElse},
    {SYS_prctl, kElse},
    {SYS_arch_prctl, kElse},
    {SYS_set_tid_address, kElse},
    {SYS_set_robust_list, kElse},
    {SYS_get_robust_list, kElse},
    {SYS_rseq, kElse},
    {SYS_getcpu, kElse},
    {SYS_rt_sigpending, kElse},
    {SYS_timerfd_settime, kElse},
    {SYS_timerfd_gettime, kElse},
    {SYS_inotify_add_watch, kElse},
    {SYS_inotify_rm_watch, kElse},
    {SYS_wait4, kElse},
    {SYS_waitid, kElse},
    // Descriptors.
    {SYS_dup, kOpens},
    {SYS_pipe, kOpens},
    {SYS_pipe2, kOpens},
    {SYS_socket, kOpens},
    {SYS_socketpair, kOpens},
    {SYS_accept, kOpens},
    {SYS_accept4, kOpens},
    {SYS_epoll_create, kOpens},
    {SYS_epoll_create1, kOpens},
    {SYS_eventfd, kOpens},
    {SYS_eventfd2, kOpens},
    {SYS_signalfd, kOpens},
    {SYS_signalfd4, kOpens},
    {SYS_timerfd_create, kOpens},
    {SYS_inotify_init, kOpens},
    {SYS_inotify_init1, kOpens},
    {SYS_memfd_create, kOpens},
    {SYS_userfaultfd, kOpens},
    {SYS_pidfd_open, kOpens},
    {SYS_recvmsg, kOpens | kMoves},
    {SYS_recvmmsg, kOpens | kMoves},
    {SYS_ioctl, kMoves},
    {SYS_close, kCloses},
    {SYS_close_range, kCloses},
    {SYS_dup2, kOpens | kCloses},
    {SYS_dup3, kOpens | kCloses},
    {SYS_read, kMoves},
    {SYS_readv, kMoves},
    {SYS_recvfrom, kMoves},
    {SYS_lseek, kMoves},
    {SYS_pread64, kElse},
    {SYS_preadv, kElse},
    {SYS_preadv2, kMoves},
    {SYS_sendto, kElse},
    {SYS_sendmsg, kElse},
    {SYS_sendmmsg, kElse},
    // Of the process.
    {SYS_rt_sigaction, kHandles},
    {SYS_rt_sigprocmask, kMasks},
    {SYS_rt_sigsuspend, kMasks},
    {SYS_rt_sigtimedwait, kMasks},
    {SYS_pause, kMasks},
    {SYS_kill, kMasks},
    {SYS_tkill, kMasks},
    {SYS_tgkill, kMasks},
    {SYS_rt_sigqueueinfo, kMasks},
    {SYS_rt_tgsigqueueinfo, kMasks},
    {SYS_sigaltstack, kSignalStack},
    {SYS_chdir, kDirectory},
    {SYS_fchdir, kDirectory},
    {SYS_umask, kFileMask},
    {SYS_setrlimit, kLimits},
    {SYS_prlimit64, kLimits},
    {SYS_alarm, kTimers | kMasks},
    {SYS_setitimer, kTimers | kMasks},
    {SYS_mmap, kMaps},
    {SYS_munmap, kMaps},
    {SYS_mremap, kMaps},
    {SYS_mprotect, kMaps},
    {SYS_brk, kMaps},
    // What others see.
    {SYS_creat, kOpens | kLasting, "creat"},
    {SYS_rename, kLasting, "rename"},
    {SYS_renameat, kLasting, "renameat"},
    {SYS_renameat2, kLasting, "renameat2"},
    {SYS_link, kLasting, "link"},
    {SYS_linkat, kLasting, "linkat"},
    {SYS_symlink, kLasting, "symlink"},
    {SYS_symlinkat, kLasting, "symlinkat"},
    {SYS_unlink, kLasting, "unlink"},
    {SYS_unlinkat, kLasting, "unlinkat"},
    {SYS_mkdir, kLasting, "mkdir"},
    {SYS_mkdirat, kLasting, "mkdirat"},
    {SYS_rmdir, kLasting, "rmdir"},
    {SYS_mknod, kLasting, "mknod"},
    {SYS_mknodat, kLasting, "mknodat"},
    {SYS_truncate, kLasting, "truncate"},
    {SYS_chmod, kLasting, "chmod"},
    {SYS_fchmodat, kLasting, "fchmodat"},
    {SYS_chown, kLasting, "chown"},
    {SYS_lchown, kLasting, "lchown"},
    {SYS_fchownat, kLasting, "fchownat"},
    {SYS_utime, kLasting, "utime"},
    {SYS_utimes, kLasting, "utimes"},
    {SYS_utimensat, kLasting, "utimensat"},
    {SYS_setxattr, kLasting, "setxattr"},
    {SYS_lsetxattr, kLasting, "lsetxattr"},
    {SYS_removexattr, kLasting, "removexattr"},
    {SYS_bind, kLasting, "bind"},
    {SYS_connect, kLasting, "connect"},
    {SYS_setpriority, kLasting, "setpriority"},
    {SYS_sched_setscheduler, kLasting, "sched_setscheduler"},
    {SYS_sched_setparam, kLasting, "sched_setparam"},
    {SYS_setsid, kLasting, "setsid"},
    {SYS_setpgid, kElse},
    {SYS_setuid, kLasting, "setuid"},
    {SYS_setgid, kLasting, "setgid"},
    {SYS_shmget, kLasting, "shmget"},
    {SYS_shmat, kLasting, "shmat"},
    {SYS_shmdt, kLasting, "shmdt"},
    {SYS_shmctl, kLasting, "shmctl"},
    {SYS_semget, kLasting, "semget"},
    {SYS_semop, kLasting, "semop"},
    {SYS_semctl, kLasting, "semctl"},
    {SYS_msgget, kLasting, "msgget"},
    {SYS_msgsnd, kLasting, "msgsnd"},
    {SYS_msgrcv, kLasting, "msgrcv"},
    {SYS_msgctl, kLasting, "msgctl"},
    {SYS_mq_open, kOpens | kLasting, "mq_open"},
    {SYS_mq_unlink, kLasting, "mq_unlink"},
    {SYS_mq_timedsend, kLasting, "mq_timedsend"},
    {SYS_mq_timedreceive, kLasting, "mq_timedreceive"},
};

constexpr uint16_t kUnknown = kOpens | kCloses | kMoves | kLasting | kElse;

constexpr std::array<SystemCallEffects, kTableSize> MakeTable() {
  std::array<SystemCallEffects, kTableSize> table{};
  for (SystemCallEffects& entry : table) entry.bits = kUnknown;
  for (const Row& row : kRows) table[row.number] = {row.bits, row.name};
  return table;
}
constexpr std::array<SystemCallEffects, kTableSize> kTable = MakeTable();

struct Attribute {
  long set, get;
};
constexpr Attribute kAttributes[] = {
    {PR_SET_DUMPABLE, PR_GET_DUMPABLE},
    {PR_SET_CHILD_SUBREAPER, PR_GET_CHILD_SUBREAPER},
    {PR_SET_THP_DISABLE, PR_GET_THP_DISABLE},
};

// A file with a name, which is still there when all descriptors are closed.
bool IsNamedFile(long descriptor) {
  struct stat status;
  return KernelCall(SYS_fstat, descriptor, AddressOf(&status)) == 0 && S_ISREG(status.st_mode) &&
         status.st_nlink != 0;
}

SystemCallEffects OfOpen(long flags, const char* name) {
  if ((flags & O_TMPFILE) == O_TMPFILE) return {kOpens, nullptr};
  if ((flags & (O_CREAT | O_TRUNC)) != 0) return {kOpens | kLasting, name};
  return {kOpens, nullptr};
}

SystemCallEffects OfControl(long command) {
  switch (command) {
    case F_GETFD:
    case F_GETFL:
      return {};
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
      return {kOpens, nullptr};
    default:
      return {kMoves, nullptr};
  }
}

// A change of what the file holds or is.
SystemCallEffects OfChange(long descriptor, uint16_t bits, const char* name) {
  if (!IsNamedFile(descriptor)) return {bits, nullptr};
  return {static_cast<uint16_t>(bits | kLasting), name};
}

}  // namespace

long AskingOption(long option) {
  for (const Attribute& one : kAttributes) {
    if (one.set == option) return one.get;
  }
  return -1;
}
bool SetsAttribute(long option) { return AskingOption(option) >= 0; }
bool AsksForAttribute(long option) {
  for (const Attribute& one : kAttributes) {
    if (one.get == option) return true;
  }
  return false;
}

SystemCallEffects EffectsOf(long number, const long a[6]) {
  switch (number) {
    case SYS_write:
    case SYS_writev:
      // They keep nothing that the program could see again.
      if (a[0] == STDOUT_FILENO || a[0] == STDERR_FILENO) return {};
      return OfChange(a[0], kMoves, number == SYS_write ? "write" : "writev");
    case SYS_pwrite64:
      return OfChange(a[0], kElse, "pwrite");
    case SYS_pwritev:
    case SYS_pwritev2:
      return OfChange(a[0], kMoves, "pwritev");
    case SYS_sendfile:
      return OfChange(a[0], kMoves, "sendfile");
    case SYS_splice:
    case SYS_copy_file_range:
      return OfChange(a[2], kMoves, number == SYS_splice ? "splice" : "copy_file_range");
    case SYS_ftruncate:
      return OfChange(a[0], kElse, "ftruncate");
    case SYS_fallocate:
      return OfChange(a[0], kElse, "fallocate");
    case SYS_fchmod:
      return OfChange(a[0], kElse, "fchmod");
    case SYS_fchown:
      return OfChange(a[0], kElse, "fchown");
    case SYS_open:
      return OfOpen(a[1], "open");
    case SYS_openat:
      return OfOpen(a[2], "open");
    case SYS_mmap:
      if ((a[3] & MAP_TYPE) == MAP_PRIVATE || (a[3] & MAP_ANONYMOUS) != 0 ||
          (a[2] & PROT_WRITE) == 0) {
        return {kMaps, nullptr};
      }
      return OfChange(a[4], kMaps, "mmap of a file");
    case SYS_fcntl:
      return OfControl(a[1]);
    case SYS_ioctl:
      if (a[1] == TCGETS) return {};  // is it a terminal?
      if (a[1] == TIOCGPTPEER) return {kOpens, nullptr};
      break;
    default:
      break;
  }
  if (number < 0 || number >= static_cast<long>(kTableSize)) return {kUnknown, nullptr};
  return kTable[static_cast<size_t>(number)];
}

}  // namespace mc::sched
