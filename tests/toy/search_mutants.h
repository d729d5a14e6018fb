// The mistakes of the search (dpor/mutation.h), each with a program of the tiny language that shows
// it under some policy (spec optimal-dpor 4).
#ifndef MC_TESTS_TOY_SEARCH_MUTANTS_H_
#define MC_TESTS_TOY_SEARCH_MUTANTS_H_

#include "dpor/mutation.h"

namespace mc::toy {

struct MutantCase {
  const char* name;
  dpor::Mutation mutation;
  const char* text;
};

inline constexpr const char* kSemKeep = "P s0 ‖ P s0; V s0 [s0=1]";
inline constexpr const char* kExit1 = "– ‖ exit";
inline constexpr const char* kRwKeep = "rdlock w0 ‖ rdlock w0 ‖ wrlock w0";
inline constexpr const char* kTryKeep = "r2=trylock m0 ‖ r2=trylock m0";
inline constexpr const char* kChooseTwice = "r0=choose(3) ‖ r0=choose(2), r0=choose(2)";
inline constexpr const char* kChooseBranch = "x=1 ‖ r1=choose(3), if r1==1 {x=2}";

inline constexpr MutantCase kSearchMutants[] = {
    {"lock_pair", dpor::Mutation::kLockPair, kSemKeep},
    {"end_blocked", dpor::Mutation::kEndBlocked, kExit1},
    {"co_enabled", dpor::Mutation::kCoEnabled, kSemKeep},
    {"co_disabler", dpor::Mutation::kCoDisabler, kRwKeep},
    {"pending_certain", dpor::Mutation::kPendingCertain,
     "y=1 ‖ lock m0; r3=timedwait c0,m0; unlock m0; r1=y ‖ lock m0; x=1; broadcast c0; unlock m0"},
    {"notdep_trunc", dpor::Mutation::kNotDepTruncated,
     "spin until x or y ‖ spin until cas(x,0,2) ‖ y=1"},
    {"only_new", dpor::Mutation::kOnlyNew, kChooseTwice},
    {"stale_full", dpor::Mutation::kStaleFull, kTryKeep},
    {"no_wi_insert", dpor::Mutation::kNoWiInsert, "wrlock w0 ‖ rdlock w0 ‖ rdlock w0, r0=x"},
    {"no_wi_sleep", dpor::Mutation::kNoWiSleep, kRwKeep},
    {"ignore_last", dpor::Mutation::kIgnoreLast, "x=1 ‖ r0=x ‖ r0=cas(x,0,2)"},
    {"no_sleep_test", dpor::Mutation::kNoSleepTest, kExit1},
    {"sleep_by_thread", dpor::Mutation::kSleepByThread, kChooseTwice},
    {"stale_same", dpor::Mutation::kStaleSame, "– ‖ exit ‖ –"},
    {"keep_same", dpor::Mutation::kKeepSame, "r0=choose(2), x=r0+1 ‖ r3=x"},
    {"inner_wake", dpor::Mutation::kInnerWake, kExit1},
    {"no_choice", dpor::Mutation::kNoChoice, "r0=choose(2) ‖ r0=choose(3)"},
    {"choice_at_node", dpor::Mutation::kChoiceAtNode, kChooseBranch},
    {"choice_untested", dpor::Mutation::kChoiceUntested, kChooseBranch},
    {"others_first", dpor::Mutation::kOthersFirst,
     "r1=cas(y,1,2); x=1 ‖ – ‖ r3=x, assert r3==0 ‖ exit"},
    {"lead_inexact", dpor::Mutation::kLeadInexact, "x=1 ‖ r0=x, r1=y ‖ add(y,1)"},
    {"absorb_inexact", dpor::Mutation::kAbsorbInexact, "y=1 ‖ – ‖ – ‖ r1=fadd(y,1), exit"},
};

}  // namespace mc::toy

#endif  // MC_TESTS_TOY_SEARCH_MUTANTS_H_
