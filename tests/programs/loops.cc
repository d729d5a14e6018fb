// Loops that wait and change something each time round. tests/e2e/loops.test says what mc must make
// of each.
#include <assert.h>
#include <fcntl.h>
#include <mc/mc.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace {

std::atomic<bool> flag{false}, stop{false};
std::atomic<int> shared_count{0}, beats{0}, data{0};
int rounds = 0;  // in the end, how many there were: part of the final state
std::mutex mutex;

void Set() { flag = true; }

}  // namespace

// ---- Another thread ends them: no bug. The state tells how many rounds there were.

MC_TEST(CountAndYield) {
  std::thread setter(Set);
  int n = 0;
  while (!flag) {
    ++n;
    sched_yield();
  }
  setter.join();
  rounds = n;
}

MC_TEST(CountGloballyAndSleep) {
  std::thread setter(Set);
  while (!flag) {
    ++rounds;
    usleep(10);
  }
  setter.join();
}

MC_TEST(BackOffExponentially) {
  std::thread setter(Set);
  useconds_t wait = 1;
  while (!flag) {
    usleep(wait);
    wait *= 2;
    ++rounds;
  }
  setter.join();
}

MC_TEST(SpinThenYieldThenSleep) {
  std::thread setter(Set);
  for (int n = 0; !flag; ++n) {
    if (n < 2) continue;
    n < 4 ? (void)sched_yield() : (void)usleep(1);
  }
  setter.join();
}

MC_TEST(CountRefusals) {
  const auto work = [] {
    int refused = 0;
    while (!mutex.try_lock()) ++refused;
    rounds += refused;
    mutex.unlock();
  };
  std::thread other(work);
  work();
  other.join();
}

MC_TEST(HeartBeat) {
  std::mutex m;
  std::condition_variable changed;
  bool stopped = false;
  std::thread heart([&] {
    std::unique_lock<std::mutex> lock(m);
    while (!changed.wait_for(lock, std::chrono::seconds(1), [&] { return stopped; })) ++rounds;
  });
  {
    std::lock_guard<std::mutex> lock(m);
    stopped = true;
  }
  changed.notify_one();
  heart.join();
}

MC_TEST(WaitForOnStack) {
  std::mutex m;
  std::condition_variable changed;
  bool ready = false;
  std::thread setter([&] {
    std::lock_guard<std::mutex> lock(m);
    ready = true;
    changed.notify_one();
  });
  {
    std::unique_lock<std::mutex> lock(m);
    while (!ready) changed.wait_for(lock, std::chrono::milliseconds(1));
  }
  setter.join();
}

MC_TEST(TimedSemaphoreCounts) {
  static sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  std::thread poster([] { sem_post(&semaphore); });
  timespec deadline;
  do {
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += 1;
    ++rounds;
  } while (sem_timedwait(&semaphore, &deadline) != 0);
  poster.join();
}

MC_TEST(WatchDog) {
  std::thread watcher([] {
    int last = -1;
    while (!stop) {
      const int now = beats;
      if (now == last) ++rounds;
      last = now;
      std::this_thread::sleep_for(std::chrono::seconds(1));
    }
  });
  ++beats;
  stop = true;
  watcher.join();
}

// Each changes what the other reads; the third thread stops both.
MC_TEST(CountersKeepEachOtherGoing) {
  const auto count = [] {
    while (!stop) {
      ++shared_count;
      sched_yield();
    }
  };
  std::thread one(count), two(count);
  stop = true;
  one.join();
  two.join();
}

MC_TEST(ProducerAndConsumerUntilStop) {
  static std::atomic<int> slot{0};
  std::thread producer([] {
    for (int next = 1; !stop;) {
      int empty = 0;
      if (slot.compare_exchange_strong(empty, next)) {
        ++next;
      } else {
        sched_yield();
      }
    }
  });
  std::thread consumer([] {
    while (!stop) {
      if (slot.exchange(0) == 0) sched_yield();
    }
  });
  stop = true;
  producer.join();
  consumer.join();
}

// A loop that is waited for: it must go on although it has used up its rounds.
MC_TEST(NeedsManyRounds) {
  std::thread setter([] {
    while (beats < 10) sched_yield();
    flag = true;
  });
  while (!flag) {
    ++beats;
    sched_yield();
  }
  setter.join();
}

// So must each of two that wait for each other's rounds.
MC_TEST(NeedEachOthersRounds) {
  static std::atomic<int> mine{0}, yours{0};
  std::thread other([] {
    int idle = 0;
    for (; yours < 2; ++idle) {
      if (mine > yours) ++yours;
      sched_yield();
    }
    shared_count = idle;
  });
  int idle = 0;
  for (; yours < 2; ++idle) {
    if (mine == yours) ++mine;
    sched_yield();
  }
  rounds = idle;
  other.join();
}

MC_TEST(CountWithoutWaiting) {
  std::thread worker([] {
    while (!stop) ++shared_count;
  });
  stop = true;
  worker.join();
}

MC_TEST(CountUnderLock) {
  std::thread worker([] {
    for (;;) {
      std::lock_guard<std::mutex> lock(mutex);
      if (stop) return;
      ++rounds;
    }
  });
  {
    std::lock_guard<std::mutex> lock(mutex);
    stop = true;
  }
  worker.join();
}

// ---- The same through the kernel

MC_TEST(ReadUntilThere) {
  int ends[2];
  assert(pipe2(ends, O_NONBLOCK) == 0);
  std::thread writer([&] { assert(write(ends[1], "x", 1) == 1); });
  char c = 0;
  while (read(ends[0], &c, 1) != 1) ++rounds;
  assert(c == 'x');
  writer.join();
  close(ends[0]);
  close(ends[1]);
}

MC_TEST(ReadAndYieldUntilThere) {
  int ends[2];
  assert(pipe2(ends, O_NONBLOCK) == 0);
  std::thread writer([&] { assert(write(ends[1], "x", 1) == 1); });
  char c = 0;
  while (read(ends[0], &c, 1) != 1) sched_yield();
  writer.join();
  close(ends[0]);
  close(ends[1]);
}

// What the file holds is no part of what the spin rule compares.
MC_TEST(ReadEqualBytes) {
  FILE* const file = tmpfile();
  fputs("xxxxxxxxy", file);
  fflush(file);
  lseek(fileno(file), 0, SEEK_SET);
  char c = 0;
  while (read(fileno(file), &c, 1) == 1 && c == 'x') sched_yield();
  assert(c == 'y');
  fclose(file);
}

MC_TEST(PollWithTimeOut) {
  int ends[2];
  assert(pipe(ends) == 0);
  std::thread writer([&] { assert(write(ends[1], "x", 1) == 1); });
  pollfd wanted = {ends[0], POLLIN, 0};
  while (poll(&wanted, 1, 10) == 0) ++rounds;
  char c;
  assert(read(ends[0], &c, 1) == 1);
  writer.join();
  close(ends[0]);
  close(ends[1]);
}

MC_TEST(SelectWithTimeOut) {
  const int event = eventfd(0, EFD_NONBLOCK);
  std::thread writer([&] { assert(eventfd_write(event, 1) == 0); });
  for (;;) {
    fd_set wanted;
    FD_ZERO(&wanted);
    FD_SET(event, &wanted);
    timeval time = {0, 1000};
    if (select(event + 1, &wanted, nullptr, nullptr, &time) == 1) break;
  }
  writer.join();
  close(event);
}

MC_TEST(WaitForEventsWithTimeOut) {
  const int event = eventfd(0, EFD_NONBLOCK);
  const int wanted = epoll_create1(0);
  epoll_event what = {};
  what.events = EPOLLIN;
  assert(epoll_ctl(wanted, EPOLL_CTL_ADD, event, &what) == 0);
  std::thread writer([&] { assert(eventfd_write(event, 1) == 0); });
  epoll_event found;
  while (epoll_wait(wanted, &found, 1, 10) == 0) ++rounds;
  writer.join();
  close(wanted);
  close(event);
}

MC_TEST(WaitForFile) {
  unlink("mc_loops_file");
  std::thread maker([] { close(open("mc_loops_file", O_CREAT | O_WRONLY, 0600)); });
  while (access("mc_loops_file", F_OK) != 0) usleep(1000);
  maker.join();
  unlink("mc_loops_file");
}

// ---- They end by themselves

MC_TEST(BoundedAttempts) {
  std::thread setter(Set);
  int n = 0;
  for (; n < 20 && !flag; ++n) sched_yield();
  setter.join();
  rounds = n;
}

MC_TEST(BoundedAttemptsFail) {
  std::thread setter(Set);
  int n = 0;
  for (; n < 20 && !flag; ++n) sched_yield();
  assert(n < 20);
  setter.join();
}

// More rounds than are searched, and then the time is over.
MC_TEST(DeadlineIsMissed) {
  std::thread setter(Set);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!flag && std::chrono::steady_clock::now() < deadline) {
    ++rounds;
    usleep(1000);
  }
  assert(flag);
  setter.join();
}

// Nothing else can run, and so it goes on until it ends.
MC_TEST(ManyAttemptsAlone) {
  while (rounds < 1500) {
    ++rounds;
    sched_yield();
  }
}

// ---- Bugs

MC_TEST(NobodyEndsIt) {
  for (int n = 0; !flag; ++n) sched_yield();  // @for-ever
}

MC_TEST(NobodyEndsThem) {
  const auto wait = [] {
    for (int n = 0; !flag; ++n) usleep(1);
  };
  std::thread one(wait), two(wait);
  one.join();
  two.join();
}

// Of so many transitions that an execution is too long before it has made very many of them.
void ChangeEnvironment() {
  for (const char* value : {"1", "2", "3", "4", "5"}) setenv("ROUND", value, 1);
}
MC_TEST(RoundsOfManyTransitions) {
  std::thread setter(Set);
  while (!flag) ChangeEnvironment();
  setter.join();
}
MC_TEST(NobodyEndsLongRounds) {
  std::thread waits([] {
    while (!flag) ChangeEnvironment();
  });
  while (!flag) ChangeEnvironment();
  waits.join();
}

MC_TEST(SleepsForEver) {
  std::thread sleeper([] {
    for (;; ++rounds) std::this_thread::sleep_for(std::chrono::seconds(1));
  });
  sleeper.join();
}

MC_TEST(FailsInALateRound) {
  std::thread setter(Set);
  for (int n = 0; !flag; ++n) {
    assert(n < 500);
    sched_yield();
  }
  setter.join();
}

MC_TEST(FailsBehindTheLoop) {
  std::thread setter([] {
    while (beats < 5) sched_yield();
    flag = true;
    data = 1;
  });
  while (!flag) {
    ++beats;
    sched_yield();
  }
  assert(data == 1);
  setter.join();
}

MC_TEST(DaemonGoesOn) {
  std::thread([] {
    for (;; ++rounds) usleep(1);
  }).detach();
}

// ---- Loops that end by themselves, or only look.

MC_TEST(SomeRounds) {
  std::thread other([] { shared_count = 100; });
  for (int n = 0; n < 20; ++n) {
    ++shared_count;
    sched_yield();
  }
  other.join();
}

MC_TEST(OnlyLooks) {
  std::thread setter(Set);
  while (!flag) sched_yield();
  setter.join();
}
