// The tests that MC_TEST registered, in order of registration.
#ifndef MC_CHECKER_AGENT_REGISTERED_TESTS_H_
#define MC_CHECKER_AGENT_REGISTERED_TESTS_H_

#include <cstddef>
#include <string_view>

namespace mc::checker {

struct RegisteredTest {
  const char* name;
  void (*body)();
};

// Has the program no main of its own? (Then it has the one of test_main/, which says so.)
bool RunsOnlyRegisteredTests();
size_t RegisteredTestCount();
const RegisteredTest& RegisteredTestAt(size_t index);
// nullptr if there is none of that name.
const RegisteredTest* FindRegisteredTest(std::string_view name);

}  // namespace mc::checker

#endif  // MC_CHECKER_AGENT_REGISTERED_TESTS_H_
