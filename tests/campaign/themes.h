// Pieces of programs by theme, as text. A program mixes a few themes, so that their operations
// meet.
//
// `;` separates operations; `,` joins two into one block (mc_atomic_begin ... end); `!` makes an
// operation a block of its own, whatever it does inside; `?0` and `?1` run an operation only if the
// result before it was zero, or not.
#ifndef MC_TESTS_CAMPAIGN_THEMES_H_
#define MC_TESTS_CAMPAIGN_THEMES_H_

#include <span>
#include <string_view>

namespace mc::campaign {

struct Theme {
  std::string_view name;
  std::span<const char* const> pieces;
  bool common;  // part of Profile::kAny
};

std::span<const Theme> Themes();
const Theme& ThemeNamed(std::string_view name);

}  // namespace mc::campaign

#endif  // MC_TESTS_CAMPAIGN_THEMES_H_
