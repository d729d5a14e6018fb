// A library nobody changed for mc: Cameron Desrochers' single-producer single-consumer queue, as
// Debian ships it.
//
// A user of a lock-free library wants to know two things: that it does what it says, and what
// happens when the rules are broken. As documented (one thread enqueues, one dequeues) mc verifies
// it. With -DTWO_PRODUCERS two threads enqueue, which the documentation forbids: mc shows the race,
// and an execution in which the queue's own check that nobody else enqueues fails.
//
// Debian package: libreaderwriterqueue-dev
#include <readerwriterqueue/readerwriterqueue.h>

#include <cassert>
#include <thread>

int main() {
  moodycamel::ReaderWriterQueue<int> queue(1);

  std::thread producer([&] { queue.enqueue(1); });
#ifdef TWO_PRODUCERS
  std::thread second_producer([&] { queue.enqueue(1); });
#endif

  int item = 0;
  if (queue.try_dequeue(item)) assert(item == 1);  // may come too early and find nothing
  producer.join();
#ifdef TWO_PRODUCERS
  second_producer.join();
#endif
}
