// SpilledRequests: those requests of a search that are in a SpillStore (spec optimal-dpor 3.5).
//
// A node has, beside its list in memory, a list of *chunks*: places of the store with some hundred
// requests each, in no order. They are the node's requests like all others: they are handed down to
// a new child, given away and discarded with the rest. Only *same* is not asked of them: a request
// may be in a chunk twice, or in a chunk and in memory. Both are handed down to the same child in
// the same form, and there, in memory, they meet.
//
// A chunk is written once. It has a table of the events that its requests are made of, then the
// requests as numbers of that table. What only some of its requests are taken out of is written
// anew.
//
// Invariants
//  * What was spilled holds no reference to an event of the pool.
//  * Every place of a chunk in a list is owned by this object, and freed with it.
#ifndef MC_DPOR_SPILLED_REQUESTS_H_
#define MC_DPOR_SPILLED_REQUESTS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "dpor/request_store.h"
#include "dpor/spill.h"

namespace mc::dpor {

class SpilledRequests {
 public:
  using ChunkId = uint32_t;
  static constexpr ChunkId kNone = 0xffffffff;

  // Of the requests of one chunk that begin with the same event, for estimates.
  struct Beginning {
    uint64_t identity = 0;  // of that event
    uint64_t requests = 0;
    uint64_t events = 0;  // of all of them
  };

  SpilledRequests(EventPool& pool, RequestStore& requests) : pool_(pool), requests_(requests) {}
  ~SpilledRequests();
  SpilledRequests(const SpilledRequests&) = delete;
  SpilledRequests& operator=(const SpilledRequests&) = delete;

  // There is none at first. Not to be changed while something is spilled.
  void set_store(SpillStore* store) { store_ = store; }

  // Moves the requests of the node's list in memory to its chunks, as long as `go_on` says so and
  // the store has room. Returns how many.
  uint64_t Spill(RequestId* head, ChunkId* chunks, const std::function<bool()>& go_on);
  // Moves the requests of one chunk of the node at `depth` back to its list in memory.
  void LoadChunk(ChunkId* chunks, uint32_t depth, RequestId* head);
  // Shows each request of the node at `depth` to `take`, which either takes it over, as one that is
  // in no list, and returns true, or leaves it unchanged. What the store has no room for any more
  // goes to the list in memory.
  void Sift(ChunkId* chunks, uint32_t depth, RequestId* head,
            const std::function<bool(RequestId)>& take);
  void Discard(ChunkId* chunks);
  // Appends the requests to `words` as RequestQueues::Write does, but for their number, which is
  // returned.
  uint64_t Write(ChunkId chunks, Words* words);

  // Calls f(Beginning) for each first event of each chunk.
  template <typename F>
  void ForEachBeginning(ChunkId chunks, const F& f) const {
    for (ChunkId id = chunks; id != kNone; id = chunks_[id].next) {
      for (const Beginning& b : chunks_[id].beginnings) f(b);
    }
  }

  // The store failed, and requests are missing: the search must not go on.
  bool failed() const { return failed_; }

 private:
  struct Chunk {
    SpillStore::Place place = SpillStore::kNoPlace;
    uint32_t words = 0;
    uint32_t requests = 0;
    ChunkId next = kNone;
    std::vector<Beginning> beginnings;
  };
  class Builder;
  class Opened;

  // A new request of those events whose numbers stand at words[*at], after how many they are; *at
  // goes to what is behind them.
  RequestId Build(const std::vector<EventId>& events, const Words& words, size_t* at);
  // The number of a chunk that is now in front of `next`.
  ChunkId Add(Chunk chunk, ChunkId next);
  // Takes the chunk *at out of its list, and frees its place.
  void Remove(ChunkId* at);

  EventPool& pool_;
  RequestStore& requests_;
  SpillStore* store_ = nullptr;
  std::vector<Chunk> chunks_;
  std::vector<ChunkId> unused_;
  bool failed_ = false;
};

}  // namespace mc::dpor

#endif  // MC_DPOR_SPILLED_REQUESTS_H_
