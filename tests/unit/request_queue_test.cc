// Which requests lead, which are absorbed, and in which order a queue is followed.
#include "dpor/request_queue.h"

#include <gtest/gtest.h>

#include <vector>

namespace mc::dpor {
namespace {

class RequestQueueTest : public testing::Test {
 protected:
  ~RequestQueueTest() override {
    queues_.Clear(&queue_);
    for (const EventId e : made_) pool_.Release(e);
    EXPECT_EQ(pool_.live(), 0U);
    EXPECT_EQ(requests_.live(), 0U);
  }

  // An event of the thread that writes the cell.
  EventId Event(sched::ThreadId thread, sched::Cell cell, bool exact = true) {
    const Range range = {cell, 1, sched::kWrite};
    made_.push_back(pool_.Create(thread, 0, exact, false, {&range, 1}, {}));
    return made_.back();
  }
  QueuePlace PlaceOf(const std::vector<EventId>& events) {
    return queues_.PlaceOf(queue_, events, &EventPool::SameChoices);
  }
  QueuePlace Add(const std::vector<EventId>& events) {
    const QueuePlace place = PlaceOf(events);
    const RequestId id = requests_.Create(static_cast<uint32_t>(events.size()));
    for (const EventId e : events) {
      pool_.AddReference(e);
      requests_.Append(id, e);
    }
    EXPECT_EQ(queues_.Put(id, place, 0, &queue_), place != QueuePlace::kAbsorbed);
    return place;
  }
  // The first event of the request that is to be followed next, which is taken out.
  EventId Next() {
    const RequestId id = queues_.Take(&queue_.front());
    const EventId first = requests_[id].events()[0];
    requests_.Destroy(id);
    return first;
  }

  EventPool pool_;
  RequestStore requests_{pool_};
  RequestQueues queues_{pool_, requests_};
  RequestQueue queue_;
  std::vector<EventId> made_;
};

TEST_F(RequestQueueTest, ThoseThatLeadAreFollowedFirstAndInTheirOrder) {
  const EventId a = Event(0, 1), b = Event(1, 1), c = Event(2, 1), unknown = Event(3, 1, false);
  EXPECT_EQ(Add({unknown}), QueuePlace::kOthers);
  EXPECT_EQ(Add({a}), QueuePlace::kLeading);
  EXPECT_EQ(Add({b}), QueuePlace::kLeading);
  EXPECT_EQ(Add({c}), QueuePlace::kLeading);
  EXPECT_TRUE(queues_.HasSeveral(queue_));
  EXPECT_EQ(Next(), a);
  EXPECT_EQ(Next(), b);
  EXPECT_EQ(Next(), c);
  EXPECT_FALSE(queues_.HasSeveral(queue_));
  EXPECT_EQ(Next(), unknown);
  EXPECT_TRUE(queue_.empty());
}

TEST_F(RequestQueueTest, WhatALeaderMakesSuperfluousIsAbsorbed) {
  const EventId a = Event(0, 1), b = Event(1, 2), c = Event(2, 3);
  EXPECT_EQ(Add({a, b}), QueuePlace::kLeading);
  EXPECT_EQ(PlaceOf({c}), QueuePlace::kAbsorbed);        // independent of its first event
  EXPECT_EQ(PlaceOf({a, c}), QueuePlace::kAbsorbed);     // and of its second
  EXPECT_EQ(PlaceOf({b, a, c}), QueuePlace::kAbsorbed);  // begins with both: goes on where it ends
  EXPECT_EQ(PlaceOf({b, a}), QueuePlace::kAbsorbed);     // the same in another order
  EXPECT_EQ(PlaceOf({a}), QueuePlace::kAbsorbed);
}

TEST_F(RequestQueueTest, WhatLeavesTheLeadersWayIsKept) {
  const EventId a = Event(0, 1), b = Event(1, 2);
  const EventId against_a = Event(2, 1), against_b = Event(3, 2);
  EXPECT_EQ(Add({a, b}), QueuePlace::kLeading);
  // Begins with a, but not with b then: handed down when a is taken, so it must not lead.
  EXPECT_EQ(PlaceOf({a, against_b}), QueuePlace::kOthers);
  EXPECT_EQ(PlaceOf({against_b}), QueuePlace::kAbsorbed);
  // Cannot begin with a: the next child.
  EXPECT_EQ(Add({against_a, b}), QueuePlace::kLeading);
  EXPECT_EQ(Next(), a);
  EXPECT_EQ(PlaceOf({b}), QueuePlace::kAbsorbed);  // by the second
}

TEST_F(RequestQueueTest, WhatIsNotKnownAbsorbsNothing) {
  const EventId a = Event(0, 1), unknown = Event(1, 2, false), c = Event(2, 3), d = Event(3, 4);
  EXPECT_EQ(Add({unknown}), QueuePlace::kOthers);
  EXPECT_EQ(PlaceOf({c}), QueuePlace::kLeading);
  EXPECT_EQ(Add({a, unknown}), QueuePlace::kLeading);
  EXPECT_EQ(PlaceOf({a, c}), QueuePlace::kOthers);
  EXPECT_EQ(PlaceOf({a, unknown, d}), QueuePlace::kOthers);
  EXPECT_EQ(PlaceOf({a}), QueuePlace::kAbsorbed);
}

TEST_F(RequestQueueTest, IsWrittenThoseThatLeadFirst) {
  const EventId a = Event(0, 1), b = Event(1, 1), unknown = Event(2, 1, false);
  Add({unknown});
  Add({a});
  Add({b});
  Words words;
  queues_.Write(queue_, &words);
  WordReader reader(words);
  ASSERT_EQ(reader.Next(), 3U);
  for (const EventId expected : {a, b, unknown}) {
    const RequestId read = ReadSequence(reader, &pool_, &requests_);
    EXPECT_EQ(pool_[requests_[read].events()[0]].thread, pool_[expected].thread);
    requests_.Destroy(read);
  }
  EXPECT_TRUE(reader.AtEnd());
}

}  // namespace
}  // namespace mc::dpor
