// AccessKind: what an instruction does to memory, as reports name it.
//
// One instruction may do different things in different executions: a compare-and-exchange that
// fails only reads. What is said of it is the strongest of what it ever did, so that the order in
// which executions are run does not matter.
#ifndef MC_RACEDET_ACCESS_KIND_H_
#define MC_RACEDET_ACCESS_KIND_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sched/event.h"

namespace mc::racedet {

// The weakest first.
enum class AccessKind : uint8_t {
  kSync,  // bytes of a synchronisation object, by an operation on it
  kAtomicRead,
  kAtomicWrite,
  kAtomicReadModifyWrite,
  kRead,
  kWrite,
  kReadModifyWrite,
  kAllocate,
  kFree,
};

inline constexpr std::array<std::string_view, 9> kAccessKindNames = {
    "sync", "atomic read", "atomic write",      "atomic read-modify-write",
    "read", "write",       "read-modify-write", "allocate",
    "free"};

inline std::string_view NameOf(AccessKind kind) {
  return kAccessKindNames[static_cast<size_t>(kind)];
}

// The weakest if there is none of that name.
inline AccessKind AccessKindFromName(std::string_view name) {
  const auto found = std::find(kAccessKindNames.begin(), kAccessKindNames.end(), name);
  const auto index = found - kAccessKindNames.begin();
  return found == kAccessKindNames.end() ? AccessKind::kSync : static_cast<AccessKind>(index);
}

// Of an access with these AccessFlags and this AccessMode.
inline AccessKind AccessKindOf(uint16_t flags, uint8_t mode) {
  if ((flags & sched::kFree) != 0) return AccessKind::kFree;
  if ((flags & sched::kAllocation) != 0) return AccessKind::kAllocate;
  if ((flags & sched::kObjectBytes) != 0) return AccessKind::kSync;
  const bool atomic = (flags & sched::kAtomic) != 0;
  if (mode == sched::kRead) return atomic ? AccessKind::kAtomicRead : AccessKind::kRead;
  if (mode == sched::kWrite) return atomic ? AccessKind::kAtomicWrite : AccessKind::kWrite;
  return atomic ? AccessKind::kAtomicReadModifyWrite : AccessKind::kReadModifyWrite;
}

}  // namespace mc::racedet

#endif  // MC_RACEDET_ACCESS_KIND_H_
