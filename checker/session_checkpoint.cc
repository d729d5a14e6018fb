// Session: searches that another run of mc can go on with (--checkpoint, --resume).
#include <algorithm>
#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "checker/protocol.h"
#include "checker/session.h"
#include "checker/text.h"

namespace mc::checker {
namespace {

std::string_view YesNo(bool value) { return value ? "yes" : "no"; }

std::string_view NameOf(FailOnRace policy) {
  switch (policy) {
    case FailOnRace::kConfirmed:
      return "confirmed";
    case FailOnRace::kSuspected:
      return "suspected";
    case FailOnRace::kNever:
      return "never";
  }
  return "";
}

// Where everything lies: what a search has written down is full of addresses.
std::string LayoutOf(const std::vector<Module>& modules) {
  return absl::StrJoin(modules, ";", [](std::string* out, const Module& module) {
    absl::StrAppend(out, module.path, ",", module.base, ",", module.end);
  });
}

// What must be the same to go on with a search.
Message HeaderOf(const Options& options, const Hello& hello, const std::string& test) {
  Message header("header");
  header.Set("version", kVersion).Set("harness", hello.build_id);
  header.Set("modules", LayoutOf(hello.modules));
  header.Set("name", options.harness);
  header.Set("arguments", absl::StrJoin(options.arguments, " "));
  header.Set("entry", hello.entry).Set("test", test);
  header.Set("--iterative", YesNo(options.SearchesIteratively()));
  header.Set("--pp", options.pps.Text());
  for (const std::string_view name : SearchSettings::Names()) {
    header.Set(absl::StrCat("--", View(name)), options.settings.Get(name));
  }
  header.Set("--fair", YesNo(options.settings.fair));
  header.Set("--keep-going", YesNo(options.keep_going || options.saturate));
  header.Set("--fail-on-race", NameOf(options.fail_on_race));
  header.Set("--final-states", YesNo(!options.final_states.empty()));
  header.Set("--visualize", YesNo(!options.visualize.empty()));
  return header;
}

}  // namespace

absl::Status Session::OpenJournals() {
  if (options_.checkpoint.empty()) return absl::OkStatus();
  auto folder = JournalFolder::Open(options_.checkpoint, options_.resume);
  if (!folder.ok()) return folder.status();
  journals_ = std::move(*folder);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<SearchJournal>> Session::OpenJournal(const std::string& test) {
  if (journals_ == nullptr) return nullptr;
  // Tests are told apart by their numbers, also where their names are not fit for files.
  const std::vector<std::string>& tests = harness_->hello().tests;
  const auto number = std::ranges::find(tests, test) - tests.begin();
  const std::string name = test.empty() ? "main" : absl::StrCat(number, "-", FileNamePart(test));
  return SearchJournal::Open(journals_->path(), name, HeaderOf(options_, harness_->hello(), test));
}

void Session::CloseJournal(const SearchJournal& journal, WorkerRunner* runner, TestResult* result) {
  if (runner->failure().ok() || absl::IsCancelled(runner->failure())) runner->CommitAtEnd();
  result->seconds += journal.seconds_before();
  report_.seconds += journal.seconds_before();
  const absl::Status& failure = runner->journal_failure();
  const bool is_saved = failure.ok() || absl::IsCancelled(failure);
  report_.checkpoint = is_saved ? options_.checkpoint : "";
  if (is_saved) return;
  display_.Clear();
  fprintf(stderr, "mc: warning: %s; --resume goes on from what was saved before\n",
          std::string(failure.message()).c_str());
}

}  // namespace mc::checker
