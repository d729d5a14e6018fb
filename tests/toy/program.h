// The tiny language of the search's regression programs.
//
// A program is a list of threads. Threads are separated by "‖" (or "||"); `;` ends a transition (a
// preemption point follows), `,` joins two operations in one transition; `{ }` is the body of the
// `if` before it, and `{;` says that the body begins a new transition. Options follow in square
// brackets: [m0 recursive], [s0=1], [b0 for 2], [full-barriers], [posts-commute]. "(T1)" before a
// thread: it runs only once created.
//
// Operations: x=EXPR, r0=x, *r0=EXPR, r1=*r0, r0=cas(x,a,b), r0=fadd(x,1), r0=xchg(x,1), add(x,1),
// r0=choose(n), r0=new, lock m, unlock m, r0=trylock m, wait c,m, r0=timedwait c,m, signal c,
// broadcast c, P s, V s, r0=tryP s, barrier b, rdlock w, wrlock w, rdunlock w, wrunlock w,
// r0=tryrd w, r0=trywr w, create T1, join T1, exit, assume COND, assert COND,
// spin until COND-ON-MEMORY | cas(..) | trylock m | tryP s.
#ifndef MC_TESTS_TOY_PROGRAM_H_
#define MC_TESTS_TOY_PROGRAM_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mc::toy {

enum class Op : uint8_t {
  kPoint,  // a preemption point
  kStore,
  kStoreIndirect,
  kLoad,
  kLoadIndirect,
  kMove,
  kCas,
  kFetchAdd,
  kExchange,
  kAdd,
  kChoose,
  kNew,
  kLock,
  kUnlock,
  kTryLock,
  kWait,
  kTimedWait,
  kSignal,
  kBroadcast,
  kSemWait,
  kSemTry,
  kSemPost,
  kBarrier,
  kReadLock,
  kWriteLock,
  kReadUnlock,
  kWriteUnlock,
  kTryRead,
  kTryWrite,
  kCreate,
  kJoin,
  kExit,
  kAssume,
  kAssert,
  kSpinLoad,
  kSpinCas,
  kSpinTryLock,
  kSpinTrySem,
  kBranchUnless,  // to `target` unless the condition holds
};

// constant + the sum of up to three registers
struct Expression {
  int64_t constant = 0;
  int8_t registers[3] = {-1, -1, -1};
};

// left == right or left != right
struct Condition {
  Expression left, right;
  bool negated = false;
};

// One alternative of `spin until x==1 or y`.
struct MemoryTest {
  int variable = 0;
  bool negated = false;  // variable != value
  int64_t value = 0;
};

struct Instruction {
  Op op = Op::kPoint;
  int destination = -1;  // register, or -1
  int object = 0;        // variable, mutex, condvar, ..., thread
  int object2 = 0;       // mutex of a wait
  int address_register = -1;
  Expression first, second;
  Condition condition;
  std::vector<MemoryTest> tests;
  size_t target = 0;
};

struct ThreadCode {
  std::vector<Instruction> code;
  bool created = false;  // runs only once created
};

struct Program {
  std::string text;
  std::vector<ThreadCode> threads;
  std::map<std::string, int> variables, mutexes, condvars, semaphores, barriers, rwlocks;
  std::vector<bool> recursive;  // by mutex
  std::vector<int64_t> semaphore_initial;
  std::vector<int> barrier_count;
  bool uses_exit = false;
  bool full_barriers = false;
  bool posts_commute = false;
};

// Returns false and sets *error if the text is not a program.
bool Parse(const std::string& text, Program* program, std::string* error);
// For tests: stops the test program with a message if the text is not a program.
Program ParseOrDie(const std::string& text);

// The programs of the table of known counts: name, text, number of traces, how many of these end in
// a deadlock, with a failed assumption, with a failed assertion, at exit.
struct KnownProgram {
  const char* name;
  const char* text;
  uint64_t traces;
  uint64_t deadlocks, assumptions, assertions, exits;
};
const std::vector<KnownProgram>& RegressionPrograms();

// Generators of the families with known counts.
std::string Repeat(const std::string& thread, int n);
std::string AtomicIncrements(int threads);                   // ainc: N!
std::string Increments(int threads);                         // inc: (N!)^2
std::string ReadWrites(int threads);                         // rw: (N!)^2
std::string AtomicIncrementsOf(int threads, int variables);  // binc, cinc: (N!)^variables
std::string WriteAndIncrements(int threads);                 // wainc: (N+1)!
std::string CompareExchanges(int threads);                   // cas: N
std::string WriteAndCompareExchanges(int threads);           // wcas: 1 + N 2^(N-1)
std::string Readers(int readers);                            // 2^N
std::string LastZero(int n);                                 // (N+3) 2^(N-2)
std::string Indexer(int threads);                            // 8^(N-11), N >= 12
std::string FileSystem(int threads);                         // 2^(N-13), N >= 13
std::string LockedIncrements(int threads, int variables);    // N!
std::string Twice(int threads);                              // (2N)!/2^N
std::string Lists(int lists, int threads);
std::string Philosophers(int n, bool ordered);  // 2^N - 2, 2^N - 1
std::string Fibonacci(int rounds);              // fib(5): 218243

}  // namespace mc::toy

#endif  // MC_TESTS_TOY_PROGRAM_H_
