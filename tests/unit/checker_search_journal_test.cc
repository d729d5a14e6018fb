#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "checker/search_journal.h"

namespace mc::checker {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class SearchJournalTest : public testing::Test {
 protected:
  SearchJournalTest() {
    std::string name = (fs::temp_directory_path() / "mc-journal-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~SearchJournalTest() override { fs::remove_all(folder_); }

  std::unique_ptr<SearchJournal> Open(const std::string& heap = "thread") {
    auto journal = SearchJournal::Open(folder_, "main", Message("header").Set("--heap", heap));
    error_ = std::string(journal.status().message());
    return journal.ok() ? std::move(*journal) : nullptr;
  }
  // A journal with two commits, and something after them.
  void Write() {
    const auto journal = Open();
    ASSERT_NE(journal, nullptr) << error_;
    journal->Append(Message("slice").Set("job", uint64_t{1}));
    ASSERT_TRUE(journal->SetState(1, "first").ok());
    ASSERT_TRUE(journal->SetState(2, "other").ok());
    ASSERT_TRUE(journal->Commit(1.5).ok());
    journal->Append(Message("end").Set("how", "paused"));
    ASSERT_TRUE(journal->SetState(1, "second").ok());
    ASSERT_TRUE(journal->SetState(2, "").ok());
    ASSERT_TRUE(journal->Commit(2.5).ok());
    journal->Append(Message("slice").Set("job", uint64_t{3}));
    ASSERT_TRUE(journal->SetState(1, "third").ok());
  }
  std::string Text() const {
    std::ifstream file(folder_ + "/main.journal", std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  void SetText(const std::string& text) const {
    std::ofstream(folder_ + "/main.journal", std::ios::binary) << text;
  }

  std::string folder_, error_;
};

TEST_F(SearchJournalTest, WhatWasCommittedLastCounts) {
  Write();
  const auto journal = Open();
  ASSERT_NE(journal, nullptr) << error_;
  ASSERT_TRUE(journal->replaying());
  EXPECT_EQ(journal->Take().type(), "slice");
  ASSERT_TRUE(journal->replaying());
  EXPECT_EQ(journal->Peek().type(), "end");
  EXPECT_EQ(journal->Take().Text("how"), "paused");
  EXPECT_FALSE(journal->replaying());
  EXPECT_EQ(*journal->StateOf(1), "second");
  EXPECT_EQ(*journal->StateOf(2), "");
  EXPECT_EQ(*journal->StateOf(3), "");
  EXPECT_EQ(journal->seconds_before(), 2.5);
}

TEST_F(SearchJournalTest, GoesOnWhereItWas) {
  Write();
  auto journal = Open();
  ASSERT_NE(journal, nullptr) << error_;
  while (journal->replaying()) journal->Take();
  journal->Append(Message("short"));
  ASSERT_TRUE(journal->SetState(2, "again").ok());
  ASSERT_TRUE(journal->Commit(9).ok());
  journal = nullptr;
  journal = Open();
  ASSERT_NE(journal, nullptr) << error_;
  int records = 0;
  for (; journal->replaying(); ++records) journal->Take();
  EXPECT_EQ(records, 3);
  EXPECT_EQ(*journal->StateOf(1), "second");
  EXPECT_EQ(*journal->StateOf(2), "again");
}

// Killed at any moment while it wrote: what was committed before is there.
TEST_F(SearchJournalTest, EveryPrefixIsThatOfACommitOrRefused) {
  Write();
  const std::string text = Text();
  const size_t header = text.find('\n') + 1;
  for (size_t length = 0; length <= text.size(); ++length) {
    SetText(text.substr(0, length));
    const auto journal = Open();
    if (length < header) {
      EXPECT_EQ(journal, nullptr) << "of " << length << " bytes";
      continue;
    }
    ASSERT_NE(journal, nullptr) << error_ << " of " << length << " bytes";
    int records = 0;
    for (; journal->replaying(); ++records) journal->Take();
    EXPECT_THAT(records, testing::AnyOf(0, 1, 2)) << "of " << length << " bytes";
    if (length == text.size()) {
      EXPECT_EQ(records, 2);
    }
    SetText(text);
  }
}

TEST_F(SearchJournalTest, DamageIsNoticed) {
  Write();
  const std::string text = Text();
  for (size_t at = 0; at < text.size(); ++at) {
    std::string damaged = text;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    SetText(damaged);
    const auto journal = Open();
    if (journal == nullptr) {
      EXPECT_THAT(error_, HasSubstr("--resume: ")) << "byte " << at;
      continue;
    }
    // The last commit is not known as one any more: then what the one before says counts.
    int records = 0;
    for (; journal->replaying(); ++records) journal->Take();
    EXPECT_LT(records, 2) << "byte " << at;
  }
}

TEST_F(SearchJournalTest, ADamagedStateIsNoticed) {
  Write();
  for (const auto& entry : fs::directory_iterator(folder_)) {
    if (entry.path().extension() == ".state") std::ofstream(entry.path(), std::ios::app) << "x";
  }
  const auto journal = Open();
  ASSERT_NE(journal, nullptr) << error_;
  EXPECT_THAT(std::string(journal->StateOf(1).status().message()), HasSubstr("damaged"));
}

TEST_F(SearchJournalTest, AnotherSearchIsRefused) {
  Write();
  EXPECT_EQ(Open("recycle"), nullptr);
  EXPECT_THAT(error_, HasSubstr("--heap was 'thread' and is 'recycle'"));
}

TEST_F(SearchJournalTest, OldStatesAreRemoved) {
  Write();
  Open();
  int states = 0;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    states += entry.path().extension() == ".state" ? 1 : 0;
  }
  EXPECT_EQ(states, 1);
}

TEST_F(SearchJournalTest, AFolderHasOneUserAndIsNotOverwritten) {
  EXPECT_THAT(std::string(JournalFolder::Open(folder_, true).status().message()),
              HasSubstr("there is no checkpoint"));
  Write();
  EXPECT_THAT(std::string(JournalFolder::Open(folder_, false).status().message()),
              HasSubstr("holds a checkpoint"));
  const auto first = JournalFolder::Open(folder_, true);
  ASSERT_TRUE(first.ok());
  EXPECT_THAT(std::string(JournalFolder::Open(folder_, true).status().message()),
              HasSubstr("another mc"));
}

}  // namespace
}  // namespace mc::checker
