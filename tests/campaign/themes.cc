#include "tests/campaign/themes.h"

namespace mc::campaign {
namespace {

constexpr const char* kPlain[] = {
    "x=1",         "x=2",           "y=1",   "r=x",      "r=y",      "x++",        "y++",
    "r=x; ?0 y=1", "r=x; ?1 x=r+1", "x=r+1", "x=1, y=1", "r=x, r=y", "r=x, x=r+1", "r=y; ?0 x=2",
};
constexpr const char* kAtomic[] = {
    "r=a",
    "r=b",
    "r=a acquire",
    "a=0",
    "a=1",
    "a=2",
    "b=1",
    "a=r+1",
    "r=add a",
    "r=add b",
    "r=or a",
    "r=exchange a",
    "r=exchange b",
    "r=cas a 0 1",
    "r=cas a 1 2",
    "r=weak b 0 1",
    "fence",
    "r=a; ?0 b=1",
    "r=a, r=b",
    "r=cas a 0 1, ?1 b=1",
    "a=1, b=1",
    "r=a; ?1 a=r+1",
    "x=1; a=1",
    "r=a; ?1 r=x",
    "b=1; fence; r=a",
    "r=cas a 0 1, r=b",
    "r=b, r=cas a 0 1",
};
constexpr const char* kMutex[] = {
    "lock m",
    "unlock m",
    "lock m; x=1; unlock m",
    "lock m; r=x; unlock m",
    "lock n",
    "unlock n",
    "r=trylock m; ?0 unlock m",
    "r=trylock m",
    "r=timedlock m",
    "r=timedlock m; ?0 unlock m",
    "x=1, lock m",
    "a=1, lock m, r=b",
    "lock m; lock n; unlock n; unlock m",
    "lock n; lock m; unlock m; unlock n",
    "lock n; r=trylock m; ?0 unlock m; unlock n",
    "lock q; lock q; unlock q; unlock q",
    "lock q",
    "unlock q",
    "r=trylock q",
    "r=trylock q; ?0 unlock q",
    "lock q; r=trylock q",
    "lock e",
    "unlock e",
    "lock e; lock e",
    "lock e; unlock e",
    "r=trylock e",
    "lock e; r=trylock e",
    "own mutex",
    "r=trylock n",
    "lock spin; x++; unlock spin",
    "lock spin",
    "unlock spin",
    "r=trylock spin",
    "r=trylock spin; ?0 unlock spin",
    "a=1, lock spin",
    "lock m, unlock m",
    "lock m, r=a; unlock m",
};
constexpr const char* kDestroy[] = {
    "destroy n", "destroy n; init n", "lock n; unlock n", "r=trylock n", "destroy n; init n",
};
constexpr const char* kCondition[] = {
    "lock m; wait c; unlock m",
    "lock m; r=timedwait c; unlock m",
    "signal c",
    "broadcast c",
    "lock m; r=x; ?0 wait c; unlock m",
    "lock m; x=1; signal c; unlock m",
    "lock m; r=timedwait c; ?1 x=1",
    "lock m; x=1; broadcast c; unlock m",
    "signal c, signal c",
    "lock m, wait c",
    "lock m, r=timedwait c; unlock m",
    "a=1; signal c",
    "lock m; signal c; unlock m",
    "lock q; wait d; unlock q",
    "lock q; lock q; wait d",
    "lock q; r=timedwait d",
    "lock q; r=timedwait d; unlock q",
    "signal d",
    "signal d",
    "r=a; ?0 broadcast c",
    "lock m; wait c; r=x; unlock m",
    "lock m; r=timedwait c; unlock m; r=a",
};
constexpr const char* kSemaphore[] = {
    "P s",
    "V s",
    "r=tryP s",
    "r=timedP s",
    "r=value s",
    "P s; x=1; V s",
    "x=1, P s",
    "P s; r=x",
    "r=tryP s; ?0 V s",
    "r=tryP s; ?1 a=1",
    "r=timedP s; ?0 V s",
    "V s, V s",
    "a=1, P s, r=b",
    "V s",
    "V s",
    "P s, V s",
};
constexpr const char* kReaderWriter[] = {
    "rdlock w",
    "rwunlock w",
    "wrlock w",
    "rdlock w; r=x; rwunlock w",
    "wrlock w; x=1; rwunlock w",
    "r=tryrdlock w; ?0 rwunlock w",
    "r=trywrlock w; ?0 rwunlock w",
    "rdlock w, r=a",
    "a=1, rdlock w",
    "r=trywrlock w",
    "b=1, wrlock w",
    "r=timedrdlock w",
    "r=timedwrlock w",
    "r=tryrdlock w",
    "r=timedrdlock w; ?0 rwunlock w",
    "r=timedwrlock w; ?0 rwunlock w",
    "rdlock w; rwunlock w",
    "wrlock w, r=a; rwunlock w",
};
constexpr const char* kWriterPreferring[] = {
    "rdlock v",
    "rwunlock v",
    "wrlock v",
    "rdlock v; r=x; rwunlock v",
    "rdlock v; rdlock v; rwunlock v; rwunlock v",
    "wrlock v; x=1; rwunlock v",
    "r=tryrdlock v; ?0 rwunlock v",
    "r=trywrlock v; ?0 rwunlock v",
    "rdlock v, r=a",
    "a=1, rdlock v",
    "b=1, wrlock v",
    "r=timedrdlock v; ?0 rwunlock v",
    "r=tryrdlock v",
    "wrlock v, r=a; rwunlock v",
};
constexpr const char* kBarrier[] = {
    "barrier g", "barrier g; x=1", "a=1; barrier g", "barrier g; r=a", "a=1, barrier g", "r=a",
};
constexpr const char* kLatch[] = {
    "countdown k",
    "!wait k",
    "r=try k",
    "countdown k; !wait k",
    "a=1; countdown k",
    "!wait k; r=a",
    "countdown k, countdown k",
    "!wait k",
};
constexpr const char* kFutex[] = {
    "!wait h",          "h=1",          "h=1; notify h",       "notify h",         "notifyall h",
    "h=1; notifyall h", "!wait h; r=a", "a=1; h=1; !notify h", "h=1, notifyall h", "!wait h",
};
constexpr const char* kOnce[] = {
    "once o", "callonce f", "static", "once o; r=b", "a=1; once o", "!once o", "!static", "r=b",
};
constexpr const char* kThreads[] = {
    "join 1",      "join 2",      "join 3",      "join 3",
    "x=1, join 1", "join 1; r=x", "a=1, join 2", "r=tryjoin 1",
    "r=tryjoin 2", "detach 1",    "detach 2",    "pthread_exit",
    "yield",       "sleep",       "r=clock",     "r=a; ?0 pthread_exit",
    "create",      "create; r=a", "create, r=a", "a=1; create",
    "a=1",         "r=a",
};
constexpr const char* kChoices[] = {
    "r=choose 2",
    "r=choose 2; ?1 x=2",
    "r=choose 2, x=r+1",
    "r=choose 3; ?0 y=1",
    "r=choose 2, r=a",
    "r=choose 2, ?0 a=2",
    "r=a, r=choose 2, ?1 b=1",
    "r=choose 2; r=choose 2",
    "r=a",
};
constexpr const char* kFailures[] = {
    "r=a, assume r==0",
    "r=a; assert r==0",
    "r=choose 2, assume r==0",
    "r=x; assert r==0",
    "r=a; ?1 fail",
    "r=b; assert r!=0",
    "r=b; ?0 assume r==0",
    "a=1",
    "b=1",
};
constexpr const char* kDeschedule[] = {
    "deschedule", "wake 1", "wake 2", "r=a, ?0 deschedule", "a=1, wake 1", "a=1, wake 2", "wake 1",
};
constexpr const char* kExits[] = {
    "exit",         "r=a; ?1 exit", "_exit", "r=a; ?0 _exit",         "exit 3",
    "lock m; exit", "a=1",          "r=a",   "lock m; x=1; unlock m",
};
constexpr const char* kHeap[] = {
    "own=new",
    "own=new; p=own",
    "own=new; *own=3; p=own",
    "*p=2",
    "r=*p",
    "free p",
    "own=new; free own",
    "free own",
    "r=*own",
    "own=new, own=new",
    "free p, own=new",
    "own=new; *own=3; r=*own; free own",
    "grow p",
    "own=small; p=own",
    "own=new; p=own; own=grown",
    "own=small; free own; own=new; p=own",
};
constexpr const char* kSpins[] = {
    "spin a",          "spin cas a", "spin tryP s", "a=1",         "a=0",
    "spin cas a; a=0", "V s",        "b=1",         "a=1; spin a",
};

constexpr Theme kThemes[] = {
    // One line each.
    {"plain", kPlain, true},         {"atomic", kAtomic, true},
    {"mutex", kMutex, true},         {"destroy", kDestroy, false},
    {"condition", kCondition, true}, {"semaphore", kSemaphore, true},
    {"rwlock", kReaderWriter, true}, {"preference", kWriterPreferring, false},
    {"barrier", kBarrier, true},     {"latch", kLatch, true},
    {"futex", kFutex, true},         {"once", kOnce, true},
    {"threads", kThreads, true},     {"choices", kChoices, true},
    {"failures", kFailures, true},   {"deschedule", kDeschedule, true},
    {"exits", kExits, true},         {"heap", kHeap, true},
    {"spins", kSpins, false},
};

}  // namespace

std::span<const Theme> Themes() { return kThemes; }

const Theme& ThemeNamed(std::string_view name) {
  for (const Theme& theme : kThemes) {
    if (theme.name == name) return theme;
  }
  __builtin_trap();
}

}  // namespace mc::campaign
