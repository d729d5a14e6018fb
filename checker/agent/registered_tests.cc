#include "checker/agent/registered_tests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace mc::checker {
namespace {

// Filled by constructors of the program, some of which run before any of this library could have.
constexpr size_t kMaxTests = 4096;
RegisteredTest g_tests[kMaxTests];
size_t g_count = 0;
bool g_main_is_generated = false;

}  // namespace

bool RunsOnlyRegisteredTests() { return g_main_is_generated; }
size_t RegisteredTestCount() { return g_count; }
const RegisteredTest& RegisteredTestAt(size_t index) { return g_tests[index]; }

const RegisteredTest* FindRegisteredTest(std::string_view name) {
  for (size_t i = 0; i < g_count; ++i) {
    if (name == g_tests[i].name) return &g_tests[i];
  }
  return nullptr;
}

}  // namespace mc::checker

extern "C" __attribute__((visibility("default"))) void mc_register_test(const char* name,
                                                                        void (*body)()) {
  using namespace mc::checker;
  if (g_count == kMaxTests) {
    fprintf(stderr, "mc: more than %zu registered tests\n", kMaxTests);
    abort();
  }
  g_tests[g_count++] = {name, body};
}

extern "C" __attribute__((visibility("default"))) void mc_main_is_generated() {
  mc::checker::g_main_is_generated = true;
}

// The main of a harness that only registers tests, run as an ordinary program: the tests named on
// the command line, or all, once each.
extern "C" __attribute__((visibility("default"))) int mc_run_registered_tests(int argc,
                                                                              char** argv) {
  using namespace mc::checker;
  int ran = 0;
  for (size_t i = 0; i < g_count; ++i) {
    bool wanted = argc <= 1;
    for (int k = 1; k < argc; ++k) wanted |= strcmp(argv[k], g_tests[i].name) == 0;
    if (!wanted) continue;
    g_tests[i].body();
    ++ran;
  }
  if (ran == 0) fprintf(stderr, "no such test\n");
  return ran == 0 ? 2 : 0;
}
