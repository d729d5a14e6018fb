#include "sched/interpose/shared_mappings.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "sched/interpose/hook.h"
#include "sched/interpose/kernel_call.h"
#include "sched/scheduler.h"

namespace mc::sched {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kToTheEnd = ~uint64_t{0} >> 1;

// Bytes [begin, end) of a file.
struct FilePart {
  dev_t device = 0;
  ino_t number = 0;  // 0: no file
  uint64_t begin = 0, end = 0;

  bool IsFile() const { return number != 0; }
  bool Overlaps(const FilePart& other) const {
    return device == other.device && number == other.number && begin < other.end &&
           other.begin < end;
  }
};

struct SharedMapping {
  uintptr_t address;
  FilePart part;
  bool writable;

  uintptr_t end() const { return address + (part.end - part.begin); }
};

std::vector<SharedMapping>& Mappings() {
  static std::vector<SharedMapping>* mappings = nullptr;  // for good
  if (mappings == nullptr) mappings = new std::vector<SharedMapping>;
  return *mappings;
}

FilePart PartOf(const struct stat& status, uint64_t offset, uint64_t size) {
  if (!S_ISREG(status.st_mode)) return {};
  return {status.st_dev, status.st_ino, offset,
          size > kToTheEnd - offset ? kToTheEnd : offset + size};
}
FilePart PartOf(long file, uint64_t offset, uint64_t size) {
  struct stat status;
  if (KernelCall(SYS_fstat, file, AddressOf(&status)) != 0) return {};
  return PartOf(status, offset, size);
}
FilePart WholeOf(long directory, long path) {
  struct stat status;
  if (KernelCall(SYS_newfstatat, directory, path, AddressOf(&status), 0) != 0) return {};
  return PartOf(status, 0, kToTheEnd);
}

// What mmap with these arguments would show; no file if it is not shared.
FilePart ShownBy(const long a[6]) {
  const long type = a[3] & MAP_TYPE;
  if (type == MAP_PRIVATE || (a[3] & MAP_ANONYMOUS) != 0) return {};
  const uint64_t size = (static_cast<uint64_t>(a[1]) + kPage - 1) & ~(kPage - 1);
  return PartOf(a[4], static_cast<uint64_t>(a[5]), size);
}

[[noreturn]] void Refuse() {
  Unsupported(
      "two mappings of the same part of a file, one of them writable (mmap with MAP_SHARED)");
}

bool IsShownElsewhere(const SharedMapping& one) {
  return std::ranges::any_of(Mappings(), [&](const SharedMapping& other) {
    return &other != &one && other.part.Overlaps(one.part);
  });
}

void RecordPart(const FilePart& part, uint8_t mode) {
  if (!part.IsFile()) return;
  for (const SharedMapping& mapping : Mappings()) {
    if (!mapping.part.Overlaps(part)) continue;
    const uint64_t begin = std::max(part.begin, mapping.part.begin);
    const uint64_t end = std::min(part.end, mapping.part.end);
    g_scheduler.RecordMemory(mapping.address + (begin - mapping.part.begin), end - begin, mode, 0,
                             g_scheduler.current().system_call_pc, MemoryOrder::kRelaxed);
  }
}

// From where the descriptor stands.
FilePart FromPosition(long file, long size, bool appends) {
  const long position = KernelCall(SYS_lseek, file, 0, SEEK_CUR);
  if (position < 0) return {};
  const bool at_end = appends && (KernelCall(SYS_fcntl, file, F_GETFL) & O_APPEND) != 0;
  return PartOf(file, at_end ? 0 : static_cast<uint64_t>(position),
                at_end ? kToTheEnd : static_cast<uint64_t>(size));
}

}  // namespace

void RefuseSecondAddress(long number, const long a[6]) {
  if (number == SYS_mmap) {
    const FilePart part = ShownBy(a);
    if (!part.IsFile()) return;
    const bool writable = (a[2] & PROT_WRITE) != 0;
    for (const SharedMapping& mapping : Mappings()) {
      if (mapping.part.Overlaps(part) && (writable || mapping.writable)) Refuse();
    }
  } else if (number == SYS_mprotect && (a[2] & PROT_WRITE) != 0) {
    const auto begin = static_cast<uintptr_t>(a[0]), end = begin + static_cast<uintptr_t>(a[1]);
    for (SharedMapping& mapping : Mappings()) {
      if (begin >= mapping.end() || mapping.address >= end) continue;
      if (IsShownElsewhere(mapping)) Refuse();
      mapping.writable = true;
    }
  }
}

void BeginSharedMapping(uintptr_t begin, const long arguments[6]) {
  const FilePart part = ShownBy(arguments);
  if (part.IsFile()) Mappings().push_back({begin, part, (arguments[2] & PROT_WRITE) != 0});
}

void MoveSharedMapping(uintptr_t from, uintptr_t old_size, uintptr_t to, uintptr_t size) {
  for (const SharedMapping& mapping : Mappings()) {
    if (from < mapping.address || from >= mapping.end()) continue;
    SharedMapping moved = mapping;
    moved.address = to;
    moved.part.begin += from - mapping.address;
    moved.part.end = moved.part.begin + size;
    EndSharedMapping(from, from + old_size);
    Mappings().push_back(moved);
    return;
  }
}

void EndSharedMapping(uintptr_t begin, uintptr_t end) {
  std::vector<SharedMapping> rest;
  for (const SharedMapping& mapping : Mappings()) {
    const auto keep = [&](uintptr_t first, uintptr_t last) {
      if (first >= last) return;
      SharedMapping part = mapping;
      part.address = first;
      part.part.begin += first - mapping.address;
      part.part.end = part.part.begin + (last - first);
      rest.push_back(part);
    };
    keep(mapping.address, std::min(mapping.end(), begin));
    keep(std::max(mapping.address, end), mapping.end());
  }
  Mappings() = std::move(rest);
}

void ForgetSharedMappings() { Mappings().clear(); }

void RecordMappedFile(long number, const long a[6]) {
  if (Mappings().empty() || !g_scheduler.recording()) return;
  switch (number) {
    case SYS_read:
      return RecordPart(FromPosition(a[0], a[2], false), kRead);
    case SYS_write:
      return RecordPart(FromPosition(a[0], a[2], true), kWrite);
    case SYS_pread64:
      return RecordPart(PartOf(a[0], static_cast<uint64_t>(a[3]), static_cast<uint64_t>(a[2])),
                        kRead);
    case SYS_pwrite64:
      return RecordPart(PartOf(a[0], static_cast<uint64_t>(a[3]), static_cast<uint64_t>(a[2])),
                        kWrite);
    case SYS_ftruncate:
      return RecordPart(PartOf(a[0], static_cast<uint64_t>(a[1]), kToTheEnd), kWrite);
    case SYS_readv:
    case SYS_preadv:
    case SYS_preadv2:
      return RecordPart(PartOf(a[0], 0, kToTheEnd), kRead);
    case SYS_writev:
    case SYS_pwritev:
    case SYS_pwritev2:
    case SYS_fallocate:
      return RecordPart(PartOf(a[0], 0, kToTheEnd), kWrite);
    case SYS_sendfile:
      RecordPart(PartOf(a[1], 0, kToTheEnd), kRead);
      return RecordPart(PartOf(a[0], 0, kToTheEnd), kWrite);
    case SYS_splice:
    case SYS_copy_file_range:
      RecordPart(PartOf(a[0], 0, kToTheEnd), kRead);
      return RecordPart(PartOf(a[2], 0, kToTheEnd), kWrite);
    case SYS_truncate:
      return RecordPart(WholeOf(AT_FDCWD, a[0]), kWrite);
    case SYS_open:
      if ((a[1] & O_TRUNC) != 0) RecordPart(WholeOf(AT_FDCWD, a[0]), kWrite);
      return;
    case SYS_openat:
      if ((a[2] & O_TRUNC) != 0) RecordPart(WholeOf(a[0], a[1]), kWrite);
      return;
    default:
      return;
  }
}

}  // namespace mc::sched
