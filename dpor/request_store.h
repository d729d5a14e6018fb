// RequestStore: the sequences that wait at the nodes of the path (spec optimal-dpor 2.1, 2.2, 3.1).
//
// A request is an array of EventIds, with a summary of its footprints and a mask of its threads
// that may be too large, never too small. Each node has a list of requests. The table that answers
// *same* holds exactly what is in the lists: an entry leaves when its request is removed.
#ifndef MC_DPOR_REQUEST_STORE_H_
#define MC_DPOR_REQUEST_STORE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "dpor/event_pool.h"

namespace mc::dpor {

using RequestId = uint32_t;
inline constexpr RequestId kNoRequest = 0xffffffff;

struct Request {
  Summary summary;
  uint64_t threads = 0;   // bit (thread % 64) of each thread with an event in it
  uint64_t identity = 0;  // hash of its events, in order (RequestStore::kFactor)
  uint32_t* block = nullptr;
  uint32_t begin = 0, end = 0;  // the events are block[begin, end)
  uint32_t depth = 0;           // of its node
  RequestId next = kNoRequest;  // in the node's list
  RequestId next_in_bucket = kNoRequest;
  uint8_t block_class = 0;

  std::span<const EventId> events() const { return {block + begin, end - begin}; }
  uint32_t length() const { return end - begin; }
};

inline uint64_t ThreadBit(sched::ThreadId thread) { return uint64_t{1} << (thread & 63); }

class RequestStore {
 public:
  explicit RequestStore(EventPool& pool);

  // A new request, in no list, for `length` events; fill it with Append.
  RequestId Create(uint32_t length);
  // Takes over one reference.
  void Append(RequestId id, EventId event);
  // Drops the request, which must be in no list.
  void Destroy(RequestId id);
  // Removes event number `k`. The request must be in no list.
  void RemoveEvent(RequestId id, uint32_t k);

  // Puts the request at the front of the list `*head` of the node at `depth`, unless the same is
  // there: then destroys it and returns false.
  bool Insert(RequestId id, uint32_t depth, RequestId* head);
  // Takes the request out of the table, when it is taken out of its list (which the caller does).
  void Unlist(RequestId id);

  Request& operator[](RequestId id) { return requests_[id]; }
  const Request& operator[](RequestId id) const { return requests_[id]; }
  size_t live() const { return live_; }
  size_t peak() const { return peak_; }
  // What those that are live take, but for their events.
  size_t used_bytes() const { return live_ * sizeof(Request) + blocks_.used_bytes(); }

  // For the mutant `stale-same` only: what was ever listed at a node stays in the table while the
  // node is on the path.
  bool forget_nothing = false;
  void ForgetDeeperThan(uint32_t depth) {
    std::erase_if(ever_listed_, [depth](const EverListed& e) { return e.depth > depth; });
  }

 private:
  struct EverListed {
    uint64_t identity;
    uint32_t depth;
    bool operator==(const EverListed&) const = default;
  };
  // Of n events: the sum of identity(event i) * kFactor^(n - 1 - i), which is as easily kept when
  // an event goes as when one comes. In order: requests that differ in nothing else can be many.
  static constexpr uint64_t kFactor = 0xd6e8feb86659fd93u;

  bool Same(const Request& a, const Request& b) const;
  size_t BucketOf(const Request& r) const {
    return ((r.identity ^ (uint64_t{r.depth} << 40)) * 0x9e3779b97f4a7c15u) >> shift_;
  }
  void GrowTable();

  EventPool& pool_;
  std::vector<Request> requests_;
  RequestId free_ = kNoRequest;
  std::vector<RequestId> buckets_;
  std::vector<uint64_t> powers_ = {1};  // of kFactor, as many as the longest request has events
  std::vector<EverListed> ever_listed_;
  int shift_;
  size_t listed_ = 0, live_ = 0, peak_ = 0;
  BlockAllocator blocks_;
};

}  // namespace mc::dpor

#endif  // MC_DPOR_REQUEST_STORE_H_
