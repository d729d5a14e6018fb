// Word text: many numbers as letters, for the fields of messages and for files.
//
// Most of the numbers of a search are small, and whole sequences of them, events, come again and
// again. So a text is made in two steps. First, sequences that were there before are replaced: the
// words become groups of
//     number of words that follow as they are, these words, length of a copy, how far back it is
// (the last group may end after the words). Then each number is written in groups of five bits, the
// lowest first, one letter for each group; the sixth bit of a letter says that another one follows.
#ifndef MC_CHECKER_WORD_TEXT_H_
#define MC_CHECKER_WORD_TEXT_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mc::checker {

// The letters need no escapes in a message.
std::string TextOfWords(std::span<const uint32_t> words);
// False if it is no such text; *words is then unspecified.
bool ParseWords(std::string_view text, std::vector<uint32_t>* words);

}  // namespace mc::checker

#endif  // MC_CHECKER_WORD_TEXT_H_
