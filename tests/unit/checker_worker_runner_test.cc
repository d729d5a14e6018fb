// The supervisor's side of the conversation, against zygotes and workers made up here: whatever
// they do, and however they end, the runner comes back with the right answer and the right bug.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <optional>

#include "checker/harness_process.h"
#include "checker/worker_runner.h"

namespace mc::checker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The harness's end of the socket.
class HarnessEnd {
 public:
  HarnessEnd(int fd, SharedState* shared) : fd_(fd), shared_(shared) {}

  void Say(const std::string& text) {
    const std::string line = text + "\n";
    SayUnfinished(line);
  }
  void SayUnfinished(const std::string& text) {
    if (write(fd_, text.data(), text.size()) < 0) _exit(3);
  }
  // The next message; the process ends with the supervisor.
  Message Hear() {
    for (;;) {
      const size_t end = input_.find('\n');
      if (end != std::string::npos) {
        Message message;
        if (!Message::Decode(input_.substr(0, end), &message)) _exit(4);
        input_.erase(0, end + 1);
        return message;
      }
      char buffer[4096];
      const ssize_t n = read(fd_, buffer, sizeof buffer);
      if (n <= 0) _exit(0);
      input_.append(buffer, static_cast<size_t>(n));
    }
  }
  void SayHello() {
    Say(std::string("hello version=0 abi=") + kProtocolVersion +
        " build_id=ab12 pid=1 executable=/x/y tests=A;B modules= entry=main");
  }
  SharedState& shared() { return *shared_; }

  // Serves as a zygote: a process for each `fork`, which runs `worker`.
  void ServeAsZygote(const std::function<void(HarnessEnd&)>& worker) {
    SayHello();
    for (;;) {
      const Message message = Hear();
      if (message.type() == "quit") return;
      if (message.type() != "fork") _exit(5);
      const pid_t pid = fork();
      if (pid == 0) {
        worker(*this);
        _exit(0);
      }
      Say("worker-started pid=" + std::to_string(pid));
      int status = 0;
      waitpid(pid, &status, 0);
      Say("worker-died pid=" + std::to_string(pid) + " status=" + std::to_string(status));
    }
  }

 private:
  int fd_;
  SharedState* shared_;
  std::string input_;
};

// A process that plays a harness.
class FakeHarness {
 public:
  explicit FakeHarness(const std::function<void(HarnessEnd&)>& script) {
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) abort();
    options.attach_control_fd = sockets[0];
    options.attach_shared_fd = memfd_create("test", 0);
    if (ftruncate(options.attach_shared_fd, sizeof(SharedState)) != 0) abort();
    void* memory = mmap(nullptr, sizeof(SharedState), PROT_READ | PROT_WRITE, MAP_SHARED,
                        options.attach_shared_fd, 0);
    pid_ = fork();
    if (pid_ == 0) {
      close(sockets[0]);
      HarnessEnd end(sockets[1], static_cast<SharedState*>(memory));
      script(end);
      _exit(0);
    }
    close(sockets[1]);
    munmap(memory, sizeof(SharedState));
    options.hello_timeout = absl::Seconds(20);
    options.hang_timeout = absl::Milliseconds(400);
  }
  ~FakeHarness() {
    process.reset();
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  absl::Status Start() {
    absl::StatusOr<std::unique_ptr<HarnessProcess>> started = HarnessProcess::Start(options);
    if (started.ok()) process = *std::move(started);
    return started.status();
  }

  HarnessOptions options;
  std::unique_ptr<HarnessProcess> process;

 private:
  pid_t pid_;
};

struct RecordedEvents : JobEvents {
  void OnProgress(const JobProgress& p) override { progress = p; }
  void OnCandidate(const CandidateView& c) override { candidates.push_back(c); }
  void OnBug() override { ++bugs; }
  void OnRestart() override { ++restarts; }
  void OnBoundedLoop() override { ++bounded_loops; }

  JobProgress progress;
  std::vector<CandidateView> candidates;
  int bugs = 0, restarts = 0, bounded_loops = 0;
};

// A harness whose workers do `worker`, and a runner for it.
struct Conversation {
  explicit Conversation(const std::function<void(HarnessEnd&)>& worker, WorkerOptions options = {})
      : harness([worker](HarnessEnd& end) { end.ServeAsZygote(worker); }),
        symbolizer({}),
        findings(FailOnRace::kConfirmed, &symbolizer) {
    const absl::Status status = harness.Start();
    EXPECT_TRUE(status.ok()) << status;
    runner.emplace(options, harness.process.get(), &findings, &symbolizer);
  }
  SliceResult Run(int job = 1, const char* pps = "lock") {
    return runner->Run(job, *PpSet::Parse(pps), {100, absl::Seconds(5), true}, events);
  }
  const Bug& OnlyBug() {
    EXPECT_EQ(findings.bugs().size(), 1u);
    static const Bug none;
    return findings.bugs().empty() ? none : *findings.bugs().front();
  }

  FakeHarness harness;
  Symbolizer symbolizer;
  Findings findings;
  std::optional<WorkerRunner> runner;
  RecordedEvents events;
};

std::string StartErrorOf(const std::function<void(HarnessEnd&)>& script,
                         absl::Duration timeout = absl::Seconds(20)) {
  FakeHarness harness(script);
  harness.options.hello_timeout = timeout;
  return std::string(harness.Start().message());
}

TEST(HarnessProcess, HelloIsUnderstood) {
  FakeHarness harness([](HarnessEnd& end) {
    end.Say(std::string("hello version=1.2 abi=") + kProtocolVersion +
            " build_id=ab12 pid=77 executable=/x/y tests=A;B "
            "modules=/bin/a,b,4096,8192;/lib/c.so,0x10000,0x20000 entry=check:3");
    end.Hear();
  });
  ASSERT_TRUE(harness.Start().ok());
  const Hello& hello = harness.process->hello();
  EXPECT_EQ(hello.build_id, "ab12");
  EXPECT_EQ(hello.pid, 77);
  EXPECT_EQ(hello.entry, "check:3");
  EXPECT_THAT(hello.tests, ElementsAre("A", "B"));
  ASSERT_EQ(hello.modules.size(), 2u);
  EXPECT_EQ(hello.modules[0].path, "/bin/a,b");
  EXPECT_EQ(hello.modules[0].base, 4096u);
  EXPECT_EQ(hello.modules[1].end, 0x20000u);
}

TEST(HarnessProcess, WhatIsNoHelloIsAnError) {
  EXPECT_THAT(StartErrorOf([](HarnessEnd& end) { end.Say("hello version=9.9 abi=0"); }),
              HasSubstr("built for another version"));
  EXPECT_THAT(StartErrorOf([](HarnessEnd&) { pause(); }, absl::Milliseconds(300)),
              HasSubstr("did not come to its main in time"));
  EXPECT_THAT(StartErrorOf([](HarnessEnd&) {}), HasSubstr("ended before its main"));
  EXPECT_THAT(StartErrorOf([](HarnessEnd& end) { end.Say("error message=no%20room"); }),
              HasSubstr("no room"));
  EXPECT_THAT(StartErrorOf([](HarnessEnd& end) { end.Say("what"); }), HasSubstr("'what'"));
}

TEST(HarnessProcess, FilesThatAreNoHarness) {
  const auto error = [](const std::string& path) {
    HarnessOptions options;
    options.path = path;
    return std::string(HarnessProcess::Start(options).status().message());
  };
  EXPECT_THAT(error("/nowhere/at-all"), HasSubstr("cannot open harness '/nowhere/at-all'"));
  EXPECT_THAT(error("/bin/true"), HasSubstr("not built with mc-c++"));
  EXPECT_THAT(error("/"), HasSubstr("is not a file"));
  EXPECT_THAT(error("/proc/self/cmdline"), HasSubstr("not a program"));
}

TEST(WorkerRunner, DefinesAJobOnceAndRunsIt) {
  SearchSettings settings;
  settings.seed = 5;
  settings.disabled = {"posts", "barriers"};
  Conversation talk(
      [](HarnessEnd& end) {
        const Message job = end.Hear();
        if (job.type() != "job" || job.Number("id") != 1 || job.Text("strategy") != "odpor" ||
            job.Number("classes") != sched::kPpLock || job.Text("ranges") != "15,16;31,32" ||
            job.Text("test") != "A" || job.Number("seed") != 5 ||
            job.Text("disabled") != "posts;barriers") {
          _exit(10);
        }
        const Message run = end.Hear();
        if (run.type() != "run" || run.Number("executions") != 100 ||
            run.Number("milliseconds") != 5000 || run.Number("stop_on_bug") != 1) {
          _exit(11);
        }
        end.Say("progress id=1 executions=3 blocked=1 transitions=30 estimate=7.5 seconds=0.5");
        end.Say("progress id=8 executions=99");  // of a job dropped long ago
        end.Say(
            "paused id=1 reason=time executions=4 blocked=1 transitions=40 estimate=8 seconds=1");
        if (end.Hear().type() != "run") _exit(12);
        end.Say("complete id=1 executions=9 blocked=2 transitions=90 estimate=9 seconds=2");
        end.Hear();
      },
      {settings, "A"});
  EXPECT_EQ(talk.Run(1, "lock,access:0x20,access:0x10").end, SliceEnd::kPaused);
  EXPECT_EQ(talk.events.progress.executions, 4u);
  EXPECT_EQ(talk.events.progress.blocked, 1u);
  EXPECT_EQ(talk.events.progress.estimate, 8);
  EXPECT_EQ(talk.Run(1, "lock,access:0x20,access:0x10").end, SliceEnd::kComplete);
  EXPECT_EQ(talk.events.progress.executions, 9u);
  EXPECT_THAT(talk.findings.bugs(), IsEmpty());
}

TEST(WorkerRunner, CodeThatIsNotThereIsAFailure) {
  Conversation talk([](HarnessEnd& end) { end.Hear(); });
  EXPECT_EQ(talk.Run(1, "access:nothing.cc:3").end, SliceEnd::kFailed);
  EXPECT_THAT(std::string(talk.runner->failure().message()), HasSubstr("access:nothing.cc:3"));
}

TEST(WorkerRunner, ABugIsAFinding) {
  Conversation talk([](HarnessEnd& end) {
    end.Hear(), end.Hear();
    end.Say(
        "bug id=1 kind=assertion message=a%20%3d%3d%20b thread=1 pc=100 stack=100,200 "
        "schedule=0;1:2@100/lock threads=0;0.1 preemptions=1 details= executions=7");
    end.Say("bug id=1 kind=assertion message=again thread=1 pc=100 stack=100,200");
    end.Say("paused id=1 reason=bug executions=7");
    end.Hear();
  });
  EXPECT_EQ(talk.Run().end, SliceEnd::kStoppedAtBug);
  EXPECT_EQ(talk.events.bugs, 2);
  const Bug& bug = talk.OnlyBug();
  EXPECT_EQ(bug.kind, sched::BugKind::kAssertion);
  EXPECT_EQ(bug.message, "a == b");
  EXPECT_EQ(bug.thread, 1);
  EXPECT_EQ(EncodeSteps(bug.steps), "0;1:2");
  EXPECT_THAT(bug.threads, ElementsAre("0", "0.1"));
  EXPECT_EQ(bug.preemptions, 1u);
  EXPECT_EQ(bug.pps, "lock");
}

TEST(WorkerRunner, ACrashIsABugWithTheScheduleFromSharedMemory) {
  Conversation talk([](HarnessEnd& end) {
    end.Hear(), end.Hear();
    end.Say("progress id=1 executions=3 threads=0;0.1");
    const uint16_t steps[] = {0, 1, 0x8000 | 4, 0x8000, 0};
    for (uint16_t step : steps) end.shared().step[end.shared().steps++] = step;
    end.shared().executions = 5;
    end.shared().in_program = 1;
    end.SayUnfinished("race id=1 a=");  // it dies in the middle of a word
    end.shared().last_words.own_signal = SIGKILL;
    raise(SIGKILL);
  });
  const SliceResult result = talk.Run();
  EXPECT_EQ(result.end, SliceEnd::kCrashed);
  EXPECT_TRUE(result.trees_lost);
  EXPECT_EQ(talk.events.progress.executions, 5u);
  EXPECT_EQ(talk.events.bugs, 1);
  const Bug& bug = talk.OnlyBug();
  EXPECT_EQ(bug.kind, sched::BugKind::kCrash);
  EXPECT_EQ(EncodeSteps(bug.steps), "0;1:4.0;0");
  EXPECT_THAT(bug.threads, ElementsAre("0", "0.1"));
  EXPECT_THAT(bug.message, HasSubstr("signal 9"));
}

TEST(WorkerRunner, AWorkerThatSomebodyElseKillsIsNoBug) {
  for (int number : {SIGKILL, SIGTERM, SIGHUP, SIGQUIT}) {
    Conversation talk([number](HarnessEnd& end) {
      end.Hear(), end.Hear();
      end.Say(
          "bug id=1 kind=assertion message=x thread=0 pc=100 stack= schedule=0 threads=0 "
          "executions=7");
      end.Say("progress id=1 executions=9");
      end.shared().in_program = 1;
      end.shared().executions = 11;
      raise(number);
    });
    EXPECT_EQ(talk.Run().end, SliceEnd::kFailed) << number;
    EXPECT_THAT(std::string(talk.runner->failure().message()),
                testing::AllOf(HasSubstr("killed from outside"),
                               HasSubstr("signal " + std::to_string(number))));
    // Nothing found so far is lost, and another worker can go on.
    EXPECT_EQ(talk.OnlyBug().kind, sched::BugKind::kAssertion);
    EXPECT_EQ(talk.events.progress.executions, 11u);
    EXPECT_EQ(talk.Run().end, SliceEnd::kFailed);
  }
}

TEST(WorkerRunner, AFaultSignalCountsAsForeignOnlyIfTheWorkerSaidSo) {
  for (const bool foreign : {false, true}) {
    Conversation talk([foreign](HarnessEnd& end) {
      end.Hear(), end.Hear();
      if (foreign) end.shared().last_words.foreign_signal = SIGSEGV;
      signal(SIGSEGV, SIG_DFL);  // a sanitizer's handler would exit
      raise(SIGSEGV);
    });
    EXPECT_EQ(talk.Run().end, foreign ? SliceEnd::kFailed : SliceEnd::kCrashed);
    EXPECT_EQ(talk.findings.bugs().size(), foreign ? 0u : 1u);
  }
}

TEST(WorkerRunner, AWorkerThatIsStoppedDoesNotHang) {
  Conversation talk([](HarnessEnd& end) {
    end.Hear(), end.Hear();
    end.shared().in_program = 1;
    const pid_t worker = getpid();
    if (fork() == 0) {
      usleep(1'200'000);  // three times what is taken for a hang
      kill(worker, SIGCONT);
      _exit(0);
    }
    raise(SIGSTOP);
    end.shared().in_program = 0;
    end.Say("complete id=1 executions=1");
    end.Hear();
  });
  EXPECT_EQ(talk.Run().end, SliceEnd::kComplete);
  EXPECT_THAT(talk.findings.bugs(), IsEmpty());
}

TEST(WorkerRunner, AfterACrashANewWorkerIsToldTheJobsAgain) {
  Conversation talk([](HarnessEnd& end) {
    const Message job = end.Hear();
    if (job.type() != "job") _exit(10);
    end.Hear();
    if (job.Number("id") == 1) _exit(7);
    end.Say("complete id=2 executions=1");
    end.Hear();
  });
  EXPECT_EQ(talk.Run(1, "lock").end, SliceEnd::kCrashed);
  EXPECT_THAT(talk.OnlyBug().message, HasSubstr("exited with status 7"));
  EXPECT_EQ(talk.Run(2, "unlock").end, SliceEnd::kComplete);
}

TEST(WorkerRunner, AHangIsALivelockSaidToBeAHeuristic) {
  Conversation talk([](HarnessEnd& end) {
    end.Hear(), end.Hear();
    end.shared().step[0] = 0;
    end.shared().step[1] = 2;
    end.shared().steps = 2;
    end.shared().in_program = 1;
    // As long as it moves it does not hang, however long that takes.
    for (int i = 0; i < 16; ++i) {
      ++end.shared().transitions;
      usleep(50'000);
    }
    for (;;) pause();
  });
  const absl::Time begin = absl::Now();
  EXPECT_EQ(talk.Run().end, SliceEnd::kCrashed);
  EXPECT_GT(absl::Now() - begin, absl::Milliseconds(1100));
  EXPECT_EQ(talk.OnlyBug().kind, sched::BugKind::kLivelock);
  EXPECT_EQ(EncodeSteps(talk.OnlyBug().steps), "0;2");
  EXPECT_THAT(talk.OnlyBug().details, HasSubstr("heuristic"));
}

TEST(WorkerRunner, AnExecutionThatTakesTooMuchMemoryIsABug) {
  FakeHarness harness([](HarnessEnd& end) {
    end.ServeAsZygote([](HarnessEnd& worker) {
      worker.Hear(), worker.Hear();
      // The searches' own memory, between executions, is not the program's.
      std::string of_the_search(40 << 20, 'x');
      for (int i = 0; i < 5; ++i) {
        ++worker.shared().executions;
        usleep(110'000);
      }
      worker.shared().in_program = 1;
      std::string of_the_program;
      for (;;) {
        of_the_program.append(1 << 20, of_the_search[0]);
        ++worker.shared().transitions;
        usleep(10'000);
      }
    });
  });
  harness.options.memory_limit = 30 << 20;
  ASSERT_TRUE(harness.Start().ok());
  Symbolizer symbolizer({});
  Findings findings(FailOnRace::kConfirmed, &symbolizer);
  WorkerRunner runner({}, harness.process.get(), &findings, &symbolizer);
  RecordedEvents events;
  EXPECT_EQ(runner.Run(1, PpSet(), {100, absl::Seconds(5), true}, events).end, SliceEnd::kCrashed);
  ASSERT_EQ(findings.bugs().size(), 1u);
  EXPECT_EQ(findings.bugs()[0]->kind, sched::BugKind::kOutOfMemory);
  EXPECT_EQ(events.progress.executions, 5u);
}

TEST(WorkerRunner, EngineCodeMayTakeItsTime) {
  Conversation talk([](HarnessEnd& end) {
    end.Hear(), end.Hear();
    usleep(900'000);
    end.Say("complete id=1 executions=1");
    end.Hear();
  });
  EXPECT_EQ(talk.Run().end, SliceEnd::kComplete);
}

TEST(WorkerRunner, DivergenceAndErrorsAreFailures) {
  Conversation diverging([](HarnessEnd& end) {
    end.Hear(), end.Hear();
    end.Say(
        "diverged id=1 step=4 thread=1 threads=0;0.1 expected=lock%20at%20{pc:0x20} found=read "
        "standing=T0%20(main)%20has%20ended%0aT1%20(0.1)%20can%20run");
    end.Hear();
  });
  EXPECT_EQ(diverging.Run().end, SliceEnd::kFailed);
  EXPECT_THAT(std::string(diverging.runner->failure().message()),
              testing::AllOf(HasSubstr("diverged"), HasSubstr("step 4. T1 (0.1): expected"),
                             HasSubstr("'lock at 0x20'"), HasSubstr("found 'read'"),
                             HasSubstr("\n  T0 (main) has ended\n  T1 (0.1) can run\n"),
                             HasSubstr("uninitialised memory"), HasSubstr("fault of mc")));
  // What is not known is left out: no empty names.
  Conversation terse([](HarnessEnd& end) {
    end.Hear(), end.Hear();
    end.Say("diverged id=1 step=7 message=step%207:%20a%20choice%20of%203%20was%20not%20there");
    end.Hear();
  });
  EXPECT_EQ(terse.Run().end, SliceEnd::kFailed);
  EXPECT_THAT(std::string(terse.runner->failure().message()),
              testing::AllOf(HasSubstr("at step 7. a choice of 3 was not there\n"),
                             testing::Not(HasSubstr("''")), testing::Not(HasSubstr("Threads"))));
  Conversation failing([](HarnessEnd& end) {
    end.Hear(), end.Hear();
    end.Say("error id=1 message=no%20such%20thing");
    end.Hear();
  });
  EXPECT_EQ(failing.Run().end, SliceEnd::kFailed);
  EXPECT_EQ(failing.runner->failure().message(), "no such thing");
}

TEST(WorkerRunner, StreamsAreKept) {
  Conversation talk(
      [](HarnessEnd& end) {
        const Message job = end.Hear();
        if (job.Number("tree") != 1 || job.Number("final_states") != 1) _exit(10);
        end.Hear();
        end.Say("execution id=1 steps=0;1 outcome=ok");
        end.Say("restart id=1 reason=site");
        end.Say("execution id=1 steps=0;1;0 outcome=bug");
        end.Say("final id=1 hash=12 outcome=ok");
        end.Say("final id=1 hash=11 outcome=ok");
        end.Say("final id=1 hash=12 outcome=ok");
        end.Say("complete id=1 executions=1");
        end.Hear();
      },
      {.settings = {}, .test = "", .stream_executions = true, .final_states = true});
  EXPECT_EQ(talk.Run().end, SliceEnd::kComplete);
  EXPECT_EQ(talk.events.restarts, 1);
  ASSERT_EQ(talk.runner->executions().size(), 1u);  // those before the restart do not count
  EXPECT_EQ(EncodeSteps(talk.runner->executions()[0].steps), "0;1;0");
  EXPECT_THAT(talk.runner->final_states(), ElementsAre("11 ok", "12 ok"));
}

// ---------------------------------------------------------------------------------------------

struct Races {
  explicit Races(FailOnRace policy = FailOnRace::kConfirmed)
      : symbolizer({}), findings(policy, &symbolizer) {}
  Bug* Add(const std::string& text) {
    Message message;
    EXPECT_TRUE(Message::Decode(text, &message));
    Bug* bug = nullptr;
    last = &findings.AddRace(message, "sync", &bug);
    return bug;
  }
  Symbolizer symbolizer;
  Findings findings;
  const Race* last = nullptr;
};

TEST(Findings, TwoJobsEachSeeOneOrder) {
  Races races;
  races.Add("race a=1 b=2 a_kind=read b_kind=write status=suspected earlier=b");
  EXPECT_EQ(races.last->status, racedet::CandidateStatus::kSuspected);
  CandidateView view = races.findings.ViewOf(*races.last);
  EXPECT_EQ(view.earlier_pc, 2u);
  EXPECT_TRUE(view.order_known);
  races.Add("race a=1 b=2 a_kind=read b_kind=write status=suspected earlier=a");
  EXPECT_EQ(races.last->status, racedet::CandidateStatus::kConfirmed);
  // A later, weaker word changes nothing.
  races.Add("race a=1 b=2 a_kind=read b_kind=write status=malloc-recycle");
  EXPECT_EQ(races.last->status, racedet::CandidateStatus::kConfirmed);
  EXPECT_EQ(races.findings.races().size(), 1u);
}

TEST(Findings, KindsAreTheStrongestThatAnyJobSaw) {
  Races races;
  Bug* const bug = races.Add(
      "race a=1 b=2 a_kind=atomic%20read b_kind=write status=suspected unordered=1 data_race=1");
  ASSERT_NE(bug, nullptr);
  races.Add("race a=1 b=2 a_kind=atomic%20read-modify-write b_kind=read status=suspected");
  EXPECT_EQ(races.last->a.kind, "atomic read-modify-write");
  EXPECT_EQ(races.last->b.kind, "write");
  EXPECT_TRUE(bug->message.starts_with("atomic read-modify-write and write of ")) << bug->message;
}

TEST(Findings, WithoutAWordOnOrderItIsUnknown) {
  Races races;
  races.Add("race a=1 b=2 a_kind=read b_kind=write status=suspected");
  races.Add("race a=1 b=2 a_kind=read b_kind=write status=suspected");
  EXPECT_EQ(races.last->status, racedet::CandidateStatus::kSuspected);
  EXPECT_FALSE(races.findings.ViewOf(*races.last).order_known);
}

TEST(Findings, MallocRecycleIsDiscardedUntilPromoted) {
  Races races(FailOnRace::kSuspected);
  EXPECT_EQ(races.Add("race a=1 b=2 a_kind=read b_kind=write status=malloc-recycle"), nullptr);
  EXPECT_EQ(races.findings.malloc_recycle_discarded(), 1u);
  EXPECT_NE(races.Add("race a=1 b=2 a_kind=read b_kind=write status=suspected"), nullptr);
  EXPECT_EQ(races.findings.malloc_recycle_discarded(), 0u);
  EXPECT_TRUE(races.last->promoted);
}

TEST(Findings, WhichRacesAreBugs) {
  const std::string ordered = "race a=1 b=2 a_kind=read b_kind=write status=confirmed";
  const std::string data_race =
      "race a=3 b=4 a_kind=read b_kind=write status=suspected unordered=1 data_race=1 "
      "schedule=0;1 threads=0;0.1 preemptions=1";
  const std::string atomic =
      "race a=5 b=6 a_kind=atomic%20read b_kind=atomic%20write status=confirmed unordered=1";
  const auto kinds = [&](FailOnRace policy) {
    Races races(policy);
    std::string bugs;
    for (const std::string& race : {ordered, data_race, atomic}) {
      bugs += races.Add(race) != nullptr ? '1' : '0';
    }
    EXPECT_EQ(races.Add(data_race), nullptr);  // once is enough
    return bugs;
  };
  EXPECT_EQ(kinds(FailOnRace::kConfirmed), "010");
  EXPECT_EQ(kinds(FailOnRace::kSuspected), "110");
  EXPECT_EQ(kinds(FailOnRace::kNever), "000");
}

}  // namespace
}  // namespace mc::checker
