#include "checker/word_text.h"

#include <array>

namespace mc::checker {
namespace {

using Words = std::vector<uint32_t>;

// -- Copies
// ----------------------------------------------------------------------------------------

// Shorter copies take as much room as the words.
constexpr size_t kLeastCopy = 4;
constexpr int kTableBits = 16;
// A text that grows more than this was not written by us.
constexpr size_t kMostWords = size_t{1} << 32;

uint32_t BucketOf(const uint32_t* words) {
  uint64_t hash = 0;
  for (size_t k = 0; k < kLeastCopy; ++k) hash = (hash ^ words[k]) * 0x9e3779b97f4a7c15u;
  return static_cast<uint32_t>(hash >> (64 - kTableBits));
}

void WriteGroup(std::span<const uint32_t> plain, Words* out) {
  out->push_back(static_cast<uint32_t>(plain.size()));
  out->insert(out->end(), plain.begin(), plain.end());
}

// With what follows the last place that began with the same words.
Words ReplaceCopies(std::span<const uint32_t> words) {
  Words out;
  std::vector<uint32_t> last(size_t{1} << kTableBits, 0);  // position + 1
  size_t plain = 0, at = 0;
  while (at + kLeastCopy <= words.size()) {
    uint32_t& known = last[BucketOf(&words[at])];
    const size_t from = known == 0 ? at : known - 1;
    known = static_cast<uint32_t>(at + 1);
    size_t length = 0;
    while (from < at && at + length < words.size() && words[from + length] == words[at + length]) {
      ++length;
    }
    if (length < kLeastCopy) {
      ++at;
      continue;
    }
    WriteGroup(words.subspan(plain, at - plain), &out);
    out.push_back(static_cast<uint32_t>(length));
    out.push_back(static_cast<uint32_t>(at - from));
    for (const size_t end = at + length; at < end; ++at) {
      if (at + kLeastCopy <= words.size()) {
        last[BucketOf(&words[at])] = static_cast<uint32_t>(at + 1);
      }
    }
    plain = at;
  }
  WriteGroup(words.subspan(plain), &out);
  return out;
}

bool PutCopiesBack(std::span<const uint32_t> packed, Words* words) {
  size_t at = 0;
  while (at < packed.size()) {
    const size_t plain = packed[at++];
    if (plain > packed.size() - at) return false;
    words->insert(words->end(), packed.begin() + static_cast<ptrdiff_t>(at),
                  packed.begin() + static_cast<ptrdiff_t>(at + plain));
    at += plain;
    if (at == packed.size()) return true;
    if (packed.size() - at < 2) return false;
    const size_t length = packed[at], back = packed[at + 1];
    at += 2;
    if (back == 0 || back > words->size() || length > kMostWords - words->size()) return false;
    for (size_t k = 0; k < length; ++k) words->push_back((*words)[words->size() - back]);
  }
  return false;  // it ends with a copy, or is empty
}

// -- Letters
// ---------------------------------------------------------------------------------------

constexpr std::string_view kLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr uint32_t kFollows = 32;
constexpr uint8_t kNoLetter = 64;

constexpr std::array<uint8_t, 256> ValuesOfLetters() {
  std::array<uint8_t, 256> values{};
  values.fill(kNoLetter);
  for (uint8_t k = 0; k < kLetters.size(); ++k) values[static_cast<uint8_t>(kLetters[k])] = k;
  return values;
}
constexpr std::array<uint8_t, 256> kValues = ValuesOfLetters();

bool ParseLetters(std::string_view text, Words* words) {
  uint64_t word = 0;
  uint32_t shift = 0;
  for (const char c : text) {
    const uint8_t value = kValues[static_cast<uint8_t>(c)];
    if (value == kNoLetter || shift > 30) return false;
    word |= uint64_t{value & (kFollows - 1)} << shift;
    shift += 5;
    if ((value & kFollows) != 0) continue;
    if (word > ~uint32_t{0}) return false;
    words->push_back(static_cast<uint32_t>(word));
    word = shift = 0;
  }
  return shift == 0;
}

}  // namespace

std::string TextOfWords(std::span<const uint32_t> words) {
  std::string text;
  for (uint32_t word : ReplaceCopies(words)) {
    for (; word >= kFollows; word >>= 5) text += kLetters[kFollows | (word & (kFollows - 1))];
    text += kLetters[word];
  }
  return text;
}

bool ParseWords(std::string_view text, std::vector<uint32_t>* words) {
  words->clear();
  Words packed;
  return ParseLetters(text, &packed) && PutCopiesBack(packed, words);
}

}  // namespace mc::checker
