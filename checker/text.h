// Small text helpers of the supervisor.
//
// Abseil may be built with a string_view of its own (as Debian's packages are); View makes one from
// the standard type that the rest of the code uses.
#ifndef MC_CHECKER_TEXT_H_
#define MC_CHECKER_TEXT_H_

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/string_view.h"

namespace mc::checker {

inline absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

// The whole of `text` as a number in `base`; nullopt if it is not one or does not fit.
template <std::integral T>
std::optional<T> ParseNumber(std::string_view text, int base = 10) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

// A word for a POSIX shell: quoted unless that is not needed.
std::string ShellQuoted(std::string_view word);

// The candidate that differs least from `word`, or "" if none is near enough to suggest.
std::string NearestOf(std::string_view word, const std::vector<std::string>& candidates);

// "1 execution", "2 executions".
std::string Count(uint64_t number, std::string_view noun);

}  // namespace mc::checker

#endif  // MC_CHECKER_TEXT_H_
