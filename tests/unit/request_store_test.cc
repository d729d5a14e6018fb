// The table of requests tells requests apart that have the same events in another order.
#include "dpor/request_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

namespace mc::dpor {
namespace {

TEST(RequestStore, OrdersOfTheSameEventsHaveOtherIdentities) {
  EventPool pool;
  RequestStore requests(pool);
  std::vector<EventId> events;
  for (sched::ThreadId thread = 0; thread < 6; ++thread) {
    const Range range = {thread, 1, sched::kWrite};
    events.push_back(pool.Create(thread, 0, true, false, {&range, 1}, {}));
  }
  RequestId list = kNoRequest;
  std::set<uint64_t> identities;
  do {
    const RequestId id = requests.Create(6);
    for (const EventId e : events) {
      pool.AddReference(e);
      requests.Append(id, e);
    }
    ASSERT_TRUE(requests.Insert(id, 3, &list));
    identities.insert(requests[id].identity);
  } while (std::ranges::next_permutation(events).found);
  EXPECT_EQ(identities.size(), 720u);
  // A search of 17 threads that insert into one hash table took minutes for one execution when
  // they were equal.
}

TEST(RequestStore, TheSameGoesInOnce) {
  EventPool pool;
  RequestStore requests(pool);
  RequestId list = kNoRequest;
  for (int round = 0; round < 3; ++round) {
    const RequestId id = requests.Create(3);
    for (sched::ThreadId thread = 2; thread < 5; ++thread) {
      requests.Append(id, pool.Create(thread, 7, true, false, {}, {}));
    }
    if (round > 0) requests.RemoveEvent(id, 1);
    // The first has three events, the second and the third the same two.
    EXPECT_EQ(requests.Insert(id, 1, &list), round < 2);
  }
  EXPECT_EQ(requests.live(), 2u);
}

TEST(RequestStore, TheIdentityIsThatOfWhatIsLeft) {
  EventPool pool;
  RequestStore requests(pool);
  std::mt19937 random(7);
  for (int round = 0; round < 1000; ++round) {
    std::vector<EventId> left;
    const RequestId shrinking = requests.Create(12);
    for (sched::ThreadId thread = 0; thread < 12; ++thread) {
      left.push_back(pool.Create(thread, random() % 3, true, false, {}, {}));
      pool.AddReference(left.back());
      requests.Append(shrinking, left.back());
    }
    while (left.size() > 1) {
      const uint32_t k = random() % left.size();
      requests.RemoveEvent(shrinking, k);
      pool.Release(left[k]);
      left.erase(left.begin() + k);
      const RequestId fresh = requests.Create(static_cast<uint32_t>(left.size()));
      for (const EventId e : left) {
        pool.AddReference(e);
        requests.Append(fresh, e);
      }
      ASSERT_EQ(requests[shrinking].identity, requests[fresh].identity);
      requests.Destroy(fresh);
    }
    pool.Release(left[0]);
    requests.Destroy(shrinking);
  }
  EXPECT_EQ(pool.live(), 0u);
}

}  // namespace
}  // namespace mc::dpor
