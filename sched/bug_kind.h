// The one list of verdicts about bugs (DESIGN section 4, `bugs[].kind`).
#ifndef MC_SCHED_BUG_KIND_H_
#define MC_SCHED_BUG_KIND_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace mc::sched {

enum class BugKind : uint8_t {
  kAssertion,
  kAbort,
  kUncaughtException,
  kSignal,
  kDeadlock,
  kLivelock,
  kDataRace,
  kDmaRace,
  kDmaMisuse,
  kUseAfterFree,
  kDoubleFree,
  kInvalidFree,
  kHeapOverrun,
  kLeak,
  kSyncMisuse,
  kStackOverflow,
  kOutOfMemory,
  kExitStatus,
  kCrash,
  kCustom,
};

inline constexpr std::array<std::string_view, 20> kBugKindNames = {
    "assertion",      "abort",         "uncaught-exception", "signal",     "deadlock",
    "livelock",       "data-race",     "dma-race",           "dma-misuse", "use-after-free",
    "double-free",    "invalid-free",  "heap-overrun",       "leak",       "sync-misuse",
    "stack-overflow", "out-of-memory", "exit-status",        "crash",      "custom"};

// How the message of a livelock begins that is one only by the number of its steps.
inline constexpr std::string_view kStepLimitReached = "step limit reached";

constexpr std::string_view NameOf(BugKind kind) { return kBugKindNames[static_cast<size_t>(kind)]; }

constexpr std::optional<BugKind> BugKindFromName(std::string_view name) {
  for (size_t i = 0; i < kBugKindNames.size(); ++i) {
    if (kBugKindNames[i] == name) return static_cast<BugKind>(i);
  }
  return std::nullopt;
}

}  // namespace mc::sched

#endif  // MC_SCHED_BUG_KIND_H_
