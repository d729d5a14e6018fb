#include "sched/interpose/kernel_cells.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "sched/interpose/kernel_call.h"
#include "sched/interpose/system_call_effects.h"
#include "sched/scheduler.h"

namespace mc::sched {
namespace {

// In the top bits of a cell's object, above the numbers of SharedState.
enum class Part : uint64_t {
  kName = 1,  // object = hash of directory and last part
  kListing,   // hash of directory: which names it has
  kContent,   // hash of file: what it holds, and where its descriptors stand
  kDescriptor,
  kProcess,  // ProcessPart
  kSignals,  // of the thread with this number
};
enum ProcessPart : uint64_t {
  kNumbers,
  kWorkingDirectory,
  kMask,
  kLimit,
  kTimer,
  kPending,
  kGroup,
  kAttributes,
  kTerminals,
  kSignal = 64
};
// Contents of what has no name of its own, or one that differs from execution to execution.
constexpr uint64_t kPipes = 1, kSockets = 2, kAnonymous = 3, kNameless = 4;

constexpr int kPartShift = 52;

bool g_makes_temporary_name = false;

Cell CellOf(Part part, uint64_t object) {
  constexpr uint64_t kMost = (uint64_t{1} << kPartShift) - 1;
  return MakeCell(CellKind::kSharedState,
                  static_cast<uint64_t>(part) << kPartShift | (object & kMost));
}

void Record(Cell cell, uint8_t mode, uint16_t order = 0) {
  MicroAccess access;
  access.begin = cell;
  access.size = 1;
  access.mode = mode;
  access.flags = order;
  if (mode != kAdd) access.flags |= kValueRelevant;
  g_scheduler.Record(access);
}

uint64_t Mixed(uint64_t a, uint64_t b) {
  uint64_t h = a * 0x9e3779b97f4a7c15u + b;
  h = (h ^ (h >> 32)) * 0xd6e8feb86659fd93u;
  return h ^ (h >> 29);
}
uint64_t HashOf(const std::string& text) {
  uint64_t hash = 0;
  for (const char c : text) hash = Mixed(hash, static_cast<unsigned char>(c));
  return hash;
}

// ---- Names
//
// Of a file, its path is what is the same in every execution; numbers of inodes are not. Only the
// names that the C library makes up differ.

struct TemporaryName {
  std::string path, stands_for;
};

std::vector<TemporaryName>& TemporaryNames() {
  static std::vector<TemporaryName>* names = nullptr;  // for good
  if (names == nullptr) names = new std::vector<TemporaryName>;
  return *names;
}

// "" if it is not known, or the name differs from execution to execution.
std::string PathOf(long descriptor) {
  const std::string link = "/proc/self/fd/" + std::to_string(static_cast<int>(descriptor));
  char text[4096];
  const long size = KernelCall(SYS_readlink, AddressOf(link.c_str()), AddressOf(text), sizeof text);
  if (size <= 0) return "";
  std::string path(text, static_cast<size_t>(size));
  constexpr std::string_view kDeleted = " (deleted)";
  if (path.ends_with(kDeleted)) {
    path.resize(path.size() - kDeleted.size());
    if (path.find("/#") != std::string::npos) return "";  // made without a name
  }
  for (const TemporaryName& name : TemporaryNames()) {
    if (!path.starts_with(name.path)) continue;
    if (path.size() > name.path.size() && path[name.path.size()] != '/') continue;
    return name.stands_for + path.substr(name.path.size());
  }
  return path;
}

// The one path of a file or directory that is there, however it is named; "" if it is not there.
std::string CanonicalPath(long directory, const std::string& path) {
  const char* const name = path.empty() ? "." : path.c_str();
  const long file = KernelCall(SYS_openat, directory, AddressOf(name), O_PATH | O_CLOEXEC);
  if (file < 0) return "";
  std::string text = PathOf(file);
  KernelCall(SYS_close, file);
  return text;
}

// What stands for the last part of a path.
std::string StableName(const std::string& directory, const std::string& name) {
  const std::string path = directory + "/" + name;
  for (const TemporaryName& one : TemporaryNames()) {
    if (one.path == path) return one.stands_for;
  }
  return path;
}

// Each part of the path is looked up; `mode` is what becomes of the last. With `lists`, the
// directory it is in gets or loses it.
void RecordPath(long directory, long text, uint8_t mode, bool lists) {
  if (text == 0 || g_makes_temporary_name) return;
  const std::string path = reinterpret_cast<const char*>(text);
  if (path.empty()) return;
  if (path[0] != '/' && static_cast<int>(directory) == AT_FDCWD) {
    Record(CellOf(Part::kProcess, kWorkingDirectory), kRead);
  }
  size_t end = path.size();
  while (end > 1 && path[end - 1] == '/') --end;
  for (size_t begin = 0; begin < end;) {
    if (path[begin] == '/') {
      ++begin;
      continue;
    }
    const size_t stop = std::min(path.find('/', begin), end);
    const std::string place = CanonicalPath(directory, path.substr(0, begin));
    if (place.empty()) return;
    const bool is_last = stop == end;
    const std::string name = StableName(place, path.substr(begin, stop - begin));
    Record(CellOf(Part::kName, HashOf(name)), is_last ? mode : uint8_t{kRead});
    if (is_last && lists) Record(CellOf(Part::kListing, HashOf(place)), kAdd);
    begin = stop;
  }
}

void RecordContentOf(long directory, long text, uint8_t mode) {
  if (text == 0 || g_makes_temporary_name) return;
  const std::string path = CanonicalPath(directory, reinterpret_cast<const char*>(text));
  if (!path.empty()) Record(CellOf(Part::kContent, HashOf(path)), mode);
}

struct PathRow {
  uint16_t number;
  int8_t directory;  // argument; -1: the working directory
  uint8_t path;
  uint8_t mode;  // of the name
  bool lists;
  uint8_t content;  // mode of what the file holds; 0: none
};

constexpr PathRow kPaths[] = {
    {SYS_stat, -1, 0, kRead, false, kRead},
    {SYS_lstat, -1, 0, kRead, false, kRead},
    {SYS_newfstatat, 0, 1, kRead, false, kRead},
    {SYS_statx, 0, 1, kRead, false, kRead},
    {SYS_access, -1, 0, kRead, false, kRead},
    {SYS_faccessat, 0, 1, kRead, false, kRead},
    {SYS_faccessat2, 0, 1, kRead, false, kRead},
    {SYS_readlink, -1, 0, kRead, false, 0},
    {SYS_readlinkat, 0, 1, kRead, false, 0},
    {SYS_chdir, -1, 0, kRead, false, 0},
    {SYS_truncate, -1, 0, kRead, false, kReadWrite},
    {SYS_chmod, -1, 0, kRead, false, kReadWrite},
    {SYS_fchmodat, 0, 1, kRead, false, kReadWrite},
    {SYS_chown, -1, 0, kRead, false, kReadWrite},
    {SYS_utimensat, 0, 1, kRead, false, kReadWrite},
    {SYS_creat, -1, 0, kReadWrite, true, kReadWrite},
    {SYS_unlink, -1, 0, kReadWrite, true, kReadWrite},
    {SYS_unlinkat, 0, 1, kReadWrite, true, kReadWrite},
    {SYS_rmdir, -1, 0, kReadWrite, true, 0},
    {SYS_mkdir, -1, 0, kReadWrite, true, 0},
    {SYS_mkdirat, 0, 1, kReadWrite, true, 0},
    {SYS_mknod, -1, 0, kReadWrite, true, 0},
    {SYS_mknodat, 0, 1, kReadWrite, true, 0},
    {SYS_rename, -1, 0, kReadWrite, true, kReadWrite},
    {SYS_rename, -1, 1, kReadWrite, true, kReadWrite},
    {SYS_renameat, 0, 1, kReadWrite, true, kReadWrite},
    {SYS_renameat, 2, 3, kReadWrite, true, kReadWrite},
    {SYS_renameat2, 0, 1, kReadWrite, true, kReadWrite},
    {SYS_renameat2, 2, 3, kReadWrite, true, kReadWrite},
    {SYS_link, -1, 0, kRead, false, kReadWrite},
    {SYS_link, -1, 1, kReadWrite, true, 0},
    {SYS_linkat, 0, 1, kRead, false, kReadWrite},
    {SYS_linkat, 2, 3, kReadWrite, true, 0},
    {SYS_symlink, -1, 1, kReadWrite, true, 0},
    {SYS_symlinkat, 1, 2, kReadWrite, true, 0},
};

void RecordOpen(long directory, long path, long flags) {
  const bool makes = (flags & O_CREAT) != 0;
  RecordPath(directory, path, makes ? kReadWrite : kRead, makes);
  if ((flags & O_TRUNC) != 0) RecordContentOf(directory, path, kReadWrite);
}

bool RecordNames(long number, const long a[6]) {
  if (number == SYS_open) RecordOpen(AT_FDCWD, a[0], a[1]);
  if (number == SYS_openat) RecordOpen(a[0], a[1], a[2]);
  bool found = false;
  for (const PathRow& row : kPaths) {
    if (row.number != number) continue;
    found = true;
    const long directory = row.directory < 0 ? AT_FDCWD : a[row.directory];
    RecordPath(directory, a[row.path], row.mode, row.lists);
    if (row.content != 0) RecordContentOf(directory, a[row.path], row.content);
  }
  return found;
}

// ---- Open files

void RecordContent(long descriptor, uint8_t mode) {
  const int file = static_cast<int>(descriptor);
  struct stat status;
  if (KernelCall(SYS_fstat, file, AddressOf(&status)) != 0) return;
  const mode_t kind = status.st_mode & S_IFMT;
  if (kind == S_IFCHR || kind == S_IFBLK) return;
  if (kind == S_IFREG || kind == S_IFDIR) {
    const std::string path = PathOf(file);
    Record(CellOf(Part::kContent, path.empty() ? uint64_t{kNameless} : HashOf(path)), mode);
    if (kind == S_IFDIR) Record(CellOf(Part::kListing, HashOf(path)), kRead);
    return;
  }
  // What comes out was put in before: that orders memory as well.
  const uint64_t object = kind == S_IFIFO ? kPipes : kind == S_IFSOCK ? kSockets : kAnonymous;
  Record(CellOf(Part::kContent, object), mode, kAcquire | kRelease);
}

// What the call does to the open file that its first argument names; 0 if that is none.
uint8_t ModeOfFile(long number) {
  switch (number) {
    case SYS_fstat:
    case SYS_pread64:
    case SYS_preadv:
      return kRead;
    case SYS_read:
    case SYS_readv:
    case SYS_write:
    case SYS_writev:
    case SYS_pwrite64:
    case SYS_pwritev:
    case SYS_pwritev2:
    case SYS_preadv2:
    case SYS_lseek:
    case SYS_getdents64:
    case SYS_ftruncate:
    case SYS_fallocate:
    case SYS_fchmod:
    case SYS_fchown:
    case SYS_flock:
    case SYS_fcntl:
    case SYS_ioctl:
    case SYS_close:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_sendmmsg:
    case SYS_accept:
    case SYS_accept4:
    case SYS_connect:
    case SYS_bind:
    case SYS_listen:
    case SYS_shutdown:
    case SYS_getsockopt:
    case SYS_setsockopt:
    case SYS_epoll_ctl:
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case SYS_timerfd_settime:
    case SYS_timerfd_gettime:
      return kReadWrite;
    default:
      return 0;
  }
}

void RecordPolled(const long a[6]) {
  const auto* const files = reinterpret_cast<const pollfd*>(a[0]);
  for (long i = 0; files != nullptr && i < a[1]; ++i) {
    if (files[i].fd >= 0) RecordContent(files[i].fd, kRead);
  }
}

void RecordSelected(const long a[6]) {
  for (int set = 1; set <= 3; ++set) {
    const auto* const files = reinterpret_cast<const fd_set*>(a[set]);
    for (int i = 0; files != nullptr && i < a[0] && i < FD_SETSIZE; ++i) {
      if (FD_ISSET(i, files)) RecordContent(i, kRead);
    }
  }
}

void RecordFiles(long number, const long a[6]) {
  if (number == SYS_poll || number == SYS_ppoll) RecordPolled(a);
  if (number == SYS_select || number == SYS_pselect6) RecordSelected(a);
  if (number == SYS_sendfile || number == SYS_splice || number == SYS_copy_file_range) {
    RecordContent(a[0], kReadWrite);
    RecordContent(a[number == SYS_sendfile ? 1 : 2], kReadWrite);
  }
  if (number == SYS_dup2 || number == SYS_dup3) {
    Record(CellOf(Part::kDescriptor, static_cast<uint64_t>(a[1])), kReadWrite);
    RecordContent(a[1], kReadWrite);  // the last descriptor of a pipe's end tells its other end
  }
  const uint8_t mode = ModeOfFile(number);
  if (mode == 0) return;
  const uint8_t of_number = number == SYS_close ? kReadWrite : kRead;
  Record(CellOf(Part::kDescriptor, static_cast<uint64_t>(a[0])), of_number);
  RecordContent(a[0], mode);
}

// Does the call make a file, with the rights that the umask leaves?
bool MakesFile(long number, const long a[6]) {
  switch (number) {
    case SYS_open:
      return (a[1] & O_CREAT) != 0;
    case SYS_openat:
      return (a[2] & O_CREAT) != 0;
    case SYS_creat:
    case SYS_mkdir:
    case SYS_mkdirat:
    case SYS_mknod:
    case SYS_mknodat:
    case SYS_mq_open:
    case SYS_bind:
      return true;
    default:
      return false;
  }
}

void RecordOfProcess(long number, const long a[6], uint32_t effects) {
  const auto record = [](uint64_t part, uint8_t mode) {
    Record(CellOf(Part::kProcess, part), mode);
  };
  if ((effects & (kOpens | kCloses)) != 0) record(kNumbers, kReadWrite);
  if ((effects & kDirectory) != 0) record(kWorkingDirectory, kReadWrite);
  if ((effects & kFileMask) != 0) record(kMask, kReadWrite);
  if ((effects & kLimits) != 0) {
    const bool only_asks = number == SYS_prlimit64 && a[2] == 0;
    record(kLimit, only_asks ? kRead : kReadWrite);
  }
  if ((effects & kTimers) != 0) record(kTimer, kReadWrite);
  if ((effects & kHandles) != 0) {
    record(kSignal + static_cast<uint64_t>(a[0]), a[1] == 0 ? kRead : kReadWrite);
  }
  if (MakesFile(number, a)) record(kMask, kRead);
  if (number == SYS_getcwd) record(kWorkingDirectory, kRead);
  if (number == SYS_getrlimit) record(kLimit, kRead);
  if (number == SYS_getitimer) record(kTimer, kRead);
  if (number == SYS_setpgid || number == SYS_setsid) record(kGroup, kReadWrite);
  if (number == SYS_getpgrp || number == SYS_getpgid || number == SYS_getsid) record(kGroup, kRead);
  if (number == SYS_prctl) {
    if (SetsAttribute(a[0])) record(kAttributes, kReadWrite);
    if (AsksForAttribute(a[0])) record(kAttributes, kRead);
  }
  // How a terminal behaves. Output asks whether it goes to one.
  if (number == SYS_ioctl && a[1] == TCGETS) record(kTerminals, kRead);
  if (number == SYS_ioctl && (a[1] == TCSETS || a[1] == TCSETSW || a[1] == TCSETSF)) {
    record(kTerminals, kReadWrite);
  }
}

}  // namespace

void BeginTemporaryName() { g_makes_temporary_name = true; }

void EndTemporaryName(const char* path) {
  g_makes_temporary_name = false;
  if (path == nullptr) return;
  const std::string text = path;
  const size_t last = text.rfind('/');
  const std::string directory =
      CanonicalPath(AT_FDCWD, last == std::string::npos ? "" : text.substr(0, last + 1));
  Thread& thread = g_scheduler.current();
  const std::string name = text.substr(last == std::string::npos ? 0 : last + 1);
  TemporaryNames().push_back(
      {directory + "/" + name,
       "temporary " + std::to_string(thread.id) + "." + std::to_string(thread.random_draws++)});
}

void ForgetTemporaryNames() { TemporaryNames().clear(); }

Cell SignalActionCell(int number) {
  return CellOf(Part::kProcess, kSignal + static_cast<uint64_t>(number));
}
Cell ThreadSignalsCell(uint32_t thread) { return CellOf(Part::kSignals, thread); }
Cell ProcessSignalsCell() { return CellOf(Part::kProcess, kPending); }

void RecordKernelCells(long number, const long arguments[6], uint32_t effects) {
  // Nobody sees again what is written there.
  const bool is_output = number == SYS_write || number == SYS_writev;
  if (is_output && effects == 0) return;
  // The spin rule does not know what the kernel keeps; the next call may well do something else.
  g_scheduler.Progress();
  if (!g_scheduler.recording()) return;
  if (!RecordNames(number, arguments)) RecordFiles(number, arguments);
  RecordOfProcess(number, arguments, effects);
}

}  // namespace mc::sched
