#include "racedet/candidate_table.h"

#include <bit>

namespace mc::racedet {

namespace {

constexpr uint32_t kOrders = kLowerFirst | kHigherFirst;

uint32_t FactsOfInstance(const CandidateTable::Instance& i) {
  return CandidateTable::FactsOf(i.earlier.pc, i.earlier.thread, i.later.pc, i.later.thread,
                                 i.unordered, i.data_race, i.recycled) |
         CandidateTable::KindFacts(i.earlier.pc, AccessKindOf(i.earlier.flags, i.earlier.mode),
                                   i.later.pc, AccessKindOf(i.later.flags, i.later.mode));
}

// `first` is the fact of its lowest step.
AccessKind KindIn(uint32_t facts, uint32_t first) {
  return static_cast<AccessKind>(std::popcount(facts & (first * kKindBits)));
}

}  // namespace

uint32_t CandidateTable::IndexOf(const Candidate& candidate) {
  const Key key = KeyOf(candidate.earlier.pc, candidate.later.pc);
  uint32_t index = index_.Find(key);
  if (index != kNone) return index;
  index = static_cast<uint32_t>(candidates_.size());
  candidates_.push_back(candidate);
  facts_.push_back(0);
  is_changed_.push_back(0);
  index_.Insert(key, index);
  return index;
}

uint32_t CandidateTable::AddSite(uint64_t pc) {
  const auto site = static_cast<uint32_t>(site_pcs_.size());
  site_pcs_.push_back(pc);
  sites_.Insert(pc, site);
  if (site < kMatrixSites && site >> matrix_shift_ != 0) {
    ++matrix_shift_;
    known_.assign(size_t{1} << 2 * matrix_shift_, 0);
    for (uint32_t i = 0; i < candidates_.size(); ++i) EnterInMatrix(i);
  }
  return site;
}

void CandidateTable::EnterInMatrix(uint32_t index) {
  const uint32_t a = sites_.Find(candidates_[index].earlier.pc);
  const uint32_t b = sites_.Find(candidates_[index].later.pc);
  if (a >= kMatrixSites || b >= kMatrixSites) return;  // so also kNone
  known_[a << matrix_shift_ | b] = known_[b << matrix_shift_ | a] = facts_[index];
}

void CandidateTable::AddFacts(uint32_t index, uint32_t facts) {
  Candidate& candidate = candidates_[index];
  const uint32_t before = facts_[index];
  const uint32_t after = before | facts;
  const bool was_real = before & kOrders;
  const bool is_real = after & kOrders;
  if (is_real && !was_real && (before & kRecycled)) {
    --recycled_;
    ++promoted_;
    candidate.promoted = true;
  } else if (!is_real && before == 0) {
    ++recycled_;
  }
  facts_[index] = after;
  ++version_;
  EnterInMatrix(index);
  candidate.status = !is_real                       ? CandidateStatus::kMallocRecycle
                     : (after & kOrders) == kOrders ? CandidateStatus::kConfirmed
                                                    : CandidateStatus::kSuspected;
  candidate.unordered = after & kUnordered;
  candidate.data_race = after & kDataRace;
  candidate.earlier_first_seen = after & kLowerFirst;
  candidate.later_first_seen = after & kHigherFirst;
  candidate.lower_kind = KindIn(after, kLowerKind);
  candidate.higher_kind = KindIn(after, kHigherKind);
  if (!is_changed_[index]) {
    is_changed_[index] = 1;
    changed_.push_back(index);
  }
}

void CandidateTable::Add(const Instance& instance) {
  const uint32_t facts = FactsOfInstance(instance);
  if (AddsNothing(KnownFacts(instance.earlier.pc, instance.later.pc), facts)) return;
  Candidate candidate;
  candidate.earlier = instance.earlier;
  candidate.later = instance.later;
  candidate.cell = instance.cell;
  const uint32_t index = IndexOf(candidate);
  // The order of a recycled instance is not one of the candidate's.
  if (!instance.recycled || facts_[index] == 0) {
    candidates_[index].earlier = instance.earlier;
    candidates_[index].later = instance.later;
    candidates_[index].cell = instance.cell;
  }
  AddFacts(index, facts);
}

void CandidateTable::AddUnlessProtected(const Instance& instance, LocksetId earlier,
                                        LocksetId later) {
  const uint32_t facts = FactsOfInstance(instance);
  const Key pair = KeyOf(instance.earlier.pc, instance.later.pc);
  const DeferredKey key{pair.lower, pair.higher, uint64_t{earlier} << 32 | later, facts};
  if (deferred_keys_.Find(key) != deferred_keys_.kAbsent) return;
  deferred_keys_.Insert(key, 0);
  deferred_.push_back({instance, earlier, later});
  ++semaphore_facts_;
}

void CandidateTable::ContradictSemaphore(sched::Cell semaphore) {
  if (!locksets_.Contradict(semaphore)) return;
  ++semaphore_facts_;
  size_t kept = 0;
  for (size_t i = 0; i < deferred_.size(); ++i) {
    const Deferred& deferred = deferred_[i];
    if (locksets_.CommonProtection(deferred.earlier, deferred.later) == Protection::kNone) {
      Add(deferred.instance);
    } else {
      deferred_[kept++] = deferred;
    }
  }
  deferred_.resize(kept);
}

void CandidateTable::Merge(const Candidate& candidate) {
  const uint32_t real = (candidate.earlier_first_seen ? kLowerFirst : 0) |
                        (candidate.later_first_seen ? kHigherFirst : 0) |
                        (candidate.unordered ? kUnordered : 0) |
                        (candidate.data_race ? kDataRace : 0);
  const bool recycled = real == 0 || candidate.promoted;
  const Key pair = KeyOf(candidate.earlier.pc, candidate.later.pc);
  const uint32_t kinds =
      KindFacts(pair.lower, candidate.lower_kind, pair.higher, candidate.higher_kind);
  const uint32_t known = KnownFacts(pair.lower, pair.higher);
  if (AddsNothing(known, real | kinds | (recycled ? kRecycled : 0))) return;
  const uint32_t index = IndexOf(candidate);
  if (recycled && facts_[index] == 0) AddFacts(index, kRecycled | kinds);
  AddFacts(index, real | kinds);
}

void CandidateTable::TakeChanges(std::vector<uint32_t>* indices) {
  indices->clear();
  indices->swap(changed_);
  for (const uint32_t index : *indices) is_changed_[index] = 0;
}

}  // namespace mc::racedet
