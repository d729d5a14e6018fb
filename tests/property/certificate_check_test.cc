// The certificate checker over random programs: it accepts what a right search finds, and rejects
// it once any trace is missing, doubled or changed (spec optimal-dpor 11).
#include "checker/certificate/certificate_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>

#include "checker/certificate/trace_code.h"
#include "dpor/source.h"
#include "tests/toy/explore.h"
#include "tests/toy/random_programs.h"
#include "tests/toy/search_mutants.h"

namespace mc::toy {
namespace {

using checker::CertificateCheck;
using checker::RecordedTraces;
using checker::Rejection;

struct Certified {
  RecordedTraces traces;
  Exploration found;
};

// What the search finds on the program, by way of the bytes of a certificate.
Certified Certify(const Program& program, dpor::Search& search, uint64_t limit,
                  ModelMutation mutation = ModelMutation::kNone) {
  Certified result;
  Machine machine(program, mutation);
  sched::Trace trace;
  checker::TraceWriter writer;
  RunStrategy(machine, search, trace, [&](const Machine& m, const sched::Trace& t) {
    writer.Follow(t, search.branch_depth());
    result.found.Add(m, t);
    return result.found.executions < limit;
  });
  EXPECT_EQ(checker::TraceReader().Read(writer.bytes(), &result.traces), "");
  return result;
}

RecordedTraces TracesOf(const Program& program, dpor::Search& search, uint64_t limit) {
  return Certify(program, search, limit).traces;
}

// "" if accepted.
std::string Check(const RecordedTraces& traces) {
  const std::optional<Rejection> rejection = CertificateCheck(traces).Run();
  return rejection ? std::to_string(rejection->condition) + ": " + rejection->text : "";
}

RecordedTraces FoundBy(const Program& program, dpor::Policy policy) {
  dpor::OptimalSearchOptions options;
  options.policy = policy;
  options.seed = 5;
  dpor::OptimalSearch<false> search(options);
  return TracesOf(program, search, 100'000);
}

// Of `traces`, those for which keep(number) says so.
template <typename Keep>
RecordedTraces Some(const RecordedTraces& traces, const Keep& keep) {
  RecordedTraces some = traces;
  some.traces.clear();
  for (size_t k = 0; k < traces.traces.size(); ++k) {
    if (keep(k)) some.traces.push_back(traces.traces[k]);
  }
  return some;
}

TEST(CertificateCheck, AcceptsWhatTheSearchesFind) {
  ForRandomPrograms(ProgramCount(3000), [](const Program& program, const Exploration& expected) {
    for (const dpor::Policy policy : kPolicies) {
      const RecordedTraces traces = FoundBy(program, policy);
      if (traces.traces.size() != expected.traces.size()) return std::string("other traces");
      if (std::string wrong = Check(traces); !wrong.empty()) return "odpor " + wrong;
    }
    dpor::SourceSearch source(dpor::Policy::kStay, 3);
    const RecordedTraces traces = TracesOf(program, source, 1'000'000);
    if (traces.traces.size() != expected.traces.size()) return std::string("source: other traces");
    if (std::string wrong = Check(traces); !wrong.empty()) return "source " + wrong;
    return std::string();
  });
}

TEST(CertificateCheck, RejectsIfATraceIsMissing) {
  ForRandomPrograms(ProgramCount(2000), [](const Program& program, const Exploration&) {
    const RecordedTraces traces = FoundBy(program, dpor::Policy::kStay);
    const size_t count = traces.traces.size();
    if (count < 2 || count > 400) return std::string();
    for (size_t gone = 0; gone < count; ++gone) {
      const std::string wrong = Check(Some(traces, [&](size_t k) { return k != gone; }));
      if (!wrong.starts_with("6:")) {
        return "without trace " + std::to_string(gone) + " of " + std::to_string(count) + ": '" +
               wrong + "'";
      }
    }
    return std::string();
  });
}

TEST(CertificateCheck, RejectsIfManyAreMissingOrOneIsThereTwice) {
  ForRandomPrograms(ProgramCount(2000), [](const Program& program, const Exploration&) {
    const RecordedTraces traces = FoundBy(program, dpor::Policy::kLowest);
    const size_t count = traces.traces.size();
    RecordedTraces doubled = traces;
    doubled.traces.push_back(traces.traces[count / 2]);
    if (!Check(doubled).starts_with("5:")) return std::string("one doubled");
    if (!Check(Some(traces, [](size_t) { return false; })).starts_with("1:")) {
      return std::string("none");
    }
    if (count < 2) return std::string();
    const auto accepts = [&](auto keep) { return Check(Some(traces, keep)).empty(); };
    if (accepts([&](size_t k) { return k < count / 2; })) return std::string("the first half");
    if (accepts([&](size_t k) { return k >= count / 2; })) return std::string("the second half");
    if (accepts([&](size_t k) { return k % 2 == 0; })) return std::string("every second");
    std::mt19937_64 random(count);
    for (int times = 0; times < 20; ++times) {
      size_t kept = 0;
      const uint64_t bits = random();
      const auto keep = [&](size_t k) { return (bits >> (k % 61) & 1) != 0; };
      for (size_t k = 0; k < count; ++k) kept += keep(k) ? 1 : 0;
      if (kept != 0 && kept != count && accepts(keep)) {
        return std::to_string(kept) + " of " + std::to_string(count);
      }
    }
    return std::string();
  });
}

// Traces that end too early.
TEST(CertificateCheck, RejectsIfTracesAreCut) {
  ForRandomPrograms(ProgramCount(1000), [](const Program& program, const Exploration&) {
    const RecordedTraces traces = FoundBy(program, dpor::Policy::kStay);
    for (size_t k = 0; k < traces.traces.size() && k < 50; ++k) {
      if (traces.traces[k].events.empty()) continue;
      RecordedTraces cut = traces;
      cut.traces[k].events.pop_back();
      if (Check(cut).empty()) return "trace " + std::to_string(k) + " without its last event";
    }
    return std::string();
  });
}

// Whatever the bytes say, they are read and checked without harm; cut off, they are not accepted.
// (What else is another one may well be in order by itself: the executions tell.)
TEST(CertificateCheck, SurvivesDamage) {
  std::mt19937_64 random(11);
  uint64_t checked = 0, refused = 0;
  for (const KnownProgram& known : RegressionPrograms()) {
    const RecordedTraces traces = FoundBy(ParseOrDie(known.text), dpor::Policy::kStay);
    if (traces.traces.size() > 70) continue;
    const std::string bytes = checker::EncodeTraces(traces);
    for (int times = 0; times < 300; ++times) {
      std::string damaged = bytes;
      for (uint64_t changes = random() % 3 + 1; changes > 0; --changes) {
        damaged[random() % damaged.size()] ^= static_cast<char>(1 << random() % 8);
      }
      RecordedTraces read, cut;
      if (!checker::TraceReader().Read(damaged, &read).empty()) continue;
      ++checked;
      refused += Check(read).empty() ? 0 : 1;
      const std::string_view part = std::string_view(bytes).substr(0, random() % bytes.size());
      EXPECT_TRUE(!checker::TraceReader().Read(part, &cut).empty() || !Check(cut).empty());
    }
  }
  EXPECT_GT(checked, 1000U);
  EXPECT_GT(refused, checked / 2);
}

// -- Searches that make mistakes -----------------------------------------------------------------

enum class Told { kRight, kLost, kDoubled };

// What a search with the mistake did, and "" if the checker says so of its traces, else what is
// wrong with that. A search that ends with an error writes no certificate; its traces are looked at
// all the same.
std::string CheckMutant(const Program& program, const Exploration& expected,
                        const dpor::OptimalSearchOptions& options, Told* told) {
  dpor::OptimalSearch<true> search(options);
  const Certified certified = Certify(program, search, 3 * expected.traces.size() + 3);
  size_t doubled = 0;
  for (const auto& [hash, times] : certified.found.traces) doubled += times - 1;
  *told = certified.found.traces.size() < expected.traces.size() ? Told::kLost
          : doubled != 0                                         ? Told::kDoubled
                                                                 : Told::kRight;
  const std::string rejection = Check(certified.traces);
  if (*told == Told::kRight) return rejection.empty() ? "" : "rejected: " + rejection;
  return rejection.empty() ? "accepted" : "";
}

class MutantsCertificate : public testing::TestWithParam<MutantCase> {};

// On the program that shows the mistake, under every policy, and on random programs.
TEST_P(MutantsCertificate, IsRejectedIfTracesAreLost) {
  uint64_t told[3] = {};
  const auto check = [&](const Program& program, const Exploration& expected) {
    for (const dpor::Policy policy : kPolicies) {
      for (const bool oldest_first : {false, true}) {
        dpor::OptimalSearchOptions options;
        options.policy = policy;
        options.seed = 7;
        options.oldest_request_first = oldest_first;
        options.mutation = GetParam().mutation;
        Told what;
        const std::string wrong = CheckMutant(program, expected, options, &what);
        ++told[static_cast<int>(what)];
        if (!wrong.empty()) return wrong;
      }
    }
    return std::string();
  };
  const Program program = ParseOrDie(GetParam().text);
  EXPECT_EQ(check(program, BruteForce(program, 100'000)), "");
  ForRandomPrograms(ProgramCount(300), check);
  EXPECT_NE(told[static_cast<int>(Told::kLost)], 0U)
      << told[0] << " right, " << told[2] << " only doubled some";
}

INSTANTIATE_TEST_SUITE_P(All, MutantsCertificate, testing::ValuesIn(kSearchMutants),
                         [](const auto& info) { return std::string(info.param.name); });

// Cutting an execution at a failure loses traces, too: those that are there are not maximal.
TEST(ExecutionMutantsCertificate, IsRejected) {
  const std::pair<ModelMutation, const char*> cases[] = {
      {ModelMutation::kAssumeCuts, "x=1 ‖ r3=x, assume r3==1"},
      {ModelMutation::kAssertCuts, "r3=x, assert r3==0 ‖ x=1; x=0"},
  };
  for (const auto& [mutation, text] : cases) {
    const Program program = ParseOrDie(text);
    const size_t expected = BruteForce(program, 1000).traces.size();
    size_t lost = 0;
    for (const dpor::Policy policy : kPolicies) {
      dpor::OptimalSearchOptions options;
      options.policy = policy;
      dpor::OptimalSearch<false> search(options);
      const Certified certified = Certify(program, search, 1000, mutation);
      if (certified.found.traces.size() == expected) continue;
      ++lost;
      EXPECT_NE(Check(certified.traces), "") << text;
    }
    EXPECT_NE(lost, 0U) << text;
  }
}

}  // namespace
}  // namespace mc::toy
