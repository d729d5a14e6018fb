// CandidateTable: every candidate found so far, over all executions of a job or of many jobs.
//
// One entry per unordered pair of instruction addresses. Detectors report *instances*: two accesses
// of one execution that fit the candidate rule. What an instance adds to its pair is a set of
// facts; an instance that adds none costs one look-up. Facts are only ever added, so the table is
// the union of what the executions showed, in whatever order they were run:
//   order     the lower address came first, or the higher one. Both: confirmed. A pair of one
//             instruction with itself has two threads in place of two addresses: it is confirmed
//             when some instance had the lower thread number first and some the higher one.
//   unordered, data race   as in Candidate.
//   kinds     what the instructions do (access_kind.h): of each, the strongest kind seen.
//   recycled  only known from instances across a free and a new allocation of the block: discarded,
//             and promoted to a real candidate by the first instance inside one allocation.
//
// Pairs protected by nothing but semaphores taken for locks are kept aside until such a guess is
// contradicted, so that the table does not depend on when that happens.
//
// TakeChanges tells what is new: a candidate is in it once for each time that its status or its
// facts changed between two calls, never for a mere repetition.
#ifndef MC_RACEDET_CANDIDATE_TABLE_H_
#define MC_RACEDET_CANDIDATE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "racedet/candidate.h"
#include "racedet/lockset.h"
#include "racedet/open_hash.h"

namespace mc::racedet {

// What is known of a pair.
inline constexpr uint32_t kLowerFirst = 1 << 0;
inline constexpr uint32_t kHigherFirst = 1 << 1;
inline constexpr uint32_t kUnordered = 1 << 2;
inline constexpr uint32_t kDataRace = 1 << 3;
inline constexpr uint32_t kRecycled = 1 << 4;
// From here on one bit for each step of AccessKind: those of a kind include those of all weaker
// ones. First for the instruction with the lower address, then for the other.
inline constexpr uint32_t kLowerKind = 1 << 5;
inline constexpr uint32_t kHigherKind = kLowerKind << (kAccessKindNames.size() - 1);
inline constexpr uint32_t kKindBits = (1u << (kAccessKindNames.size() - 1)) - 1;
static_assert(uint64_t{kHigherKind} * kKindBits < uint64_t{1} << 32);

class CandidateTable {
 public:
  static constexpr uint32_t kNone = OpenHash<uint64_t>::kAbsent;

  // Two accesses seen in one execution.
  struct Instance {
    AccessSite earlier, later;
    sched::Cell cell = 0;
    bool unordered = false;
    bool data_race = false;
    bool recycled = false;
  };

  // The facts of an instance, but for the kinds of the accesses.
  static uint32_t FactsOf(uint64_t earlier_pc, sched::ThreadId earlier_thread, uint64_t later_pc,
                          sched::ThreadId later_thread, bool unordered, bool data_race,
                          bool recycled) {
    if (recycled) return kRecycled;
    const bool lower_first =
        earlier_pc != later_pc ? earlier_pc < later_pc : earlier_thread < later_thread;
    return (lower_first ? kLowerFirst : kHigherFirst) | (unordered ? kUnordered : 0) |
           (data_race ? kDataRace : 0);
  }

  // The facts that accesses of these kinds by the two instructions show.
  static uint32_t KindFacts(uint64_t pc_a, AccessKind a, uint64_t pc_b, AccessKind b) {
    const bool a_is_lower = pc_a != pc_b ? pc_a < pc_b : a >= b;
    const uint32_t bits_a = (1u << static_cast<uint32_t>(a)) - 1;
    const uint32_t bits_b = (1u << static_cast<uint32_t>(b)) - 1;
    return kLowerKind * (a_is_lower ? bits_a : bits_b) +
           kHigherKind * (a_is_lower ? bits_b : bits_a);
  }

  // A small number for an instruction.
  uint32_t SiteOf(uint64_t pc) {
    const uint32_t known = sites_.Find(pc);
    return known != kNone ? known : AddSite(pc);
  }

  uint64_t PcOf(uint32_t site) const { return site_pcs_[site]; }

  // The facts known of a pair of instructions, by their numbers; 0 if it is not in the table.
  uint32_t KnownFacts(uint32_t site_a, uint32_t site_b) const {
    if (site_a < kMatrixSites && site_b < kMatrixSites) {
      return known_[site_a << matrix_shift_ | site_b];
    }
    return KnownFacts(site_pcs_[site_a], site_pcs_[site_b]);
  }
  uint32_t KnownFacts(uint64_t pc_a, uint64_t pc_b) const {
    const uint32_t index = index_.Find(KeyOf(pc_a, pc_b));
    return index == kNone ? 0 : facts_[index];
  }

  // Whether an instance with these facts would change nothing.
  static bool AddsNothing(uint32_t known, uint32_t facts) {
    // That it is recycled says nothing new of a pair that is known.
    return (facts & ~known & (known == 0 ? ~0u : ~kRecycled)) == 0;
  }

  // Adds an instance.
  void Add(const Instance& instance);
  // Adds an instance that two locksets, which have only semaphores in common, protect so far.
  void AddUnlessProtected(const Instance& instance, LocksetId earlier, LocksetId later);
  // The semaphore does not serve as a lock; adds the instances that only it protected.
  void ContradictSemaphore(sched::Cell semaphore);
  // Adds what another table (of another process) knows of a pair.
  void Merge(const Candidate& candidate);

  size_t size() const { return candidates_.size(); }
  const Candidate& operator[](uint32_t index) const { return candidates_[index]; }
  // The index of a pair, or kNone.
  uint32_t Find(uint64_t pc_a, uint64_t pc_b) const { return index_.Find(KeyOf(pc_a, pc_b)); }

  // Changes with every fact that is added.
  uint64_t version() const { return version_; }

  bool HasChanges() const { return !changed_.empty(); }
  // Replaces `indices` by the candidates new or changed since the last call.
  void TakeChanges(std::vector<uint32_t>* indices);

  // Candidates that are malloc-recycle now; and those that were, but proved to be real.
  size_t malloc_recycle_discarded() const { return recycled_; }
  size_t promoted() const { return promoted_; }

  // Changes whenever more is known of semaphores that may serve as locks: Merge does not tell that.
  uint64_t semaphore_facts() const { return semaphore_facts_; }

  // An instance that only semaphores taken for locks protect so far.
  struct Deferred {
    Instance instance;
    LocksetId earlier, later;
  };
  const std::vector<Deferred>& deferred() const { return deferred_; }

  LocksetTable& locksets() { return locksets_; }
  const LocksetTable& locksets() const { return locksets_; }

 private:
  struct Key {
    uint64_t lower = 0, higher = 0;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    uint64_t operator()(const Key& key) const { return MixBits(key.lower + 3 * key.higher); }
  };
  struct DeferredKey {
    uint64_t lower = 0, higher = 0;
    uint64_t locksets = 0;  // both
    uint32_t facts = 0;
    bool operator==(const DeferredKey&) const = default;
  };
  struct DeferredHash {
    uint64_t operator()(const DeferredKey& key) const {
      return MixBits(key.lower + 3 * key.higher + 7 * key.locksets + 11 * uint64_t{key.facts});
    }
  };

  static Key KeyOf(uint64_t a, uint64_t b) { return a < b ? Key{a, b} : Key{b, a}; }
  void AddFacts(uint32_t index, uint32_t facts);
  uint32_t AddSite(uint64_t pc);
  void EnterInMatrix(uint32_t index);
  // The index of the candidate's pair, made if need be.
  uint32_t IndexOf(const Candidate& candidate);

  std::vector<Candidate> candidates_;
  std::vector<uint32_t> facts_;      // parallel to candidates_
  std::vector<uint8_t> is_changed_;  // whether the index is in changed_
  std::vector<uint32_t> changed_;
  OpenHash<Key, KeyHash> index_;
  size_t recycled_ = 0, promoted_ = 0;
  uint64_t version_ = 0;

  // facts_ once more, for the instructions with small numbers: a square matrix of 2^matrix_shift_
  // rows. Looking here is most of what is done with the table.
  static constexpr uint32_t kMatrixSites = 1024;
  OpenHash<uint64_t> sites_;
  std::vector<uint64_t> site_pcs_;
  std::vector<uint32_t> known_ = {0};
  uint32_t matrix_shift_ = 0;

  LocksetTable locksets_;
  uint64_t semaphore_facts_ = 0;
  std::vector<Deferred> deferred_;
  OpenHash<DeferredKey, DeferredHash> deferred_keys_;
};

}  // namespace mc::racedet

#endif  // MC_RACEDET_CANDIDATE_TABLE_H_
