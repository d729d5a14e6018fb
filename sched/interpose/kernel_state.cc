#include "sched/interpose/kernel_state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <string>
#include <vector>

#include "sched/interpose/kernel_arguments.h"
#include "sched/interpose/kernel_call.h"
#include "sched/interpose/kernel_cells.h"
#include "sched/interpose/mappings.h"
#include "sched/interpose/program_signals.h"
#include "sched/interpose/shared_mappings.h"
#include "sched/interpose/shared_state.h"
#include "sched/interpose/system_call_effects.h"
#include "sched/kernel_state.h"
#include "sched/other_processes.h"
#include "sched/scheduler.h"
#include "sched/system_call_watch.h"

namespace mc::sched {

uint32_t g_kernel_effects = 0;

namespace {

constexpr int kPreferredOwn = 900;  // where the engine's descriptors lie, out of the program's way
constexpr int kLeastOwn = 100;

// An open file of the program's as it was before main.
struct Descriptor {
  int number;
  bool seekable;  // and not standard output or error, which others write to as well
  long position;
  int file_flags;
  int copy = -1;  // a duplicate, once the program has closed it or put another in its place
  int descriptor_flags = 0;
};

// Kept here only: the kernel knows the engine's (signal_frame.h).
struct SignalStack {
  ThreadId thread;
  stack_t stack;
};

// Set by an option of prctl.
struct Attribute {
  long option, value;
};

struct State {
  std::vector<Descriptor> before;  // by number
  std::vector<int> own;            // descriptors that the engine made
  int directory = -1;              // as it was; -1: not changed
  int file_mask = -1;
  long group = -1;                    // of processes
  std::vector<Attribute> attributes;  // that were changed
  uint32_t changed_limits = 0;        // bit n: resource n
  rlimit limits[RLIM_NLIMITS];
  std::vector<SignalStack> signal_stacks;
  std::vector<std::string> lasting;
};

State& TheState() {
  static State* state = nullptr;  // for good; no guard: the program would be seen to take it
  if (state == nullptr) state = new State;
  return *state;
}

// ---- Descriptors

// The same open file under a number of the engine's own; -1 if there is none left.
int Duplicate(int descriptor) {
  int copy = -1;
  for (const int least : {kPreferredOwn, kLeastOwn}) {
    copy = static_cast<int>(KernelCall(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, least));
    if (copy >= 0) break;
  }
  if (copy >= 0) TheState().own.push_back(copy);
  return copy;
}

void SaveDescriptor(int number) {
  const long flags = KernelCall(SYS_fcntl, number, F_GETFL);
  if (flags < 0) return;
  Descriptor one = {number, false, 0, static_cast<int>(flags)};
  one.position = KernelCall(SYS_lseek, number, 0, SEEK_CUR);
  one.seekable = one.position >= 0 && number != STDOUT_FILENO && number != STDERR_FILENO;
  TheState().before.push_back(one);
}

void SaveDescriptors() {
  DIR* const list = opendir("/proc/self/fd");
  if (list == nullptr) {
    for (int number = 0; number < 4096; ++number) SaveDescriptor(number);
    return;
  }
  while (const dirent* entry = readdir(list)) {
    if (entry->d_name[0] == '.') continue;
    const int number = atoi(entry->d_name);
    if (number != dirfd(list)) SaveDescriptor(number);
  }
  closedir(list);
}

// To be called before [first, last] are closed, or others put in their place.
void KeepDescriptors(long first, long last) {
  for (Descriptor& one : TheState().before) {
    if (one.number < first || one.number > last || one.copy >= 0) continue;
    one.descriptor_flags = static_cast<int>(KernelCall(SYS_fcntl, one.number, F_GETFD));
    if (one.descriptor_flags >= 0) one.copy = Duplicate(one.number);
  }
}

void CloseRange(int first, unsigned last) {
  if (first >= 0 && static_cast<unsigned>(first) > last) return;
  if (KernelCall(SYS_close_range, first, static_cast<long>(last), 0) != -ENOSYS) return;
  const unsigned most = 1 << 16;
  for (unsigned number = static_cast<unsigned>(first); number <= std::min(last, most); ++number) {
    KernelCall(SYS_close, number);
  }
}

void CloseWhatWasOpened() {
  const State& state = TheState();
  std::vector<int> kept;
  for (const Descriptor& one : state.before) kept.push_back(one.number);
  kept.insert(kept.end(), state.own.begin(), state.own.end());
  std::sort(kept.begin(), kept.end());
  int first = 0;
  for (const int number : kept) {
    if (number > first) CloseRange(first, static_cast<unsigned>(number) - 1);
    first = number + 1;
  }
  CloseRange(first, UINT_MAX);
}

void PutBackWhatWasClosed() {
  for (Descriptor& one : TheState().before) {
    if (one.copy < 0) continue;
    const long flags = (one.descriptor_flags & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0;
    KernelCall(SYS_dup3, one.copy, one.number, flags);
    CloseOwnDescriptor(one.copy);
    one.copy = -1;
  }
}

void PutBackPositions() {
  for (const Descriptor& one : TheState().before) {
    if (KernelCall(SYS_fcntl, one.number, F_GETFL) != one.file_flags) {
      KernelCall(SYS_fcntl, one.number, F_SETFL, one.file_flags);
    }
    if (one.seekable) KernelCall(SYS_lseek, one.number, one.position, SEEK_SET);
  }
}

// ---- What belongs to the process

void KeepDirectory() {
  State& state = TheState();
  if (state.directory >= 0) return;
  const long here = KernelCall(SYS_open, AddressOf("."), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (here < 0) return;
  state.directory = Duplicate(static_cast<int>(here));
  KernelCall(SYS_close, here);
}

void PutBackDirectory() {
  State& state = TheState();
  if (state.directory < 0) return;
  KernelCall(SYS_fchdir, state.directory);
  CloseOwnDescriptor(state.directory);
  state.directory = -1;
}

void KeepLimit(long number, const long arguments[6]) {
  if (number == SYS_prlimit64 && arguments[2] == 0) return;
  const long resource = arguments[number == SYS_prlimit64 ? 1 : 0];
  if (resource < 0 || resource >= RLIM_NLIMITS) return;
  State& state = TheState();
  if ((state.changed_limits >> resource & 1) != 0) return;
  KernelCall(SYS_getrlimit, resource, AddressOf(&state.limits[resource]));
  state.changed_limits |= 1u << resource;
}

void PutBackLimits() {
  State& state = TheState();
  for (int resource = 0; resource < static_cast<int>(RLIM_NLIMITS); ++resource) {
    if ((state.changed_limits >> resource & 1) == 0) continue;
    rlimit limit = state.limits[resource];
    if (KernelCall(SYS_setrlimit, resource, AddressOf(&limit)) == 0) continue;
    NoteLastingCall("setrlimit");  // who lowered the hard limit cannot raise it
  }
  state.changed_limits = 0;
}

long ValueOfAttribute(long option) {
  int value = 0;
  const long result = KernelCall(SYS_prctl, option, AddressOf(&value));
  return option == PR_GET_CHILD_SUBREAPER ? value : result;
}
void KeepAttribute(long option) {
  std::vector<Attribute>& kept = TheState().attributes;
  if (std::any_of(kept.begin(), kept.end(), [=](auto& one) { return one.option == option; }))
    return;
  kept.push_back({option, ValueOfAttribute(AskingOption(option))});
}
void PutBackAttributes() {
  for (const Attribute& one : TheState().attributes) {
    if (KernelCall(SYS_prctl, one.option, one.value) != 0) NoteLastingCall("prctl");
  }
  TheState().attributes.clear();
}

void KeepGroup() {
  if (TheState().group < 0) TheState().group = KernelCall(SYS_getpgid);
}
void PutBackGroup() {
  State& state = TheState();
  if (state.group < 0) return;
  if (KernelCall(SYS_setpgid, 0, state.group) != 0) NoteLastingCall("setpgid");
  state.group = -1;
}

stack_t& SignalStackOf(ThreadId thread) {
  std::vector<SignalStack>& stacks = TheState().signal_stacks;
  for (SignalStack& one : stacks) {
    if (one.thread == thread) return one.stack;
  }
  stacks.push_back({thread, {nullptr, SS_DISABLE, 0}});
  return stacks.back().stack;
}

// sigaltstack, but for running on it.
long ChangeSignalStack(const long arguments[6]) {
  stack_t& stack = SignalStackOf(g_scheduler.current().id);
  const stack_t before = stack;
  if (arguments[0] != 0) {
    stack_t wanted;
    memcpy(&wanted, reinterpret_cast<const void*>(arguments[0]), sizeof wanted);
    const bool disabled = (wanted.ss_flags & SS_DISABLE) != 0;
    if (!disabled && wanted.ss_size < static_cast<size_t>(MINSIGSTKSZ)) return -ENOMEM;
    stack = disabled ? stack_t{nullptr, SS_DISABLE, 0} : wanted;
  }
  if (arguments[1] != 0) {
    OpenForKernel(reinterpret_cast<const void*>(arguments[1]), sizeof before);
    memcpy(reinterpret_cast<void*>(arguments[1]), &before, sizeof before);
  }
  return 0;
}

// PR_SET_NAME and PR_GET_NAME, which are about the calling thread: to the kernel, that is always
// main. False if it is something else.
bool ChangeThreadName(const long arguments[6]) {
  Thread& self = g_scheduler.current();
  const bool sets = arguments[0] == PR_SET_NAME;
  if (!sets && arguments[0] != PR_GET_NAME) return false;
  auto* const text = reinterpret_cast<char*>(arguments[1]);
  g_scheduler.RecordCell(ThreadPropertiesCell(self.id), sets ? kReadWrite : kRead, kValueRelevant,
                         self.system_call_pc);
  if (sets) {
    size_t length = 0;
    while (length < sizeof self.name - 1 && text[length] != 0) ++length;
    memcpy(self.name, text, length);
    self.name[length] = 0;
  } else {
    OpenForKernel(text, sizeof self.name);
    CopyThreadName(self, text);
  }
  return true;
}

// Closes what of the range is not the engine's, as the call would.
long CloseForProgram(const long arguments[6]) {
  const auto first = static_cast<unsigned>(arguments[0]);
  const auto last = static_cast<unsigned>(arguments[1]);
  if (first > last) return -EINVAL;
  std::vector<int> own = TheState().own;
  std::sort(own.begin(), own.end());
  long result = 0;
  unsigned begin = first;
  for (const int number : own) {
    const auto one = static_cast<unsigned>(number);
    if (one < begin || one > last) continue;
    if (one > begin) result = KernelCall(SYS_close_range, begin, one - 1, arguments[2]);
    begin = one + 1;
  }
  if (begin <= last) result = KernelCall(SYS_close_range, begin, last, arguments[2]);
  return result;
}

// The calls that close, or put another file in the place of one.
bool NoteClosing(long number, const long arguments[6], long* result) {
  switch (number) {
    case SYS_close:
      if (IsOwnDescriptor(arguments[0])) {
        *result = -EBADF;
        return true;
      }
      KeepDescriptors(arguments[0], arguments[0]);
      return false;
    case SYS_dup2:
    case SYS_dup3:
      if (arguments[0] == arguments[1]) return false;
      if (IsOwnDescriptor(arguments[1])) {
        *result = -EBUSY;
        return true;
      }
      KeepDescriptors(arguments[1], arguments[1]);
      return false;
    case SYS_close_range:
      KeepDescriptors(static_cast<unsigned>(arguments[0]), static_cast<unsigned>(arguments[1]));
      *result = CloseForProgram(arguments);
      return true;
    default:
      KeepDescriptors(0, INT_MAX);
      return false;
  }
}

}  // namespace

void CopyThreadName(const Thread& thread, char* name) {
  memcpy(name, thread.name, sizeof thread.name);
  if (name[0] == 0) KernelCall(SYS_prctl, PR_GET_NAME, AddressOf(name));  // the program's
}

stack_t AlternateStackOf(ThreadId thread) { return SignalStackOf(thread); }

void NoteLastingCall(const char* name) {
  std::vector<std::string>& lasting = TheState().lasting;
  const std::string text = name == nullptr ? "a system call that mc does not know" : name;
  if (lasting.size() >= 8 || std::find(lasting.begin(), lasting.end(), text) != lasting.end()) {
    return;
  }
  lasting.push_back(text);
}

bool IsOwnDescriptor(long descriptor) {
  const std::vector<int>& own = TheState().own;
  return std::find(own.begin(), own.end(), descriptor) != own.end();
}

void MakeRoomForDescriptors() {
  const int copy = Duplicate(STDIN_FILENO);
  if (copy >= 0) CloseOwnDescriptor(copy);
}

int OwnDescriptor(int descriptor, bool may_move) {
  if (!may_move) {
    TheState().own.push_back(descriptor);
    return descriptor;
  }
  const int copy = Duplicate(descriptor);
  KernelCall(SYS_close, descriptor);
  return copy;
}

void CloseOwnDescriptor(int descriptor) {
  std::vector<int>& own = TheState().own;
  own.erase(std::remove(own.begin(), own.end(), descriptor), own.end());
  KernelCall(SYS_close, descriptor);
}

bool NoteSystemCall(long number, const long arguments[6], long* result) {
  const SystemCallEffects effects = EffectsOf(number, arguments);
  RecordKernelCells(number, arguments, effects.bits);
  RecordMappedFile(number, arguments);
  if (effects.bits == 0) return false;
  g_system_call_made = true;
  g_kernel_effects |= effects.bits;
  State& state = TheState();
  if ((effects.bits & kLasting) != 0) NoteLastingCall(effects.name);
  if ((effects.bits & kDirectory) != 0) KeepDirectory();
  if ((effects.bits & kLimits) != 0) KeepLimit(number, arguments);
  if ((effects.bits & kFileMask) != 0 && state.file_mask < 0) {
    state.file_mask = static_cast<int>(KernelCall(SYS_umask, 0));
    KernelCall(SYS_umask, state.file_mask);
  }
  if (number == SYS_setpgid) KeepGroup();
  if (number == SYS_prctl && SetsAttribute(arguments[0])) KeepAttribute(arguments[0]);
  if (number == SYS_sigaltstack) {
    *result = ChangeSignalStack(arguments);
    return true;
  }
  if (number == SYS_prctl && ChangeThreadName(arguments)) {
    *result = 0;
    return true;
  }
  if (IsSignalCall(number)) {
    *result = DoSignalCall(number, arguments);
    return true;
  }
  return (effects.bits & kCloses) != 0 && NoteClosing(number, arguments, result);
}

void SaveKernelState() { SaveDescriptors(); }

void ForgetKernelEffects() {
  if ((g_kernel_effects & kMaps) != 0) RestoreMappings();
  ForgetMappings();
  ForgetTemporaryNames();
  g_kernel_effects = 0;
}

void RestoreKernelState() {
  State& state = TheState();
  const uint32_t effects = g_kernel_effects;
  if ((effects & kSignalEffects) != 0) RestoreSignalState();
  if ((effects & kSignalStack) != 0) state.signal_stacks.clear();
  if ((effects & kOpens) != 0) CloseWhatWasOpened();
  if ((effects & kCloses) != 0) PutBackWhatWasClosed();
  if ((effects & kMoves) != 0) PutBackPositions();
  if ((effects & kDirectory) != 0) PutBackDirectory();
  if ((effects & kFileMask) != 0) {
    KernelCall(SYS_umask, state.file_mask);
    state.file_mask = -1;
  }
  if ((effects & kLimits) != 0) PutBackLimits();
  if ((effects & kElse) != 0) {
    PutBackGroup();
    PutBackAttributes();
  }
}

bool HasLastingEffects() { return !TheState().lasting.empty(); }

std::string LastingSystemCalls() {
  std::string text;
  for (const std::string& name : TheState().lasting) {
    if (!text.empty()) text += ", ";
    text += name;
  }
  return text;
}

}  // namespace mc::sched
