// Job: a search written down between two slices, for another process to go on with (--checkpoint).
//
// What the PP set and the settings say is not in it: the supervisor defines the job as before, with
// the sites that its restarts told.
#include <string.h>

#include <type_traits>

#include "checker/agent/job.h"

namespace mc::checker {
namespace {

using dpor::WordReader;
using dpor::Words;

template <class T>
void WriteObject(const T& object, Words* words) {
  static_assert(std::is_trivially_copyable_v<T>);
  const size_t at = words->size();
  words->resize(at + (sizeof object + 3) / 4);
  memcpy(words->data() + at, &object, sizeof object);
}

template <class T>
T ReadObject(WordReader& reader) {
  uint32_t words[(sizeof(T) + 3) / 4];
  for (uint32_t& word : words) word = reader.Next();
  T object;
  memcpy(static_cast<void*>(&object), words, sizeof object);
  return object;
}

void WriteCandidates(const racedet::CandidateTable& table, Words* words) {
  words->push_back(static_cast<uint32_t>(table.size()));
  for (uint32_t k = 0; k < table.size(); ++k) WriteObject(table[k], words);
}

void ReadCandidates(WordReader& reader, racedet::CandidateTable* table) {
  for (uint32_t left = reader.NextCount(); left > 0; --left) {
    table->Merge(ReadObject<racedet::Candidate>(reader));
  }
  std::vector<uint32_t> told;  // by the process that is gone
  table->TakeChanges(&told);
}

void WriteHolds(const racedet::LocksetTable& table, racedet::LocksetId set, Words* words) {
  const auto holds = table.HoldsOf(set);
  words->push_back(static_cast<uint32_t>(holds.size()));
  for (const auto& hold : holds) WriteObject(hold, words);
}

racedet::LocksetId ReadHolds(WordReader& reader, racedet::LocksetTable* table) {
  std::vector<racedet::LocksetTable::Hold> holds(reader.NextCount());
  for (auto& hold : holds) hold = ReadObject<racedet::LocksetTable::Hold>(reader);
  return table->SetOf(holds);
}

// Which semaphores are no locks, and what those that may be protect.
void WriteSemaphores(const racedet::CandidateTable& table, Words* words) {
  const auto contradicted = table.locksets().contradicted();
  words->push_back(static_cast<uint32_t>(contradicted.size()));
  for (const sched::Cell semaphore : contradicted) dpor::WriteLong(semaphore, words);
  words->push_back(static_cast<uint32_t>(table.deferred().size()));
  for (const racedet::CandidateTable::Deferred& deferred : table.deferred()) {
    WriteObject(deferred.instance, words);
    WriteHolds(table.locksets(), deferred.earlier, words);
    WriteHolds(table.locksets(), deferred.later, words);
  }
}

void ReadSemaphores(WordReader& reader, racedet::CandidateTable* table) {
  for (uint32_t left = reader.NextCount(); left > 0; --left) {
    table->locksets().Contradict(reader.NextLong());
  }
  for (uint32_t left = reader.NextCount(); left > 0; --left) {
    const auto instance = ReadObject<racedet::CandidateTable::Instance>(reader);
    const racedet::LocksetId earlier = ReadHolds(reader, &table->locksets());
    const racedet::LocksetId later = ReadHolds(reader, &table->locksets());
    table->AddUnlessProtected(instance, earlier, later);
  }
}

}  // namespace

bool Job::WriteState(Words* words) {
  dpor::SharedSearch* const shared = search_->shared();
  if (shared == nullptr || restart_due || search_->complete() || !search_->error().empty()) {
    return false;
  }
  Words rest;
  if (!shared->WriteRest(&rest)) return false;
  words->clear();
  words->push_back((options_.barrier_full_model ? 1u : 0u) | (options_.impatient ? 2u : 0u) |
                   (options_.looks_for_loops ? 4u : 0u) | (why_alone_.empty() ? 0u : 8u));
  dpor::WriteCounts({search_->executions(), search_->sleep_blocked(), search_->assumption_failed(),
                     search_->transitions()},
                    words);
  dpor::WriteLong(repeated, words);
  WriteObject(seconds, words);
  WriteObject(Estimate(), words);
  WriteCandidates(candidates_, words);
  WriteSemaphores(candidates_, words);
  words->push_back(static_cast<uint32_t>(seen_failures_.size()));
  for (const auto& [failed, other] : seen_failures_) {
    dpor::WriteLong(failed, words);
    dpor::WriteLong(other, words);
  }
  if (shared_ != nullptr) {
    shared_->frontier.Write(words);
  } else {
    dpor::Frontier().Write(words);
  }
  words->insert(words->end(), rest.begin(), rest.end());
  return true;
}

bool Job::ReadState(std::span<const uint32_t> words) {
  if (search_->shared() == nullptr) return false;
  WordReader reader(words);
  const uint32_t flags = reader.Next();
  options_.barrier_full_model |= (flags & 1) != 0;
  options_.impatient |= (flags & 2) != 0;
  options_.looks_for_loops |= (flags & 4) != 0;
  if ((flags & 8) != 0) StayAlone("the search that it goes on with had to be done alone");
  const dpor::SearchCounts counts = dpor::ReadCounts(reader);
  repeated = reader.NextLong();
  seconds = ReadObject<double>(reader);
  estimate_before_ = ReadObject<double>(reader);
  ReadCandidates(reader, &candidates_);
  ReadSemaphores(reader, &candidates_);
  for (uint32_t left = reader.NextCount(); left > 0; --left) {
    const uint64_t failed = reader.NextLong();
    seen_failures_.insert({failed, reader.NextLong()});
  }
  shared_ = std::make_unique<Shared>();
  if (!shared_->frontier.Read(reader) || !reader.ok()) return false;
  if (!reader.AtEnd()) shared_->frontier.Serve(0, reader.Rest(), &shared_->unused);
  items_before_ = shared_->frontier.finished();
  search_->shared()->BecomeHelper(shared_.get());
  search_->shared()->AddCounts(counts);
  runs_before_ = search_->runs();
  return shared_->frontier.error().empty();
}

}  // namespace mc::checker
