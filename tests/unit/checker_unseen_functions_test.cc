#include <gtest/gtest.h>

#include "checker/harmless_functions.h"
#include "checker/unseen_functions.h"

namespace mc::checker {
namespace {

TEST(HarmlessFunctions, ValuesAreNoMemory) {
  EXPECT_TRUE(IsHarmless("sin", "libm.so.6"));
  EXPECT_TRUE(IsHarmless("getpid", "libc.so.6"));
  EXPECT_TRUE(IsHarmless("_ZSt17__throw_bad_allocv", "libstdc++.so.6.0.30"));
}

TEST(HarmlessFunctions, PointersAreTaken) {
  EXPECT_FALSE(IsHarmless("fegetenv", "libm.so.6"));
  EXPECT_FALSE(IsHarmless("ioctl", "libc.so.6"));
  EXPECT_FALSE(IsHarmless("getpwent", "libc.so.6"));
  EXPECT_FALSE(IsHarmless("_ZNSt10filesystem6removeERKNS_7__cxx114pathE", "libstdc++.so.6"));
}

TEST(HarmlessFunctions, AnExceptionTakesOutOfItsGroup) {
  EXPECT_TRUE(IsHarmless("_ZNSt6localeC1Ev", "libstdc++.so.6"));
  EXPECT_FALSE(IsHarmless("_ZNSt6locale6globalERKS_", "libstdc++.so.6"));
}

// The same name in a library of somebody else says nothing.
TEST(HarmlessFunctions, OfItsLibraryOnly) {
  EXPECT_FALSE(IsHarmless("sin", "libmine.so"));
  EXPECT_FALSE(IsHarmless("getpid", "libmine.so"));
}

TEST(UnseenFunctions, AreToldByLibrary) {
  EXPECT_EQ(DescribeUnseenFunctions({}, false), "");
  EXPECT_EQ(DescribeUnseenFunctions({{"a", "libx.so"}, {"b", "libx.so"}, {"c", "liby.so"}}, false),
            "note: accesses made inside these library functions are not seen: a, b (libx.so), c "
            "(liby.so)");
}

TEST(UnseenFunctions, ALongListIsCut) {
  std::vector<UnseenFunction> many;
  for (int i = 0; i < 20; ++i) many.push_back({"f" + std::to_string(i), "libx.so"});
  const std::string cut = DescribeUnseenFunctions(many, false);
  EXPECT_NE(cut.find("f11 (libx.so) and 8 more"), std::string::npos) << cut;
  EXPECT_EQ(cut.find("f12"), std::string::npos) << cut;
  EXPECT_NE(DescribeUnseenFunctions(many, true).find("f19 (libx.so)"), std::string::npos);
}

TEST(UnseenFunctions, AModuleThatCannotBeReadHasNone) {
  EXPECT_TRUE(FindUnseenFunctions({Module{"/nowhere/at/all", 0, 0}}).empty());
}

}  // namespace
}  // namespace mc::checker
