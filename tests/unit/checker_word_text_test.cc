#include <gtest/gtest.h>

#include <random>

#include "checker/word_text.h"

namespace mc::checker {
namespace {

using Words = std::vector<uint32_t>;

std::string RoundTrip(const Words& words) {
  const std::string text = TextOfWords(words);
  if (text.find_first_of(" =%;,\n") != std::string::npos) return "needs escapes: " + text;
  Words read;
  if (!ParseWords(text, &read)) return "cannot be read: " + text;
  return read == words ? "" : "is something else when read: " + text;
}

TEST(WordText, ComesBack) {
  EXPECT_EQ(RoundTrip({}), "");
  EXPECT_EQ(RoundTrip({0}), "");
  EXPECT_EQ(RoundTrip({31, 32, 33, 1023, 1024, ~uint32_t{0}}), "");
  EXPECT_EQ(RoundTrip(Words(1000, 7)), "");
}

// Sequences of a few kinds, one after the other, as events are; of all lengths, also around those
// from which on they are copied.
TEST(WordText, RandomSequencesComeBack) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 3000; ++round) {
    std::vector<Words> kinds(1 + random() % 5);
    for (Words& kind : kinds) {
      kind.resize(random() % 12);
      for (uint32_t& word : kind) word = static_cast<uint32_t>(random() >> (random() % 64));
    }
    Words words;
    for (uint64_t left = random() % 40; left > 0; --left) {
      const Words& kind = kinds[random() % kinds.size()];
      words.insert(words.end(), kind.begin(), kind.end());
      if (random() % 4 == 0) words.push_back(static_cast<uint32_t>(random() % 3));
    }
    ASSERT_EQ(RoundTrip(words), "") << "round " << round;
  }
}

TEST(WordText, WhatWasThereBeforeTakesLittleRoom) {
  Words words;
  for (uint32_t k = 0; k < 1000; ++k) {
    for (uint32_t word = 1000; word < 1020; ++word) words.push_back(word);
    words.push_back(k);
  }
  EXPECT_LT(TextOfWords(words).size(), 10 * 1000u);
}

TEST(WordText, OtherTextIsRefused) {
  Words words;
  EXPECT_FALSE(ParseWords("", &words));
  EXPECT_FALSE(ParseWords("B", &words)) << "a word is missing";
  EXPECT_FALSE(ParseWords("BCEB", &words)) << "a copy of more than there is";
  EXPECT_FALSE(ParseWords("AEA", &words)) << "a copy from nowhere";
  EXPECT_FALSE(ParseWords("BCE", &words)) << "half a copy";
  EXPECT_FALSE(ParseWords("B+", &words)) << "no letter";
  EXPECT_FALSE(ParseWords("Bg", &words)) << "a number has no end";
  EXPECT_FALSE(ParseWords("B________", &words)) << "a number of more than 32 bits";
}

TEST(WordText, NoPrefixBringsItDown) {
  Words words(300), read;
  std::mt19937_64 random(2);
  for (uint32_t& word : words) word = static_cast<uint32_t>(random() % 50);
  const std::string text = TextOfWords(words);
  for (size_t length = 0; length < text.size(); ++length) {
    if (ParseWords(text.substr(0, length), &read)) {
      EXPECT_LE(read.size(), words.size());
    }
  }
}

}  // namespace
}  // namespace mc::checker
