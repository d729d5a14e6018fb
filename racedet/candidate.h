// Candidate: a potential data race (spec iterative-deepening 2, 3 and 5).
//
// Identity is the unordered pair of instruction addresses; `first_pc` <= `second_pc`.
#ifndef MC_RACEDET_CANDIDATE_H_
#define MC_RACEDET_CANDIDATE_H_

#include <cstdint>

#include "racedet/access_kind.h"
#include "sched/event.h"

namespace mc::racedet {

enum class CandidateStatus : uint8_t {
  kSuspected,      // seen in one order
  kConfirmed,      // seen in both
  kMallocRecycle,  // only ever seen across a free and a new allocation of the block: discarded
};

struct AccessSite {
  uint64_t pc = 0;
  sched::ThreadId thread = 0;
  uint8_t mode = 0;    // AccessMode
  uint16_t flags = 0;  // AccessFlags
  uint32_t event = 0;  // position in the trace in which it was last seen
};

struct Candidate {
  AccessSite earlier, later;  // as last seen
  sched::Cell cell = 0;       // first overlapping byte
  // The strongest seen of the instruction with the lower address, and with the higher one. Of an
  // instruction with itself: of the stronger and of the weaker access.
  AccessKind lower_kind = AccessKind::kSync, higher_kind = AccessKind::kSync;
  CandidateStatus status = CandidateStatus::kSuspected;
  bool unordered = false;  // happens-before left some instance of it unordered ...
  bool data_race = false;  // ... and at least one side was plain: a data race, undefined behaviour
  bool promoted = false;   // was malloc-recycle first
  bool earlier_first_seen = false,
       later_first_seen = false;  // orders seen: lower pc first, higher pc first
};

}  // namespace mc::racedet

#endif  // MC_RACEDET_CANDIDATE_H_
