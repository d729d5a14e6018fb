// The command line, PP sets and settings as text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checker/options.h"
#include "checker/text.h"

namespace mc::checker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Options Parse(const std::vector<std::string>& words) {
  const absl::StatusOr<Options> options = ParseOptions(words);
  EXPECT_TRUE(options.ok()) << options.status();
  return options.ok() ? *options : Options();
}

std::string ErrorOf(const std::vector<std::string>& words) {
  const absl::StatusOr<Options> options = ParseOptions(words);
  return options.ok() ? "no error" : std::string(options.status().message());
}

TEST(Options, Defaults) {
  const Options options = Parse({"a.out"});
  EXPECT_TRUE(options.SearchesIteratively());
  EXPECT_EQ(options.harness, "./a.out");  // never searched for in PATH
  EXPECT_EQ(options.time, absl::Hours(1));
  EXPECT_EQ(options.output, "mc-out");
  EXPECT_EQ(options.settings, SearchSettings());
  EXPECT_FALSE(options.executions.has_value());
  EXPECT_EQ(options.fail_on_race, FailOnRace::kConfirmed);
}

TEST(Options, OptionsStandBeforeAndAfterTheHarness) {
  const Options options = Parse({"--strategy=source", "build/test", "--pp", "lock,access:a/b.cc:7",
                                 "--heap=recycle", "--", "--time=1s", "x"});
  EXPECT_FALSE(options.SearchesIteratively());
  EXPECT_EQ(options.settings.strategy, "source");
  EXPECT_EQ(options.pps.Text(), "lock,access:a/b.cc:7");
  EXPECT_EQ(options.settings.heap, "recycle");
  EXPECT_EQ(options.harness, "build/test");
  EXPECT_THAT(options.arguments, ElementsAre("--time=1s", "x"));
  EXPECT_EQ(options.time, absl::Hours(1));
}

TEST(Options, IterativeWithAStrategyOfEveryJob) {
  const Options options = Parse({"--iterative", "--strategy=dfs", "t"});
  EXPECT_TRUE(options.SearchesIteratively());
  EXPECT_EQ(options.settings.strategy, "dfs");
}

TEST(Options, Times) {
  EXPECT_EQ(Parse({"--time=30s", "t"}).time, absl::Seconds(30));
  EXPECT_EQ(Parse({"--time=10m", "t"}).time, absl::Minutes(10));
  EXPECT_EQ(Parse({"--time=1h30m", "t"}).time, absl::Minutes(90));
  EXPECT_EQ(Parse({"--time=250ms", "t"}).time, absl::Milliseconds(250));
  EXPECT_EQ(Parse({"--time=2.5", "t"}).time, absl::Seconds(2.5));
  for (const char* bad : {"soon", "", "-3s", "0", "10 parsecs", "0s", ".", "1e", "s", "nan"}) {
    EXPECT_THAT(ErrorOf({std::string("--time=") + bad, "t"}), HasSubstr("--time")) << bad;
  }
}

TEST(Options, Sizes) {
  EXPECT_EQ(Parse({"--memory=512M", "t"}).memory, uint64_t{512} << 20);
  EXPECT_EQ(Parse({"--memory=2G", "t"}).memory, uint64_t{2} << 30);
  EXPECT_EQ(Parse({"--memory=50000000", "t"}).memory, 50000000u);
  EXPECT_THAT(ErrorOf({"--memory=31M", "t"}), HasSubstr("at least 32M"));
  for (const char* bad : {"G", "-1M", "2GB", "0", "0G", "1e9", "99999999999999999999", " 1G", "",
                          "16777216T", "18446744073709551615K", "1.5G"}) {
    EXPECT_THAT(ErrorOf({std::string("--memory=") + bad, "t"}), HasSubstr("--memory")) << bad;
  }
}

TEST(Options, EverySettingReachesTheSettings) {
  const Options options =
      Parse({"t", "--seed=9", "--race=hb", "--exit=immediate", "--heap=fresh", "--heap-overruns",
             "--spurious", "--fair", "--max-steps=500", "--no-posts", "--no-shared-sites"});
  SearchSettings expected;
  expected.seed = 9;
  expected.race = "hb";
  expected.exit = "immediate";
  expected.heap = "fresh";
  expected.heap_overruns = true;
  expected.spurious = true;
  expected.fair = true;
  expected.max_steps = 500;
  expected.disabled = {"posts", "shared-sites"};
  EXPECT_EQ(options.settings, expected);
}

TEST(Options, ErrorsSayWhatIsWrong) {
  EXPECT_THAT(ErrorOf({}), HasSubstr("no harness"));
  EXPECT_THAT(ErrorOf({"--no-such-thing-at-all", "t"}), HasSubstr("--no-such-thing-at-all"));
  EXPECT_THAT(ErrorOf({"--iteratve", "t"}), HasSubstr("did you mean --iterative?"));
  EXPECT_THAT(ErrorOf({"--keepgoing", "t"}), HasSubstr("did you mean --keep-going?"));
  EXPECT_THAT(ErrorOf({"-x", "t"}), HasSubstr("-x"));
  EXPECT_THAT(ErrorOf({"t", "u"}), HasSubstr("one word too many"));
  EXPECT_THAT(ErrorOf({"--strategy=sideways", "t"}),
              HasSubstr("odpor, source, dpor, dfs, delay, random, pct, pos or portfolio"));
  EXPECT_THAT(ErrorOf({"--strategy=portfolio", "--depth=2", "t"}),
              HasSubstr("--depth is of --strategy=pct"));
  EXPECT_THAT(ErrorOf({"--strategy=portfolio", "--preemptions=2", "t"}),
              HasSubstr("do not go with --strategy"));
  EXPECT_EQ(Parse({"--jobs=4", "t"}).workers, 4u);
  EXPECT_THAT(ErrorOf({"--jobs=65", "t"}), HasSubstr("at most 64"));
  EXPECT_EQ(ErrorOf({"--jobs=1", "t"}), "no error");
  EXPECT_THAT(ErrorOf({"--jobs=0", "t"}), HasSubstr("above 0"));
  EXPECT_THAT(ErrorOf({"--pp=lock,sideways", "t"}), HasSubstr("'sideways'"));
  EXPECT_THAT(ErrorOf({"--pp=access:x.cc", "t"}), HasSubstr("access:FILE:LINE"));
  EXPECT_THAT(ErrorOf({"--executions=-3", "t"}), HasSubstr("--executions"));
  EXPECT_THAT(ErrorOf({"--heap=sideways", "t"}), HasSubstr("thread, recycle or fresh"));
  EXPECT_THAT(ErrorOf({"--seed=x", "t"}), HasSubstr("--seed"));
  for (const char* bad : {"0", "-1", "", "x", "1e3", "99999999999999999999", "+1", "1 "}) {
    for (const char* option : {"--max-steps=", "--executions=", "--jobs="}) {
      EXPECT_THAT(ErrorOf({std::string(option) + bad, "t"}),
                  HasSubstr("it must be a number above 0"))
          << option << bad;
    }
  }
  for (const char* bad : {"-1", "", "99999999999999999999", "0x10"}) {
    EXPECT_THAT(ErrorOf({std::string("--seed=") + bad, "t"}), HasSubstr("--seed")) << bad;
  }
  for (const char* bad : {"", ",", "access:", "access:x.cc:", "access:x.cc:0", "access:x.cc:-3",
                          "access:x.cc:99999999999999999999", "access:0x", "access:0xzz"}) {
    EXPECT_THAT(ErrorOf({std::string("--pp=") + bad, "t"}), HasSubstr("--pp")) << bad;
  }
  EXPECT_THAT(ErrorOf({"--quiet=yes", "t"}), HasSubstr("takes no value"));
  for (const char* other : {"--seed=3", "--pp=lock", "--spurious", "--fair", "--max-steps=9", "--test=x",
                            "--list", "--no-posts"}) {
    EXPECT_THAT(ErrorOf({"--replay=f", other, "t"}), HasSubstr("--replay runs")) << other;
  }
  EXPECT_THAT(ErrorOf({"t", "--json"}), HasSubstr("--json=FILE"));
  EXPECT_THAT(ErrorOf({"--json=", "t"}), HasSubstr("needs a value"));
  EXPECT_THAT(ErrorOf({"--gdb", "t"}), HasSubstr("--replay"));
  EXPECT_THAT(ErrorOf({"--iterative", "--pp=lock", "t"}), HasSubstr("--pp"));
  EXPECT_THAT(ErrorOf({"--replay=f", "--strategy=dfs", "t"}), HasSubstr("--replay"));
  EXPECT_THAT(ErrorOf({"--visualize=x.png", "t"}), HasSubstr("--visualize"));
}

TEST(Options, HelpListsEveryOption) {
  const std::string help = HelpText();
  for (const char* name :
       {"--iterative",   "--strategy=S",     "--pp=SET",           "--replay=FILE",
        "--gdb",         "--visualize=FILE", "--test=NAME",        "--list",
        "--time=T",      "--executions=N",   "--jobs=N",           "--seed=N",
        "--race=R",      "--fail-on-race=S", "--keep-going",       "--exit=E",
        "--heap=H",      "--heap-overruns",  "--output=DIR",       "--json=FILE",
        "--junit=FILE",  "--sarif=FILE",     "--require-complete", "--spurious",
        "--fair",        "--quiet",          "--verbose",          "--color=WHEN",
        "--max-steps=N", "--help",           "--version",          "--no-read-locks"}) {
    EXPECT_THAT(help, HasSubstr(name));
  }
  EXPECT_EQ(help.find("internal"), std::string::npos);
}

TEST(PpSet, TextIsCanonical) {
  EXPECT_EQ(PpSet::Parse("unlock,lock")->Text(), "lock,unlock");
  EXPECT_EQ(PpSet::Parse("lock,unlock,cond,thread,yield")->Text(), "sync");
  EXPECT_EQ(PpSet::Parse("access:b.cc:2,atomic,access:a.cc:1,sync")->Text(),
            "sync,atomic,access:a.cc:1,access:b.cc:2");
  EXPECT_EQ(PpSet::Parse("all")->Text(), "all");
  EXPECT_EQ(PpSet::Parse("none")->Text(), "none");
  EXPECT_EQ(PpSet::Parse("access:0x40a1")->Text(), "access:0x40a1");
  EXPECT_TRUE(PpSet::Parse("none")->Names().empty());
}

TEST(PpSet, Inclusion) {
  const auto set = [](const char* text) { return *PpSet::Parse(text); };
  EXPECT_TRUE(set("sync").Includes(set("lock")));
  EXPECT_FALSE(set("lock").Includes(set("sync")));
  EXPECT_TRUE(set("lock").Includes(set("none")));
  EXPECT_TRUE(set("lock,access:a:1,access:b:2").Includes(set("access:b:2")));
  EXPECT_FALSE(set("lock,access:a:1").Includes(set("access:b:2")));
  EXPECT_TRUE(set("all").Includes(set("sync,atomic,access:b:2")));
  EXPECT_FALSE(set("sync").Includes(set("atomic")));
}

TEST(Text, NearestAndQuoting) {
  EXPECT_EQ(NearestOf("Pushh", {"Pop", "Push", "Size"}), "Push");
  EXPECT_EQ(NearestOf("Unrelated", {"Pop", "Push", "Size"}), "");
  EXPECT_EQ(ShellQuoted("mc-out/a.schedule"), "mc-out/a.schedule");
  EXPECT_EQ(ShellQuoted("it's"), "'it'\\''s'");
  EXPECT_EQ(ShellQuoted(""), "''");
}

}  // namespace
}  // namespace mc::checker
