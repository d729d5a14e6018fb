// <mc/mc.h>: what a test may say to the model checker `mc`.
//
// A program needs none of this: `mc-c++ test.cc && mc ./a.out` checks any program with threads. The
// header is for tests that want more: choices that are explored, assumptions, several tests in one
// file, or a check inside a GoogleTest.
//
// The same source is also an ordinary program. Compiled with `mc-c++` or `mc-cc`, which define
// MC_HARNESS, the functions below belong to mc's runtime library. Compiled with any other compiler
// they do next to nothing: mc_choose answers 0, a failed mc_assume ends the program quietly, a
// failed mc_assert aborts, and mc::Check runs its body once.
//
// C99 and later, C++11 and later; GCC and Clang. Link the ordinary program with -pthread.
#ifndef MC_MC_H_
#define MC_MC_H_

#ifdef __cplusplus
extern "C" {
#endif

// -------------------------------------------------------------------------------------------------
// Data choices

// One of 0 .. n-1; every one of them is explored. `n` is at least 1.
int mc_choose(int n);

// This execution counts only if `condition` holds. A thread whose assumption fails stops; the
// others still run to their end. Not for a condition that another thread may still make true: wait
// for that.
#define mc_assume(condition) mc_assume_((condition) ? 1 : 0)
void mc_assume_(int holds);

// -------------------------------------------------------------------------------------------------
// Verdicts

// Like assert, but never compiled away. A failure is a bug of the kind `assertion`.
#ifdef __cplusplus
#define MC_VOID_ void()
#else
#define MC_VOID_ (void)0
#endif
#define mc_assert(condition) \
  ((condition) ? MC_VOID_ : mc_assert_failed_(#condition, __FILE__, __LINE__, __func__))
__attribute__((noreturn)) void mc_assert_failed_(const char* condition, const char* file,
                                                 unsigned line, const char* function);

// A bug of the kind `custom`, with this message (copied).
__attribute__((noreturn)) void mc_fail(const char* message);

// A line shown when a schedule is replayed; formatted like printf.
__attribute__((format(printf, 1, 2))) void mc_log(const char* format, ...);

// -------------------------------------------------------------------------------------------------
// Scheduling

// Between the two no other thread runs: no preemption point lies inside. They nest. An operation
// inside that cannot proceed (a lock that is taken, say) still lets others run until it can.
// In the ordinary program they do nothing: they describe a test to mc, and protect nothing.
void mc_atomic_begin(void);
void mc_atomic_end(void);

// A preemption point (`yield`); to switch threads here is not counted as a preemption.
void mc_yield(void);

// Says that the loop around it waits for another thread: until one writes something this iteration
// read, running this thread again is pointless. mc finds most such loops by itself.
void mc_spin_hint(void);

// The calling thread's number: 0 for main, below 4096; the same thread has the same one in every
// execution.
int mc_self(void);

// Blocks the calling thread until another calls mc_make_runnable with its number. A call that comes
// while the thread is not descheduled is lost, so test and deschedule in one atomic section. (In
// the ordinary program, which has no such sections, the call is remembered instead.) Together with
// an atomic exchange this is enough to build a thread library on.
void mc_deschedule(void);
void mc_make_runnable(int thread);

// -------------------------------------------------------------------------------------------------
// Registered tests

// A test: MC_TEST(Name) { ... }. Several to a file; `mc --list` shows them, `mc --test=Name` runs
// one.
#define MC_TEST(test_name)                                                      \
  static void mc_test_body_##test_name(void);                                   \
  __attribute__((constructor)) static void mc_test_register_##test_name(void) { \
    mc_register_test(#test_name, mc_test_body_##test_name);                     \
  }                                                                             \
  static void mc_test_body_##test_name(void)

// Called before main. `name` must stay valid.
void mc_register_test(const char* name, void (*body)(void));

// Once per program with registered tests: MC_MAIN(); Under mc the runtime has main. In the ordinary
// program main runs the tests named on the command line, or all.
#ifdef MC_HARNESS
#define MC_MAIN() extern int mc_main_is_in_the_runtime_
#else
#define MC_MAIN()                                                                  \
  int main(int argc, char** argv) { return mc_run_registered_tests_(argc, argv); } \
  extern int mc_main_is_here_
int mc_run_registered_tests_(int argc, char** argv);
#endif

#ifdef MC_HARNESS
// Explores body(context); mc::Check calls it. `options` are arguments of mc's command line, each
// ended by a newline. Writes to `message` (of message_size bytes, always terminated) what mc has to
// say: on a bug what happened and the command that replays it. Returns an mc::Verdict.
int mc_check_(void (*body)(void* context), void* context, const char* options, char* message,
              unsigned long message_size);
#endif

#ifdef __cplusplus
}  // extern "C"
#endif

#ifndef MC_HARNESS
// -------------------------------------------------------------------------------------------------
// The ordinary program
//
// Weak definitions: every file that includes this header has them, the linker keeps one.

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MC_WEAK_ __attribute__((weak))
#define MC_MOST_THREADS_ 4096
#define MC_MOST_TESTS_ 256

struct mc_test_ {
  const char* name;
  void (*body)(void);
};

struct mc_ordinary_state_ {
  pthread_mutex_t mutex;
  pthread_cond_t woken;
  int threads;                           // how many threads asked for their number
  unsigned char wake[MC_MOST_THREADS_];  // mc_make_runnable came, mc_deschedule has not used it yet
  int test_count;
  struct mc_test_ tests[MC_MOST_TESTS_];
};

#ifdef __cplusplus
extern "C" {
#endif

MC_WEAK_ struct mc_ordinary_state_ mc_ordinary_ = {
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, {0}, 0, {{0, 0}}};
// The first thread to ask is number 0: main, because MC_MAIN and mc::Check ask first.
MC_WEAK_ __thread int mc_self_plus_one_ = 0;
// What a failed assumption does first; set by mc::Check for its own thread.
MC_WEAK_ __thread void (*mc_leave_check_)(void) = 0;

MC_WEAK_ int mc_choose(int n) {
  (void)n;
  return 0;
}

MC_WEAK_ void mc_assume_(int holds) {
  if (holds) return;
  if (mc_leave_check_ != 0) mc_leave_check_();
  fflush(0);
  _Exit(0);
}

MC_WEAK_ void mc_assert_failed_(const char* condition, const char* file, unsigned line,
                                const char* function) {
  fprintf(stderr, "%s:%u: %s: mc_assert(%s) failed\n", file, line, function, condition);
  abort();
}

MC_WEAK_ void mc_fail(const char* message) {
  fprintf(stderr, "mc_fail: %s\n", message);
  abort();
}

MC_WEAK_ void mc_log(const char* format, ...) { (void)format; }
MC_WEAK_ void mc_atomic_begin(void) {}
MC_WEAK_ void mc_atomic_end(void) {}
MC_WEAK_ void mc_yield(void) { sched_yield(); }
MC_WEAK_ void mc_spin_hint(void) { sched_yield(); }

MC_WEAK_ int mc_self(void) {
  if (mc_self_plus_one_ == 0) {
    pthread_mutex_lock(&mc_ordinary_.mutex);
    if (mc_ordinary_.threads == MC_MOST_THREADS_) mc_fail("mc_self: too many threads");
    mc_self_plus_one_ = ++mc_ordinary_.threads;
    pthread_mutex_unlock(&mc_ordinary_.mutex);
  }
  return mc_self_plus_one_ - 1;
}

MC_WEAK_ void mc_deschedule(void) {
  const int self = mc_self();
  pthread_mutex_lock(&mc_ordinary_.mutex);
  while (!mc_ordinary_.wake[self]) pthread_cond_wait(&mc_ordinary_.woken, &mc_ordinary_.mutex);
  mc_ordinary_.wake[self] = 0;
  pthread_mutex_unlock(&mc_ordinary_.mutex);
}

MC_WEAK_ void mc_make_runnable(int thread) {
  if (thread < 0 || thread >= MC_MOST_THREADS_) return;
  pthread_mutex_lock(&mc_ordinary_.mutex);
  mc_ordinary_.wake[thread] = 1;
  pthread_cond_broadcast(&mc_ordinary_.woken);
  pthread_mutex_unlock(&mc_ordinary_.mutex);
}

MC_WEAK_ void mc_register_test(const char* name, void (*body)(void)) {
  struct mc_test_* test;
  if (mc_ordinary_.test_count == MC_MOST_TESTS_) mc_fail("MC_TEST: too many tests");
  test = &mc_ordinary_.tests[mc_ordinary_.test_count++];
  test->name = name;
  test->body = body;
}

MC_WEAK_ int mc_run_registered_tests_(int argc, char** argv) {
  int ran = 0;
  mc_self();
  for (int i = 0; i < mc_ordinary_.test_count; ++i) {
    int wanted = argc <= 1;
    for (int k = 1; k < argc; ++k) wanted |= strcmp(argv[k], mc_ordinary_.tests[i].name) == 0;
    if (!wanted) continue;
    mc_ordinary_.tests[i].body();
    ++ran;
  }
  if (ran == 0) fprintf(stderr, "no such test\n");
  return ran == 0 ? 2 : 0;
}

#ifdef __cplusplus
}  // extern "C"
#endif
#endif  // !MC_HARNESS

#ifdef __cplusplus
// -------------------------------------------------------------------------------------------------
// mc::Check: model checking inside an ordinary unit test
//
//   TEST(Queue, Push) {
//     EXPECT_TRUE(mc::Check([] { ... threads ... mc_assert(...); }));
//   }

#include <functional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace mc {

enum class Verdict {
  kVerified = 0,  // every interleaving that can matter was run
  kBug = 1,
  kError = 2,       // the check could not be made
  kNoBugFound = 3,  // the budget ended first, or the check was a bounded one
};

// Options of one check: those of mc's command line.
//   mc::CheckOptions().Time("10s").Argument("--preemptions=2")
class CheckOptions {
 public:
  CheckOptions() : arguments_(1, "--time=60s") {}
  CheckOptions& Time(const std::string& budget) { return Argument("--time=" + budget); }
  CheckOptions& Strategy(const std::string& name) { return Argument("--strategy=" + name); }
  CheckOptions& PreemptionPoints(const std::string& set) { return Argument("--pp=" + set); }
  // The last of several arguments for one option counts.
  CheckOptions& Argument(const std::string& argument) {
    arguments_.push_back(argument);
    return *this;
  }
  const std::vector<std::string>& arguments() const { return arguments_; }

 private:
  std::vector<std::string> arguments_;
};

// What a check found. True unless there was a bug or an error; printed, it is the failure message.
// EXPECT_TRUE and ASSERT_TRUE of GoogleTest show that message by themselves.
class CheckResult {
 public:
  CheckResult(Verdict verdict, const std::string& message) : verdict_(verdict), message_(message) {}
  Verdict verdict() const { return verdict_; }
  const std::string& message() const { return message_; }
  bool ok() const { return verdict_ == Verdict::kVerified || verdict_ == Verdict::kNoBugFound; }
  explicit operator bool() const { return ok(); }

  // To testing::AssertionResult (the class with this member), without including GoogleTest.
  template <typename AssertionResult,
            typename = decltype(std::declval<const AssertionResult&>().failure_message())>
  operator AssertionResult() const {
    AssertionResult result(ok());
    result << message_;
    return result;
  }

 private:
  Verdict verdict_;
  std::string message_;
};

inline std::ostream& operator<<(std::ostream& out, const CheckResult& result) {
  return out << result.message();
}

#ifdef MC_HARNESS

inline CheckResult Check(const std::function<void()>& body,
                         const CheckOptions& options = CheckOptions()) {
  std::string text;
  for (const std::string& argument : options.arguments()) text += argument + "\n";
  std::vector<char> message(1 << 16);
  const auto run = [](void* context) { (*static_cast<const std::function<void()>*>(context))(); };
  const int verdict = mc_check_(run, const_cast<std::function<void()>*>(&body), text.c_str(),
                                message.data(), message.size());
  return CheckResult(static_cast<Verdict>(verdict), message.data());
}

#else

namespace internal {
struct AssumptionFailed {};
inline void ThrowAssumptionFailed() { throw AssumptionFailed(); }

// While it lives, a failed assumption of this thread throws.
class LeaveCheckByException {
 public:
  LeaveCheckByException() : before_(mc_leave_check_) { mc_leave_check_ = ThrowAssumptionFailed; }
  ~LeaveCheckByException() { mc_leave_check_ = before_; }
  LeaveCheckByException(const LeaveCheckByException&) = delete;
  LeaveCheckByException& operator=(const LeaveCheckByException&) = delete;

 private:
  void (*before_)();
};
}  // namespace internal

// The ordinary program: the body runs once. A failed assumption of the body's own thread leaves the
// body by an exception; one of another thread ends the program.
inline CheckResult Check(const std::function<void()>& body, const CheckOptions& = CheckOptions()) {
  mc_self();
  try {
    const internal::LeaveCheckByException leave;
    body();
  } catch (const internal::AssumptionFailed&) {
  }
  return CheckResult(Verdict::kNoBugFound,
                     "ran once: not compiled with mc-c++, so nothing was explored");
}

#endif  // MC_HARNESS

}  // namespace mc
#endif  // __cplusplus

#endif  // MC_MC_H_
