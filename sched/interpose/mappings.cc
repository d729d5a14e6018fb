#include "sched/interpose/mappings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sched/interpose/kernel_arguments.h"
#include "sched/interpose/kernel_call.h"
#include "sched/interpose/kernel_state.h"
#include "sched/interpose/shared_mappings.h"
#include "sched/kernel_state.h"
#include "sched/scheduler.h"

namespace mc::sched {
namespace {

constexpr uintptr_t kPage = 4096;
constexpr uintptr_t kHugePage = uintptr_t{2} << 20;

// Clear of the heap (heap_layout.h), of stacks (fiber.h), of AddressSanitizer's allocator and of
// where the kernel puts things. The first threads get more than the many.
constexpr uintptr_t kRegionsBase = 0x640000000000;
constexpr uintptr_t kLargeRegion = uintptr_t{32} << 30;
constexpr uintptr_t kSmallRegion = uintptr_t{1} << 30;
constexpr uintptr_t kLargeRegions = 256;
static_assert(kRegionsBase + kLargeRegions * kLargeRegion +
                  (kMaxThreads - kLargeRegions) * kSmallRegion <
              kFiberStackBase);

uintptr_t RegionBegin(uint32_t thread) {
  if (thread < kLargeRegions) return kRegionsBase + thread * kLargeRegion;
  return kRegionsBase + kLargeRegions * kLargeRegion + (thread - kLargeRegions) * kSmallRegion;
}

struct Range {
  uintptr_t begin = 0, end = 0;
  uintptr_t size() const { return end - begin; }
  bool Contains(uintptr_t address) const { return begin <= address && address < end; }
};

Range PagesOf(long address, long size) {
  const auto begin = static_cast<uintptr_t>(address);
  return {begin & ~(kPage - 1), (begin + static_cast<uintptr_t>(size) + kPage - 1) & ~(kPage - 1)};
}

struct Who {
  ThreadId thread = kNoThread;
  uint64_t pc = 0;
};

struct Mapping {
  Range range;
  Range whole;  // as it was made
  Who made;
};

struct Unmapped {
  Mapping mapping;
  Who by;
};

struct Protection {
  Range range;
  int protection;
};

struct State {
  std::vector<Mapping> live;
  std::vector<Unmapped> gone;
  std::vector<Protection> changed;  // as it was before each change, in order
  std::vector<uintptr_t> next;      // by thread: its next place, 0: none taken yet
  long break_before = 0;            // 0: not changed
};

State& TheState() {
  static State* state = nullptr;  // for good; no guard: the program would be seen to take it
  if (state == nullptr) {
    state = new State;
    state->next.resize(kMaxThreads);
  }
  return *state;
}

bool Failed(long result) { return result < 0 && result > -static_cast<long>(kPage); }

Who Caller(uint64_t pc) { return {g_scheduler.current().id, pc}; }

// ---- What detectors and the search hear of it

void Record(Range range, uint8_t mode, uint16_t flags, uint64_t pc) {
  constexpr uintptr_t kMost = uintptr_t{1} << 31;  // of one access
  g_scheduler.Progress();
  for (uintptr_t at = range.begin; at < range.end; at += kMost) {
    MicroAccess access;
    access.begin = at;
    access.pc = pc;
    access.size = static_cast<uint32_t>(std::min(kMost, range.end - at));
    access.flags = flags;
    access.mode = mode;
    g_scheduler.Record(access);
  }
}

void Begins(Range range, uint64_t pc) {
  if (range.size() == 0) return;
  TheState().live.push_back({range, range, Caller(pc)});
  Record(range, kWrite, kAllocation, pc);
}

bool IsMapped(uintptr_t page) {
  unsigned char resident;
  return KernelCall(SYS_mincore, static_cast<long>(page), kPage, AddressOf(&resident)) == 0;
}

// What there was at the range comes to its end. To be called before it does.
void Ends(Range range, uint64_t pc) {
  if (range.size() == 0) return;
  State& state = TheState();
  Record(range, kWrite, kFree, pc);
  EndSharedMapping(range.begin, range.end);
  std::vector<Mapping> rest;
  uintptr_t known = 0;
  for (const Mapping& mapping : state.live) {
    const Range gone = {std::max(range.begin, mapping.range.begin),
                        std::min(range.end, mapping.range.end)};
    if (gone.begin >= gone.end) {
      rest.push_back(mapping);
      continue;
    }
    known += gone.size();
    const auto part = [&](Range which) { return Mapping{which, mapping.whole, mapping.made}; };
    state.gone.push_back({part(gone), Caller(pc)});
    if (mapping.range.begin < gone.begin) rest.push_back(part({mapping.range.begin, gone.begin}));
    if (gone.end < mapping.range.end) rest.push_back(part({gone.end, mapping.range.end}));
  }
  state.live = std::move(rest);
  if (known == range.size() || !IsMapped(range.begin)) return;
  // It was there before the program began.
  OpenForKernel(reinterpret_cast<const void*>(range.begin), range.size());
  NoteLastingCall("munmap of memory that was there before main");
}

// ---- Where mappings lie

// The calling thread's next place for `size` bytes; 0 if there is no room.
uintptr_t NextPlace(uintptr_t size, uintptr_t alignment) {
  const ThreadId thread = g_scheduler.current().id;
  const uintptr_t next = TheState().next[thread];
  const uintptr_t begin = RegionBegin(thread);
  const uintptr_t place = ((next == 0 ? begin : next) + alignment - 1) & ~(alignment - 1);
  const uintptr_t end = RegionBegin(thread + 1u);
  return size > end - begin || place + size + kPage > end ? 0 : place;
}

void TakePlace(Range range) {
  // A page stays free, so that running over the end is seen.
  TheState().next[g_scheduler.current().id] = range.end + kPage;
}

long Map(const long a[6], uint64_t pc) {
  const long flags = a[3];
  const auto call = [&](long address, long more_flags) {
    return KernelCall(SYS_mmap, address, a[1], a[2], flags | more_flags, a[4], a[5]);
  };
  const auto done = [&](long result) {
    if (Failed(result)) return result;
    Begins(PagesOf(result, a[1]), pc);
    BeginSharedMapping(static_cast<uintptr_t>(result), a);
    return result;
  };
  if ((flags & MAP_FIXED) != 0 && (flags & MAP_FIXED_NOREPLACE) != MAP_FIXED_NOREPLACE) {
    Ends(PagesOf(a[0], a[1]), pc);
    return done(call(a[0], 0));
  }
  if (a[0] != 0 || (flags & (MAP_32BIT | MAP_GROWSDOWN)) != 0) return done(call(a[0], 0));
  const bool huge = (flags & MAP_HUGETLB) != 0;
  const Range wanted = PagesOf(0, a[1]);
  const uintptr_t place = NextPlace(wanted.size(), huge ? kHugePage : kPage);
  if (place == 0) return done(call(0, 0));
  const long result = call(static_cast<long>(place), MAP_FIXED_NOREPLACE);
  if (result == -EEXIST) return done(call(0, 0));
  if (!Failed(result)) TakePlace({place, place + wanted.size()});
  return done(result);
}

long Unmap(const long a[6], uint64_t pc) {
  if (a[0] % static_cast<long>(kPage) != 0 || a[1] <= 0) return -EINVAL;
  Ends(PagesOf(a[0], a[1]), pc);
  return KernelCall(SYS_munmap, a[0], a[1]);
}

long Remap(const long a[6], uint64_t pc) {
  const Range old = PagesOf(a[0], a[1]);
  const auto new_size = PagesOf(0, a[2]).size();
  long flags = a[3], place = a[4];
  const bool may_move = (flags & MREMAP_MAYMOVE) != 0;
  if ((flags & MREMAP_FIXED) != 0) {
    Ends(PagesOf(a[4], a[2]), pc);
  } else if (may_move && new_size > old.size()) {
    // Whether there is room to grow depends on others; so it always moves.
    place = static_cast<long>(NextPlace(new_size, kPage));
    if (place != 0) flags |= MREMAP_FIXED;
  }
  const long result = KernelCall(SYS_mremap, a[0], a[1], a[2], flags, place);
  if (Failed(result)) return result;
  const Range now = PagesOf(result, a[2]);
  MoveSharedMapping(old.begin, old.size(), now.begin, now.size());
  if (now.begin == old.begin) {
    if (new_size < old.size()) Ends({now.end, old.end}, pc);
    if (new_size > old.size()) Begins({old.end, now.end}, pc);
    return result;
  }
  if ((a[3] & MREMAP_FIXED) == 0 && (flags & MREMAP_FIXED) != 0) TakePlace(now);
  Record({old.begin, std::min(old.end, old.begin + new_size)}, kRead, 0, pc);
  if ((flags & MREMAP_DONTUNMAP) == 0) Ends(old, pc);
  Begins(now, pc);
  return result;
}

// ---- What may be done to memory that was there before

// Adds to `out` how the parts of the range that are mapped may be accessed.
void AddProtections(Range range, std::vector<Protection>* out) {
  const long file = KernelCall(SYS_open, AddressOf("/proc/self/maps"), O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  std::string text;
  char part[4096];
  for (long n; (n = KernelCall(SYS_read, file, AddressOf(part), sizeof part)) > 0;) {
    text.append(part, static_cast<size_t>(n));
  }
  KernelCall(SYS_close, file);
  for (size_t line = 0; line < text.size(); line = text.find('\n', line) + 1) {
    char* at = text.data() + line;  // BEGIN-END rwxp ...
    const uintptr_t begin = strtoull(at, &at, 16);
    const uintptr_t end = strtoull(at + 1, &at, 16);
    const Range both = {std::max(begin, range.begin), std::min(end, range.end)};
    if (both.begin >= both.end) continue;
    const int protection = (at[1] == 'r' ? PROT_READ : 0) | (at[2] == 'w' ? PROT_WRITE : 0) |
                           (at[3] == 'x' ? PROT_EXEC : 0);
    out->push_back({both, protection});
  }
}

bool IsWithinLive(Range range) {
  return std::any_of(TheState().live.begin(), TheState().live.end(), [&](const Mapping& mapping) {
    return mapping.range.begin <= range.begin && range.end <= mapping.range.end;
  });
}

long Protect(const long a[6], uint64_t pc) {
  const Range range = PagesOf(a[0], a[1]);
  // The snapshot no longer learns of a first write by itself.
  OpenForKernel(reinterpret_cast<const void*>(range.begin), range.size());
  if (!IsWithinLive(range)) AddProtections(range, &TheState().changed);
  Record(range, kWrite, kObjectBytes, pc);
  return KernelCall(SYS_mprotect, a[0], a[1], a[2]);
}

long Advise(const long a[6], uint64_t pc) {
  if (a[2] == MADV_DONTNEED || a[2] == MADV_FREE || a[2] == MADV_REMOVE) {
    const Range range = PagesOf(a[0], a[1]);
    OpenForKernel(reinterpret_cast<const void*>(range.begin), range.size());
    Record(range, kWrite, 0, pc);
  }
  return KernelCall(SYS_madvise, a[0], a[1], a[2]);
}

long Break(const long a[6]) {
  State& state = TheState();
  if (a[0] != 0 && state.break_before == 0) state.break_before = KernelCall(SYS_brk);
  return KernelCall(SYS_brk, a[0]);
}

std::string Told(const char* what, const Who& who) {
  std::string text = std::string(what) + " by T" + std::to_string(who.thread);
  if (who.pc != 0) text += " at " + CodeAddress(who.pc);
  return text;
}

std::string Told(const Mapping& mapping) {
  return "mapping of " + std::to_string(mapping.whole.size()) + " bytes at " +
         Hex(mapping.whole.begin) + ", " + Told("made", mapping.made);
}

}  // namespace

bool IsMappingCall(long number) {
  return number == SYS_mmap || number == SYS_munmap || number == SYS_mremap ||
         number == SYS_mprotect || number == SYS_madvise || number == SYS_brk;
}

long DoMappingCall(long number, const long arguments[6], uint64_t pc) {
  switch (number) {
    case SYS_mmap:
      return Map(arguments, pc);
    case SYS_munmap:
      return Unmap(arguments, pc);
    case SYS_mremap:
      return Remap(arguments, pc);
    case SYS_mprotect:
      return Protect(arguments, pc);
    case SYS_madvise:
      return Advise(arguments, pc);
    default:
      return Break(arguments);
  }
}

void RestoreProtections() {
  State& state = TheState();
  for (size_t i = state.changed.size(); i-- > 0;) {
    const Protection& was = state.changed[i];
    KernelCall(SYS_mprotect, static_cast<long>(was.range.begin),
               static_cast<long>(was.range.size()), was.protection);
  }
  state.changed.clear();
}

void RestoreMappings() {
  State& state = TheState();
  for (const Mapping& mapping : state.live) {
    KernelCall(SYS_munmap, static_cast<long>(mapping.range.begin),
               static_cast<long>(mapping.range.size()));
  }
  if (state.break_before != 0) KernelCall(SYS_brk, state.break_before);
  state.break_before = 0;
  std::fill(state.next.begin(), state.next.begin() + g_scheduler.thread_limit(), 0);
}

void ForgetMappings() {
  TheState().live.clear();
  TheState().gone.clear();
  ForgetSharedMappings();
}

std::string DescribeMapping(uintptr_t address) {
  for (const Mapping& mapping : TheState().live) {
    if (mapping.range.Contains(address)) return Told(mapping);
  }
  const std::vector<Unmapped>& gone = TheState().gone;
  for (size_t i = gone.size(); i-- > 0;) {
    if (!gone[i].mapping.range.Contains(address)) continue;
    return Told(gone[i].mapping) + "\n" + Told("unmapped", gone[i].by);
  }
  return "";
}

bool HasMappings() { return !TheState().live.empty(); }

void VisitMappedPages(void (*visit)(const void* copy, size_t size, void* context), void* context) {
  constexpr size_t kPages = 1024;  // looked at together
  unsigned char resident[kPages];
  alignas(8) char copy[kPage];
  for (const Mapping& mapping : TheState().live) {
    for (uintptr_t at = mapping.range.begin; at < mapping.range.end; at += kPages * kPage) {
      const uintptr_t size = std::min(kPages * kPage, mapping.range.end - at);
      if (KernelCall(SYS_mincore, static_cast<long>(at), static_cast<long>(size),
                     AddressOf(resident)) != 0) {
        continue;
      }
      for (size_t i = 0; i < size / kPage; ++i) {
        if ((resident[i] & 1) == 0) continue;
        const iovec to = {copy, kPage};
        const iovec from = {reinterpret_cast<void*>(at + i * kPage), kPage};
        // Fails where the page may not be read.
        if (KernelCall(SYS_process_vm_readv, getpid(), AddressOf(&to), 1, AddressOf(&from), 1, 0) ==
            static_cast<long>(kPage)) {
          visit(copy, kPage, context);
        }
      }
    }
  }
}

}  // namespace mc::sched
