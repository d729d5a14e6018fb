#include "dpor/request_store.h"

#include <algorithm>

namespace mc::dpor {

RequestStore::RequestStore(EventPool& pool)
    : pool_(pool), buckets_(64, kNoRequest), shift_(64 - 6) {}

RequestId RequestStore::Create(uint32_t length) {
  RequestId id = free_;
  if (id == kNoRequest) {
    id = static_cast<RequestId>(requests_.size());
    requests_.emplace_back();
  } else {
    free_ = requests_[id].next;
  }
  Request& r = requests_[id];
  r = Request();
  r.block_class = BlockAllocator::ClassOf(length * sizeof(EventId));
  r.block = static_cast<EventId*>(blocks_.Allocate(r.block_class));
  while (powers_.size() < length) powers_.push_back(powers_.back() * kFactor);
  peak_ = std::max(peak_, ++live_);
  return id;
}

void RequestStore::Append(RequestId id, EventId event) {
  Request& r = requests_[id];
  const EventRecord& e = pool_[event];
  r.block[r.end++] = event;
  r.identity = r.identity * kFactor + e.identity;
  r.threads |= ThreadBit(e.thread);
  r.summary.Add(e.summary);
}

void RequestStore::Destroy(RequestId id) {
  Request& r = requests_[id];
  for (const EventId e : r.events()) pool_.Release(e);
  blocks_.Free(r.block, r.block_class);
  r.next = free_;
  free_ = id;
  --live_;
}

void RequestStore::RemoveEvent(RequestId id, uint32_t k) {
  Request& r = requests_[id];
  EventId* events = r.block + r.begin;
  // What comes before it moves up by one: the sums up to it, without it and with it.
  uint64_t without = 0;
  for (uint32_t m = 0; m < k; ++m) without = without * kFactor + pool_[events[m]].identity;
  const uint64_t with = without * kFactor + pool_[events[k]].identity;
  r.identity += (without - with) * powers_[r.length() - 1 - k];
  pool_.Release(events[k]);
  for (uint32_t m = k; m > 0; --m) events[m] = events[m - 1];
  ++r.begin;
}

bool RequestStore::Same(const Request& a, const Request& b) const {
  if (a.identity != b.identity || a.depth != b.depth || a.length() != b.length()) return false;
  for (uint32_t k = 0; k < a.length(); ++k) {
    const EventId x = a.block[a.begin + k], y = b.block[b.begin + k];
    if (x == y) continue;
    const EventRecord& ex = pool_[x];
    const EventRecord& ey = pool_[y];
    if (ex.thread != ey.thread || ex.index != ey.index || !EventPool::SameChoices(ex, ey)) {
      return false;
    }
  }
  return true;
}

bool RequestStore::Insert(RequestId id, uint32_t depth, RequestId* head) {
  Request& r = requests_[id];
  r.depth = depth;
  size_t bucket = BucketOf(r);
  bool same = false;
  for (RequestId k = buckets_[bucket]; k != kNoRequest && !same; k = requests_[k].next_in_bucket) {
    same = Same(requests_[k], r);
  }
  if (forget_nothing) {
    const EverListed key{r.identity, depth};
    same = same || std::ranges::find(ever_listed_, key) != ever_listed_.end();
    ever_listed_.push_back(key);
  }
  if (same) {
    Destroy(id);
    return false;
  }
  if (++listed_ > buckets_.size()) {
    GrowTable();
    bucket = BucketOf(r);
  }
  r.next_in_bucket = buckets_[bucket];
  buckets_[bucket] = id;
  r.next = *head;
  *head = id;
  return true;
}

void RequestStore::Unlist(RequestId id) {
  RequestId* at = &buckets_[BucketOf(requests_[id])];
  while (*at != id) at = &requests_[*at].next_in_bucket;
  *at = requests_[id].next_in_bucket;
  --listed_;
}

void RequestStore::GrowTable() {
  std::vector<RequestId> old(buckets_.size() * 4, kNoRequest);
  old.swap(buckets_);
  shift_ -= 2;
  for (RequestId chain : old) {
    while (chain != kNoRequest) {
      Request& r = requests_[chain];
      const RequestId next = r.next_in_bucket;
      const size_t bucket = BucketOf(r);
      r.next_in_bucket = buckets_[bucket];
      buckets_[bucket] = chain;
      chain = next;
    }
  }
}

}  // namespace mc::dpor
