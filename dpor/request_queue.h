// RequestQueue: the requests that wait at one node of the tree, in the order in which they are
// followed (spec optimal-dpor 2.2, 2.9).
//
// A node may follow its requests in any order, and a child takes over all that can begin with its
// event. So as a rule nothing can be said of a request that waits: an event followed before it may
// make it another child's, or make it superfluous. Of some it can. Requests that *lead* are
// followed first, the oldest first; the event that each begins with is known exactly; and none can
// begin with the event of an earlier one. Then each will be followed from this very node, to its
// end, and free from there on. These are the first children of the node that are still to come, as
// a wakeup tree would have them.
//
// So where a new request would be handed down along one of these, and be superfluous on its way or
// where it ends, it need not be kept: it is *absorbed*. Programs whose reversals are mostly covered
// by others that wait (lastzero) have few requests by that.
//
// Invariants
//  * A queue's leading requests begin with exact events; the event of an earlier one is no weak
//    initial of a later one.
//  * What can begin with an event that was taken from the node before is not in the queue.
//  * Nothing but the first leading request, or if there is none one of the others, is followed
//  next.
#ifndef MC_DPOR_REQUEST_QUEUE_H_
#define MC_DPOR_REQUEST_QUEUE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "dpor/event_code.h"
#include "dpor/event_pool.h"
#include "dpor/request_store.h"
#include "dpor/weak_initial.h"

namespace mc::dpor {

// Lists by Request::next: those that lead, oldest first; the others, newest first.
struct RequestQueue {
  RequestId leading = kNoRequest;
  RequestId others = kNoRequest;

  bool empty() const { return leading == kNoRequest && others == kNoRequest; }
  // Where the one to be followed next stands. The queue must not be empty.
  RequestId& front() { return leading != kNoRequest ? leading : others; }
  RequestId front() const { return leading != kNoRequest ? leading : others; }
};

enum class QueuePlace : uint8_t {
  kLeading,   // behind those that lead
  kOthers,    // it can begin with the event of one that leads, or its first event is not known
  kAbsorbed,  // nowhere: one that leads makes it superfluous
};

// RequestQueues: what is done with the queues whose requests are in one store, so that they keep
// their invariants.
class RequestQueues {
 public:
  RequestQueues(EventPool& pool, RequestStore& requests) : pool_(pool), requests_(requests) {}

  // Where a request for `v` belongs, which can begin with no event taken from the node so far.
  template <typename SameChoices>
  QueuePlace PlaceOf(const RequestQueue& queue, std::span<const EventId> v,
                     const SameChoices& same_choices) {
    for (RequestId r = queue.leading; r != kNoRequest; r = requests_[r].next) {
      const std::span<const EventId> leader = requests_[r].events();
      const int answer = WeakInitial(pool_, pool_[leader[0]], v, same_choices);
      if (answer == kNotInitial) continue;
      const bool absorbed = Absorbs(leader, v, answer, same_choices);
      return absorbed ? QueuePlace::kAbsorbed : QueuePlace::kOthers;
    }
    return pool_[v[0]].exact || lead_inexact ? QueuePlace::kLeading : QueuePlace::kOthers;
  }

  // Puts the request, which is in no list, there. Unless it is absorbed, or the same is in the
  // queue: then it is destroyed, and the answer is false. `key` tells the queue from the store's
  // others.
  bool Put(RequestId id, QueuePlace place, uint32_t key, RequestQueue* queue) {
    if (place == QueuePlace::kAbsorbed) {
      requests_.Destroy(id);
      return false;
    }
    RequestId* at = place == QueuePlace::kLeading ? &queue->leading : &queue->others;
    if (place == QueuePlace::kLeading) {
      while (*at != kNoRequest) at = &requests_[*at].next;
    }
    return requests_.Insert(id, key, at);
  }

  // Takes the request at the head of a list out of it.
  RequestId Take(RequestId* head) {
    const RequestId id = *head;
    *head = requests_[id].next;
    requests_.Unlist(id);
    return id;
  }

  void Clear(RequestQueue* queue) {
    while (!queue->empty()) requests_.Destroy(Take(&queue->front()));
  }

  bool HasSeveral(const RequestQueue& queue) const {
    if (queue.leading != kNoRequest && queue.others != kNoRequest) return true;
    return !queue.empty() && requests_[queue.front()].next != kNoRequest;
  }

  // Calls f(id) for each, those that lead first, in their order.
  template <typename F>
  void ForEach(const RequestQueue& queue, const F& f) const {
    for (RequestId r = queue.leading; r != kNoRequest; r = requests_[r].next) f(r);
    for (RequestId r = queue.others; r != kNoRequest; r = requests_[r].next) f(r);
  }

  // A number of requests, then these, in that order.
  void Write(const RequestQueue& queue, Words* words) const {
    const size_t count_at = words->size();
    words->push_back(0);
    ForEach(queue, [&](RequestId r) {
      WriteSequence(pool_, requests_[r].events(), words);
      ++(*words)[count_at];
    });
  }

  // For mutants only: what begins with an event that is not known exactly leads too; an event that
  // is not known exactly absorbs as if it was.
  bool lead_inexact = false;
  bool absorb_inexact = false;

 private:
  // Is nothing of `v` left to do where the leader was followed? `answer`: where v has its first
  // event.
  template <typename SameChoices>
  bool Absorbs(std::span<const EventId> leader, std::span<const EventId> v, int answer,
               const SameChoices& same_choices) {
    left_.assign(v.begin(), v.end());
    for (size_t k = 1; answer != kInitialAtNone; ++k) {
      left_.erase(left_.begin() + answer);
      if (left_.empty() || k == leader.size()) return true;
      const EventRecord& next = pool_[leader[k]];
      if (!next.exact && !absorb_inexact) return false;
      answer = WeakInitial(pool_, next, std::span<const EventId>(left_), same_choices);
      if (answer == kNotInitial) return false;
    }
    return true;
  }

  EventPool& pool_;
  RequestStore& requests_;
  std::vector<EventId> left_;
};

}  // namespace mc::dpor

#endif  // MC_DPOR_REQUEST_QUEUE_H_
