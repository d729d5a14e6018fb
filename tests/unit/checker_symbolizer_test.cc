// The symbolizer on this test program itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>

#include <algorithm>
#include <atomic>
#include <string>

#include "checker/symbolizer.h"

namespace mc::checker {

// Data and code to be found again. Outside the anonymous namespace, so that they have plain names.
int symbolizer_test_table[4];
std::atomic<int> symbolizer_test_flag;

__attribute__((noinline)) uint64_t CodeAddress(int* line) {
  uint64_t pc = 0;
  *line = __LINE__ + 1;
  asm volatile("call 1f\n1: pop %0" : "=r"(pc)::"memory");
  return pc;
}

namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kThisFile[] = "checker_symbolizer_test.cc";

std::vector<Module> OwnModules() {
  std::vector<Module> modules;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        auto* list = static_cast<std::vector<Module>*>(out);
        const std::string path = list->empty() ? "/proc/self/exe" : info->dlpi_name;
        if (!path.empty()) list->push_back({path, info->dlpi_addr, 0});
        return 0;
      },
      &modules);
  return modules;
}

TEST(Symbolizer, FindsLineAndFunction) {
  Symbolizer symbolizer(OwnModules());
  int line = 0;
  const uint64_t pc = CodeAddress(&line);
  const SourceLocation& location = symbolizer.Locate(pc);
  EXPECT_TRUE(location.HasLine());
  EXPECT_TRUE(location.in_user_code);
  EXPECT_THAT(location.Shown().file, EndsWith(kThisFile));
  EXPECT_EQ(location.Shown().line, line);
  EXPECT_THAT(location.Shown().function, HasSubstr("CodeAddress"));
  EXPECT_EQ(&symbolizer.Locate(pc), &location);  // cached
}

TEST(Symbolizer, AccessPpsLeadBackToTheirCode) {
  Symbolizer symbolizer(OwnModules());
  int line = 0;
  const uint64_t pc = CodeAddress(&line);
  const std::string name = symbolizer.AccessPpOf(pc);
  EXPECT_THAT(name, EndsWith(std::string(kThisFile) + ":" + std::to_string(line)));
  const auto contains = [pc](const std::vector<sched::CodeRange>& ranges) {
    return std::any_of(ranges.begin(), ranges.end(), [pc](const sched::CodeRange& range) {
      return range.begin <= pc - 1 && pc - 1 < range.end;
    });
  };
  const std::vector<sched::CodeRange> ranges = symbolizer.RangesOf(name);
  EXPECT_TRUE(contains(ranges));
  for (size_t i = 1; i < ranges.size(); ++i) EXPECT_LT(ranges[i - 1].end, ranges[i].begin);
  // As a user would write it: the end of the path is enough.
  const std::string short_name = std::string(kThisFile) + ":" + std::to_string(line);
  EXPECT_TRUE(contains(symbolizer.RangesOf(short_name)));
  EXPECT_THAT(symbolizer.Resolve(short_name), testing::ElementsAre(name));
  EXPECT_FALSE(contains(symbolizer.RangesOf(std::string(kThisFile) + ":1")));
  EXPECT_THAT(symbolizer.Resolve("izer_test.cc:" + std::to_string(line)), IsEmpty());
  EXPECT_THAT(symbolizer.RangesOf("nothing.cc:1"), IsEmpty());
  EXPECT_THAT(symbolizer.RangesOf("nothing"), IsEmpty());
}

TEST(Symbolizer, CodeWithoutLinesIsNamedByAddress) {
  Symbolizer symbolizer(OwnModules());
  EXPECT_EQ(symbolizer.AccessPpOf(0x1234), "0x1234");
  const std::vector<sched::CodeRange> ranges = symbolizer.RangesOf("0x1234");
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].begin, 0x1233u);
  EXPECT_EQ(ranges[0].end, 0x1234u);
  EXPECT_EQ(symbolizer.Locate(0).Where(), "unknown place");
}

// Code inlined from a system header is shown as the line that uses it.
TEST(Symbolizer, InlinedLibraryCodeCountsAsTheLineThatUsesIt) {
  Symbolizer symbolizer(OwnModules());
  const int line = __LINE__ + 1;
  symbolizer_test_flag.fetch_add(1), symbolizer_test_flag.store(2);
  const std::vector<sched::CodeRange> ranges =
      symbolizer.RangesOf(std::string(kThisFile) + ":" + std::to_string(line));
  ASSERT_THAT(ranges, Not(IsEmpty()));
  for (const sched::CodeRange& range : ranges) {
    EXPECT_THAT(symbolizer.Locate(range.begin + 1).Where(),
                EndsWith(std::string(kThisFile) + ":" + std::to_string(line)));
  }
}

TEST(Symbolizer, Variables) {
  Symbolizer symbolizer(OwnModules());
  const auto address = reinterpret_cast<uint64_t>(&symbolizer_test_table[0]);
  EXPECT_EQ(symbolizer.VariableAt(address), "mc::checker::symbolizer_test_table");
  EXPECT_EQ(symbolizer.VariableAt(address + 8), "mc::checker::symbolizer_test_table+8");
  EXPECT_EQ(symbolizer.VariableAt(8), "");
}

TEST(Symbolizer, CodeAddressesInTexts) {
  Symbolizer symbolizer(OwnModules());
  int line = 0;
  const std::string pc = [&] {
    char text[32];
    snprintf(text, sizeof text, "{pc:0x%llx}", static_cast<unsigned long long>(CodeAddress(&line)));
    return std::string(text);
  }();
  const std::string text = symbolizer.ReplaceCodeAddresses("held since " + pc + ", {pc:0x1}, {");
  EXPECT_THAT(text, HasSubstr(std::string(kThisFile) + ":" + std::to_string(line)));
  EXPECT_THAT(text, EndsWith(", 0x1, {"));
  EXPECT_EQ(symbolizer.ReplaceCodeAddresses("{pc:0x12"), "{pc:0x12");
}

TEST(Symbolizer, ModulesThatAreGoneAreSkipped) {
  Symbolizer symbolizer({{"/nowhere/at-all", 0x1000, 0x2000}});
  EXPECT_FALSE(symbolizer.Locate(0x1500).HasLine());
  EXPECT_THAT(symbolizer.RangesOf("a.cc:1"), IsEmpty());
}

}  // namespace
}  // namespace mc::checker
