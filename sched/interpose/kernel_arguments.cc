#include "sched/interpose/kernel_arguments.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "sched/interpose/hook.h"
#include "sched/interpose/kernel_state.h"
#include "sched/interpose/real.h"
#include "sched/scheduler.h"
#include "sched/system_call_watch.h"

namespace mc::sched {

namespace {

constexpr size_t kPageBytes = 4096;

// ---- What is written

enum class Extent : uint8_t {
  kNothing,    // no memory of the program is written
  kElements,   // `unit` bytes for each of as many as argument `count` says
  kValueSize,  // as many bytes as the int that argument `count` points to says; and that int
  kVectors,    // the buffers of an array of iovec, whose length is argument `count`
  kMessage,    // a msghdr
  kMessages,   // an array of mmsghdr, whose length is argument `count`
  kSets,       // fd_sets of argument `count` bits
};

// One row for each argument that is written, and that needs more than a page.
struct Written {
  long number;
  Extent extent;
  uint8_t argument;
  uint8_t count;
  uint8_t unit;
};

constexpr Written kWritten[] = {
    {SYS_write, Extent::kNothing, 0, 0, 0},
    {SYS_pwrite64, Extent::kNothing, 0, 0, 0},
    {SYS_writev, Extent::kNothing, 0, 0, 0},
    {SYS_sendto, Extent::kNothing, 0, 0, 0},
    {SYS_sendmsg, Extent::kNothing, 0, 0, 0},
    {SYS_openat, Extent::kNothing, 0, 0, 0},
    {SYS_mmap, Extent::kNothing, 0, 0, 0},
    {SYS_munmap, Extent::kNothing, 0, 0, 0},
    {SYS_mprotect, Extent::kNothing, 0, 0, 0},
    {SYS_madvise, Extent::kNothing, 0, 0, 0},
    {SYS_read, Extent::kElements, 1, 2, 1},
    {SYS_pread64, Extent::kElements, 1, 2, 1},
    {SYS_readv, Extent::kVectors, 1, 2, 0},
    {SYS_preadv, Extent::kVectors, 1, 2, 0},
    {SYS_preadv2, Extent::kVectors, 1, 2, 0},
    {SYS_process_vm_readv, Extent::kVectors, 1, 2, 0},
    {SYS_recvfrom, Extent::kElements, 1, 2, 1},
    {SYS_recvfrom, Extent::kValueSize, 4, 5, 0},
    {SYS_recvmsg, Extent::kMessage, 1, 0, 0},
    {SYS_recvmmsg, Extent::kMessages, 1, 2, 0},
    {SYS_accept, Extent::kValueSize, 1, 2, 0},
    {SYS_accept4, Extent::kValueSize, 1, 2, 0},
    {SYS_getsockname, Extent::kValueSize, 1, 2, 0},
    {SYS_getpeername, Extent::kValueSize, 1, 2, 0},
    {SYS_getsockopt, Extent::kValueSize, 3, 4, 0},
    {SYS_poll, Extent::kElements, 0, 1, sizeof(pollfd)},
    {SYS_ppoll, Extent::kElements, 0, 1, sizeof(pollfd)},
    {SYS_select, Extent::kSets, 1, 0, 0},
    {SYS_pselect6, Extent::kSets, 1, 0, 0},
    {SYS_epoll_wait, Extent::kElements, 1, 2, sizeof(epoll_event)},
    {SYS_epoll_pwait, Extent::kElements, 1, 2, sizeof(epoll_event)},
    {SYS_getdents64, Extent::kElements, 1, 2, 1},
    {SYS_readlink, Extent::kElements, 1, 2, 1},
    {SYS_readlinkat, Extent::kElements, 2, 3, 1},
    {SYS_getcwd, Extent::kElements, 0, 1, 1},
    {SYS_getrandom, Extent::kElements, 0, 1, 1},
    {SYS_getgroups, Extent::kElements, 1, 0, sizeof(uint32_t)},
    {SYS_sched_getaffinity, Extent::kElements, 2, 1, 1},
    {SYS_getxattr, Extent::kElements, 2, 3, 1},
    {SYS_lgetxattr, Extent::kElements, 2, 3, 1},
    {SYS_fgetxattr, Extent::kElements, 2, 3, 1},
    {SYS_listxattr, Extent::kElements, 1, 2, 1},
    {SYS_flistxattr, Extent::kElements, 1, 2, 1},
};

const void* PointerOf(long argument) { return reinterpret_cast<const void*>(argument); }

void OpenVectors(const iovec* vectors, size_t count) {
  for (size_t i = 0; vectors != nullptr && i < count; ++i) {
    OpenForKernel(vectors[i].iov_base, vectors[i].iov_len);
  }
}

void OpenMessage(const msghdr* message) {
  if (message == nullptr) return;
  OpenForKernel(message, sizeof *message);
  OpenForKernel(message->msg_name, message->msg_namelen);
  OpenForKernel(message->msg_control, message->msg_controllen);
  OpenVectors(message->msg_iov, message->msg_iovlen);
}

void Open(const Written& row, const long arguments[6]) {
  const void* const place = PointerOf(arguments[row.argument]);
  const auto count = static_cast<size_t>(std::max(arguments[row.count], 0L));
  switch (row.extent) {
    case Extent::kNothing:
      break;
    case Extent::kElements:
      OpenForKernel(place, count * row.unit);
      break;
    case Extent::kValueSize: {
      const auto* const size = static_cast<const socklen_t*>(PointerOf(arguments[row.count]));
      if (size == nullptr) break;
      OpenForKernel(size, sizeof *size);
      OpenForKernel(place, *size);
      break;
    }
    case Extent::kVectors:
      OpenVectors(static_cast<const iovec*>(place), count);
      break;
    case Extent::kMessage:
      OpenMessage(static_cast<const msghdr*>(place));
      break;
    case Extent::kMessages:
      OpenForKernel(place, count * sizeof(mmsghdr));
      for (size_t i = 0; place != nullptr && i < count; ++i) {
        OpenMessage(&static_cast<const mmsghdr*>(place)[i].msg_hdr);
      }
      break;
    case Extent::kSets:
      for (int set = 1; set <= 3; ++set) {
        OpenForKernel(PointerOf(arguments[set]), (count + 63) / 64 * 8);
      }
      OpenForKernel(PointerOf(arguments[4]), sizeof(timespec));
      break;
  }
}

// ---- What is waited for

bool OthersExist() {
  for (uint32_t id = 0; id < g_scheduler.thread_limit(); ++id) {
    const Thread& t = g_scheduler.ThreadById(static_cast<ThreadId>(id));
    if (&t != &g_scheduler.current() && t.exists && t.status == ThreadStatus::kRunnable) {
      return true;
    }
  }
  return false;
}

bool NothingReady(long descriptor, short events) {
  pollfd entry = {static_cast<int>(descriptor), events, 0};
  return Real().poll(&entry, 1, 0) == 0;
}

bool Blocks(long descriptor, short events) {
  const int flags = fcntl(static_cast<int>(descriptor), F_GETFL);
  return flags >= 0 && (flags & O_NONBLOCK) == 0 && NothingReady(descriptor, events);
}
bool BlocksReading(long descriptor, long flags = 0) {
  return (flags & MSG_DONTWAIT) == 0 && Blocks(descriptor, POLLIN);
}
// Standard output and error go to other processes, which take what there is in their own time.
bool BlocksWriting(long descriptor, long flags = 0) {
  return descriptor > STDERR_FILENO && (flags & MSG_DONTWAIT) == 0 && Blocks(descriptor, POLLOUT);
}

bool BlocksPolling(long files, long count) {
  const auto* const first = static_cast<const pollfd*>(PointerOf(files));
  std::vector<pollfd> copy(first, first + count);
  return Real().poll(copy.data(), copy.size(), 0) == 0;
}

bool BlocksSelecting(const long arguments[6]) {
  const auto bits = static_cast<size_t>(std::max(arguments[0], 0L));
  if (bits > FD_SETSIZE) return false;
  fd_set copies[3];
  fd_set* sets[3] = {};
  for (int i = 0; i < 3; ++i) {
    if (arguments[i + 1] == 0) continue;
    FD_ZERO(&copies[i]);
    memcpy(&copies[i], PointerOf(arguments[i + 1]), (bits + 63) / 64 * 8);
    sets[i] = &copies[i];
  }
  timeval at_once = {};
  return Real().select(static_cast<int>(bits), sets[0], sets[1], sets[2], &at_once) == 0;
}

bool IsZero(long time) {
  const auto* const interval = static_cast<const timespec*>(PointerOf(time));
  return interval != nullptr && interval->tv_sec == 0 && interval->tv_nsec == 0;
}

bool BlocksForLock(const long arguments[6]) {
  const int command = static_cast<int>(arguments[1]) & ~(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
  if (command != FUTEX_WAIT && command != FUTEX_WAIT_BITSET) return false;
  return *static_cast<const volatile uint32_t*>(PointerOf(arguments[0])) ==
         static_cast<uint32_t>(arguments[2]);
}

// The name of the call if it would wait.
const char* Waits(long number, const long* a) {
  const auto named = [](const char* name, bool waits) { return waits ? name : nullptr; };
  switch (number) {
    case SYS_read:
      return named("read", BlocksReading(a[0]));
    case SYS_readv:
      return named("readv", BlocksReading(a[0]));
    case SYS_recvfrom:
      return named("recv", BlocksReading(a[0], a[3]));
    case SYS_recvmsg:
      return named("recvmsg", BlocksReading(a[0], a[2]));
    case SYS_recvmmsg:
      return named("recvmmsg", BlocksReading(a[0], a[3]));
    case SYS_accept:
    case SYS_accept4:
      return named("accept", BlocksReading(a[0]));
    case SYS_write:
      return named("write", BlocksWriting(a[0]));
    case SYS_writev:
      return named("writev", BlocksWriting(a[0]));
    case SYS_sendto:
      return named("send", BlocksWriting(a[0], a[3]));
    case SYS_sendmsg:
      return named("sendmsg", BlocksWriting(a[0], a[2]));
    case SYS_poll:
      return named("poll", static_cast<int>(a[2]) != 0 && BlocksPolling(a[0], a[1]));
    case SYS_ppoll:
      return named("ppoll", !IsZero(a[2]) && BlocksPolling(a[0], a[1]));
    case SYS_select:  // a timeval is zero if a timespec there is
      return named("select", !IsZero(a[4]) && BlocksSelecting(a));
    case SYS_pselect6:
      return named("pselect", !IsZero(a[4]) && BlocksSelecting(a));
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
      return named("epoll_wait", static_cast<int>(a[3]) != 0 && NothingReady(a[0], POLLIN));
    case SYS_rt_sigsuspend:
      return named("sigsuspend", true);
    case SYS_pause:
      return named("pause", true);
    case SYS_futex:
      return named("a lock of the C library", BlocksForLock(a));
    default:
      return nullptr;
  }
}

}  // namespace

void OpenForKernel(const void* address, size_t size) {
  if (address == nullptr) return;
  g_scheduler.snapshot().PrepareForKernelWrite(reinterpret_cast<uintptr_t>(address), size);
  g_scheduler.BeforeWriteToOtherStack(reinterpret_cast<uintptr_t>(address), size);
}

void OpenWhatKernelWrites(long number, const long arguments[6]) {
  bool known = false;
  for (const Written& row : kWritten) {
    if (row.number != number) continue;
    known = true;
    Open(row, arguments);
  }
  if (known) return;
  for (int i = 0; i < 6; ++i) OpenForKernel(PointerOf(arguments[i]), kPageBytes);
}

const char* WaitsForOthers(long number, const long arguments[6]) {
  if (!OthersExist()) return nullptr;
  const int saved_errno = errno;
  const char* const name = Waits(number, arguments);
  errno = saved_errno;
  return name;
}

const char* RefusedSystemCall(long number) {
  switch (number) {
    case SYS_clone:
    case SYS_clone3:
    case SYS_fork:
    case SYS_vfork:
      return "the system call clone";
    case SYS_execve:
    case SYS_execveat:
      return "exec: another program in place of this one";
    case SYS_signalfd:
    case SYS_signalfd4:
      return "signalfd";  // signals that the program sends are not the kernel's
    default:
      return nullptr;
  }
}

void BeforeSystemCallOf(long number, const long arguments[6]) {
  g_system_call_made = true;
  long unused;
  NoteSystemCall(number, arguments, &unused);
  OpenWhatKernelWrites(number, arguments);
  if (const char* const name = WaitsForOthers(number, arguments)) {
    Unsupported(std::string(name) + " that waits for another thread or process");
  }
}

}  // namespace mc::sched
