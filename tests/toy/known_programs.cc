// Programs with known numbers of traces: the regression table and the scalable families.
#include "tests/toy/program.h"

namespace mc::toy {

const std::vector<KnownProgram>& RegressionPrograms() {
  static const auto& programs = *new std::vector<KnownProgram>{
      {"readers(2)", "x=1 ‖ r0=x ‖ r0=x", 4, 0, 0, 0, 0},
      {"inc(2)", "r0=x; x=r0+1 ‖ r0=x; x=r0+1", 4, 0, 0, 0, 0},
      {"inc(3)", "r0=x; x=r0+1 ‖ r0=x; x=r0+1 ‖ r0=x; x=r0+1", 36, 0, 0, 0, 0},
      {"wcas(2)", "x=2 ‖ r0=cas(x,2,3) ‖ r0=cas(x,2,3)", 5, 0, 0, 0, 0},
      {"lastzero(3)",
       "r0=u, if r0!=0 {; r0=z, if r0!=0 {; r0=y, if r0!=0 {; r0=x}}} ‖ r0=x; y=r0+1 ‖ r0=y; "
       "z=r0+1 ‖ r0=z; u=r0+1",
       12, 0, 0, 0, 0},
      {"SB", "x=1; r0=y ‖ y=1; r0=x", 3, 0, 0, 0, 0},
      {"block-2rd", "y=1 ‖ r0=y, r0=z ‖ z=1", 4, 0, 0, 0, 0},
      {"block-stale", "r0=x ‖ r1=cas(x,1,2) ‖ x=1", 5, 0, 0, 0, 0},
      {"block-branch", "r0=x, if r0==1 {y=1}, z=1 ‖ x=1 ‖ r1=y ‖ r1=z", 6, 0, 0, 0, 0},
      {"block-lock", "x=1, lock m0 ‖ lock m0", 2, 2, 0, 0, 0},
      {"block-lock2", "lock m0; r0=x, unlock m0 ‖ y=1, lock m0, x=r0+1; unlock m0 ‖ r0=y", 6, 0, 0,
       0, 0},
      {"lock-lock", "lock m0; unlock m0 ‖ lock m0; unlock m0", 2, 0, 0, 0, 0},
      {"nested", "lock m0; lock m1; unlock m1; unlock m0 ‖ lock m1; lock m0; unlock m0; unlock m1",
       3, 1, 0, 0, 0},
      {"phil(3)",
       "lock m0; lock m1; unlock m1; unlock m0 ‖ lock m1; lock m2; unlock m2; unlock m1 ‖ lock m2; "
       "lock m0; unlock m0; unlock m2",
       7, 1, 0, 0, 0},
      {"recursive",
       "lock m0; lock m0; x=1; unlock m0; unlock m0 ‖ lock m0; r0=x; unlock m0 ‖ r2=trylock m0 [m0 "
       "recursive]",
       9, 3, 0, 0, 0},
      {"trylock", "lock m0; unlock m0 ‖ r0=trylock m0, if r0==1 {; unlock m0}", 3, 0, 0, 0, 0},
      {"two-try", "r0=trylock m0, if r0==1 {; unlock m0} ‖ r0=trylock m0, if r0==1 {; unlock m0}",
       4, 0, 0, 0, 0},
      {"try-keep", "r2=trylock m0 ‖ r2=trylock m0", 2, 0, 0, 0, 0},
      {"try-in-cs",
       "lock m0; x=1; unlock m0 ‖ r0=trylock m0; r1=x, if r0==1 {; unlock m0} ‖ lock m0; unlock m0",
       13, 0, 0, 0, 0},
      {"signal-lost", "signal c0 ‖ lock m0; wait c0,m0; unlock m0", 2, 1, 0, 0, 0},
      {"cond-flag-out", "lock m0; r0=x, if r0==0 {; wait c0,m0}; unlock m0 ‖ x=1; signal c0", 3, 1,
       0, 0, 0},
      {"bcast-2",
       "lock m0; r0=x, if r0==0 {; wait c0,m0}; unlock m0 ‖ lock m0; r0=x, if r0==0 {; wait "
       "c0,m0}; unlock m0 ‖ lock m0; x=1; broadcast c0; unlock m0",
       10, 0, 0, 0, 0},
      {"signal-choice",
       "lock m0; wait c0,m0; unlock m0 ‖ lock m0; wait c0,m0; unlock m0 ‖ lock m0; signal c0; "
       "unlock m0",
       10, 10, 0, 0, 0},
      {"signal-block",
       "lock m0; wait c0,m0; unlock m0 ‖ lock m0; wait c0,m0; unlock m0 ‖ signal c0, signal c0", 14,
       6, 0, 0, 0},
      {"timed-signal", "lock m0; r3=timedwait c0,m0; unlock m0 ‖ signal c0", 3, 0, 0, 0, 0},
      {"timed-bcast", "lock m0; r3=timedwait c0,m0 ‖ lock m0; broadcast c0", 4, 4, 0, 0, 0},
      {"timed-use", "lock m0; r3=timedwait c0,m0, if r3==1 {; x=1} ‖ signal c0 ‖ r0=x", 5, 0, 0, 0,
       0},
      {"timed-two",
       "lock m0; r3=timedwait c0,m0; unlock m0 ‖ lock m0; r3=timedwait c0,m0; unlock m0 ‖ signal "
       "c0",
       62, 0, 0, 0, 0},
      {"sem-lock", "P s0; r0=x; x=r0+1; V s0 ‖ P s0; r0=x; x=r0+1; V s0 [s0=1]", 2, 0, 0, 0, 0},
      {"sem-keep", "P s0 ‖ P s0; V s0 [s0=1]", 2, 1, 0, 0, 0},
      {"sem-try", "r2=tryP s0 ‖ P s0 [s0=1]", 2, 1, 0, 0, 0},
      {"sem-2wait", "P s0; x=1 ‖ P s0; r0=x ‖ V s0 [s0=0]", 2, 2, 0, 0, 0},
      {"barrier-2", "x=1; barrier b0; r0=y ‖ y=1; barrier b0; r0=x [b0 for 2]", 1, 0, 0, 0, 0},
      {"barrier-reuse",
       "barrier b0; barrier b0 ‖ barrier b0; x=1; barrier b0 ‖ barrier b0; r0=x; barrier b0 [b0 "
       "for 3]",
       2, 0, 0, 0, 0},
      {"rw-keep", "rdlock w0 ‖ rdlock w0 ‖ wrlock w0", 2, 2, 0, 0, 0},
      {"rw",
       "rdlock w0; r0=x; rdunlock w0 ‖ rdlock w0; r0=x; rdunlock w0 ‖ wrlock w0; x=1; wrunlock w0",
       4, 0, 0, 0, 0},
      {"rw-upgrade", "rdlock w0; wrlock w0 ‖ rdlock w0; wrlock w0", 1, 1, 0, 0, 0},
      {"rw-try",
       "rdlock w0; rdunlock w0 ‖ r2=trywr w0, if r2==1 {; wrunlock w0} ‖ r2=tryrd w0, if r2==1 {; "
       "rdunlock w0}",
       11, 0, 0, 0, 0},
      {"create-join", "x=1; create T1; join T1; r0=x ‖ (T1) x=r0+2 ‖ r0=x", 3, 0, 0, 0, 0},
      {"create-block", "create T2, r0=x ‖ x=1 ‖ (T2) y=1", 2, 0, 0, 0, 0},
      {"join", "r0=x ‖ x=1 ‖ join T1", 2, 0, 0, 0, 0},
      {"join-cycle", "join T1 ‖ join T0", 1, 1, 0, 0, 0},
      {"spin-2", "x=1; spin until y==1 ‖ y=1; spin until x==1", 3, 0, 0, 0, 0},
      {"spin-or", "spin until x or y ‖ y=1 ‖ spin until x or y", 4, 0, 0, 0, 0},
      {"spin-lock", "spin until cas(x,0,1); x=0 ‖ spin until cas(x,0,1); x=0", 4, 0, 0, 0, 0},
      {"spin-try", "spin until trylock m0; unlock m0 ‖ spin until trylock m0", 3, 1, 0, 0, 0},
      {"spin-trunc", "spin until x or y ‖ spin until cas(x,0,2) ‖ y=1", 5, 0, 0, 0, 0},
      {"exit-1", "– ‖ exit", 2, 0, 0, 0, 2},
      {"exit-2", "x=1; r0=y ‖ r0=x; exit", 5, 0, 0, 0, 5},
      {"exit-lock", "lock m0; x=1; unlock m0 ‖ lock m0; exit", 2, 0, 0, 0, 2},
      {"choose-2x3", "r0=choose(2) ‖ r0=choose(3)", 6, 0, 0, 0, 0},
      {"choose-twice", "r0=choose(3) ‖ r0=choose(2), r0=choose(2)", 12, 0, 0, 0, 0},
      {"choose-store", "r0=choose(2), x=r0+1 ‖ r3=x", 4, 0, 0, 0, 0},
      {"choose-branch", "x=1 ‖ r1=choose(3), if r1==1 {x=2}", 4, 0, 0, 0, 0},
      {"choose-assume", "r1=choose(3), assume r1==2; x=1 ‖ r0=x", 4, 0, 2, 0, 0},
      {"assume", "x=1 ‖ r3=x, assume r3==1", 2, 0, 1, 0, 0},
      {"assume-2", "x=1 ‖ r3=x, assume r3==1; y=1 ‖ r0=y", 3, 0, 1, 0, 0},
      {"assert", "r3=x, assert r3==0 ‖ x=1; x=0", 3, 0, 0, 1, 0},
      {"blind-add", "add(x,1) ‖ add(x,2) ‖ r0=x", 4, 0, 0, 0, 0},
      {"heap", "r0=new, x=1 ‖ r0=new; *r0=2 ‖ x=1", 2, 0, 0, 0, 0},
      {"dead-cas", "r0=cas(x,1,1) ‖ r0=x", 1, 0, 0, 0, 0},
      {"sleep-last", "x=1 ‖ r0=x ‖ r0=cas(x,0,2)", 5, 0, 0, 0, 0},
      {"barrier-2-full", "x=1; barrier b0; r0=y ‖ y=1; barrier b0; r0=x [b0 for 2] [full-barriers]",
       2, 0, 0, 0, 0},
      {"barrier-reuse-full",
       "barrier b0; barrier b0 ‖ barrier b0; x=1; barrier b0 ‖ barrier b0; r0=x; barrier b0 [b0 "
       "for 3] [full-barriers]",
       72, 0, 0, 0, 0},
      {"barrier-short",
       "barrier b0; x=1 ‖ barrier b0; r0=x ‖ barrier b0 [b0 for 2] [full-barriers]", 8, 8, 0, 0, 0},
      {"no-wi-insert", "r0=y ‖ x=2 ‖ r0=x ‖ y=2", 4, 0, 0, 0, 0},
      {"prefix-absorbs", "x=1; y=1 ‖ r0=cas(y,0,2); r0=x ‖ r1=y", 8, 0, 0, 0, 0},
      {"stale-same", "r0=choose(2); y=1 ‖ y=1", 4, 0, 0, 0, 0},
      {"rw-halves",
       "wrlock w0; wrunlock w0 ‖ wrlock w0; wrunlock w0, rdlock w0; rdunlock w0, wrlock w0; "
       "wrunlock w0",
       2, 0, 0, 0, 0},
      {"source-choice-1", "– ‖ r0=choose(2), x=1 ‖ r2=x", 4, 0, 0, 0, 0},
      {"source-choice-2", "– ‖ r1=y ‖ r1=choose(2), if r1==0 {y=2}", 3, 0, 0, 0, 0},
      {"source-choice-3", "– ‖ r1=y ‖ r1=choose(2), if r1==0 {y=2} ‖ r1=y", 5, 0, 0, 0, 0},
  };
  return programs;
}

std::string Repeat(const std::string& thread, int n) {
  std::string text;
  for (int i = 0; i < n; ++i) text += (i == 0 ? "" : " ‖ ") + thread;
  return text;
}

std::string AtomicIncrements(int threads) { return Repeat("r0=fadd(x,1)", threads); }

std::string Increments(int threads) { return Repeat("r0=x; x=r0+1", threads); }

std::string ReadWrites(int threads) {
  std::string text;
  for (int i = 0; i < threads; ++i) {
    text += (i == 0 ? "" : " ‖ ") + std::string("r0=x; x=") + std::to_string(i + 1);
  }
  return text;
}

std::string AtomicIncrementsOf(int threads, int variables) {
  std::string one;
  for (int v = 0; v < variables; ++v) {
    one += (v == 0 ? "" : "; ") + std::string("r0=fadd(v") + std::to_string(v) + ",1)";
  }
  return Repeat(one, threads);
}

std::string WriteAndIncrements(int threads) { return "x=1 ‖ " + AtomicIncrements(threads); }

std::string CompareExchanges(int threads) {
  std::string text;
  for (int i = 0; i < threads; ++i) {
    text += (i == 0 ? "" : " ‖ ") + std::string("r0=cas(x,0,") + std::to_string(i + 1) + ")";
  }
  return text;
}

std::string WriteAndCompareExchanges(int threads) {
  return "x=2 ‖ " + Repeat("r0=cas(x,2,3)", threads);
}

std::string Readers(int readers) { return "x=1 ‖ " + Repeat("r0=x", readers); }

std::string LastZero(int n) {
  std::string text;
  for (int i = n; i >= 0; --i) {
    text += (i == n ? "" : ", if r0!=0 {; ") + std::string("r0=a") + std::to_string(i);
  }
  text += std::string(n, '}');
  for (int j = 1; j <= n; ++j) {
    text += " ‖ r0=a" + std::to_string(j - 1) + "; a" + std::to_string(j) + "=r0+1";
  }
  return text;
}

std::string Indexer(int threads) {
  std::string text;
  for (int t = 0; t < threads; ++t) {
    std::string one;
    for (int i = 0; i < 4; ++i) {
      const int w = 11 * i + t;
      const int probes = 4;  // never more are needed at the sizes in use
      int h = 7 * w % 128;
      if (i > 0) one += "; ";
      for (int p = 0; p < probes; ++p, h = (h + 1) % 128) {
        if (p > 0) one += ", if r0==0 {; ";
        one += "r0=cas(t" + std::to_string(h) + ",0," + std::to_string(w + 1) + ")";
      }
      one += std::string(probes - 1, '}');
    }
    text += (t == 0 ? "" : " ‖ ") + one;
  }
  return text;
}

std::string FileSystem(int threads) {
  std::string text;
  for (int i = 0; i < threads; ++i) {
    const std::string inode = std::to_string(i % 32);
    std::string one = "lock i" + inode + "; r0=inode" + inode + ", if r0==0 {";
    const int probes = 6;
    int b = 2 * i % 26;
    for (int p = 0; p < probes; ++p, b = (b + 1) % 26) {
      const std::string block = std::to_string(b);
      one += "; lock l" + block + "; r1=busy" + block + ", if r1==0 {; busy" + block + "=1; inode" +
             inode + "=" + std::to_string(b + 1) + "}; unlock l" + block;
      if (p + 1 < probes) one += ", if r1!=0 {";
    }
    one += std::string(probes, '}') + "; unlock i" + inode;
    text += (i == 0 ? "" : " ‖ ") + one;
  }
  return text;
}

std::string LockedIncrements(int threads, int variables) {
  std::string one = "lock m";
  for (int v = 0; v < variables; ++v) {
    const std::string name = "v" + std::to_string(v);
    one += "; r0=" + name + "; " + name + "=r0+1";
  }
  return Repeat(one + "; unlock m", threads);
}

std::string Twice(int threads) { return Repeat("lock m; unlock m; lock m; unlock m", threads); }

std::string Lists(int lists, int threads) {
  std::string text;
  for (int t = 0; t < threads; ++t) {
    const std::string n = std::to_string(t % lists);
    text += (t == 0 ? "" : " ‖ ") + std::string("lock m") + n + "; r0=x" + n + "; x" + n +
            "=r0+1; unlock m" + n;
  }
  return text;
}

std::string Philosophers(int n, bool ordered) {
  std::string text;
  for (int i = 0; i < n; ++i) {
    std::string left = std::to_string(i), right = std::to_string((i + 1) % n);
    if (ordered && i == n - 1) left.swap(right);
    text += (i == 0 ? "" : " ‖ ") + std::string("lock m") + left + "; lock m" + right +
            "; unlock m" + right + "; unlock m" + left;
  }
  return text;
}

std::string Fibonacci(int rounds) {
  // The first two stores belong to the threads' creator: they come before everything else.
  std::string one, two;
  for (int i = 0; i < rounds; ++i) {
    one += (i == 0 ? "" : "; ") + std::string("r0=x; r1=y; x=r0+r1");
    two += (i == 0 ? "" : "; ") + std::string("r0=y; r1=x; y=r0+r1");
  }
  return "x=1, y=1; create T1; create T2; create T3 ‖ (T1) " + one + " ‖ (T2) " + two +
         " ‖ (T3) r0=x; r1=y";
}

}  // namespace mc::toy
