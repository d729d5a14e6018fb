// Text and colours that the pictures share.
#ifndef MC_CHECKER_PICTURE_TEXT_H_
#define MC_CHECKER_PICTURE_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "checker/picture.h"

namespace mc::checker {

inline constexpr std::string_view kRacingFill = "#ffe3b3";
inline constexpr std::string_view kRacingStroke = "#d97700";
inline constexpr std::string_view kFailingFill = "#ffd0d0";
inline constexpr std::string_view kFailingStroke = "#c00000";

// Pale, and told apart also by most who are colour-blind; repeats after 8 threads.
std::string_view FillOfThread(uint32_t thread);
std::string_view StrokeOfThread(uint32_t thread);

std::string ThreadTitle(const PictureStep& step);
// "lock", "choose 2", ...
std::string WhatOf(const PictureStep& step);

// Valid UTF-8 without control characters other than newline.
std::string Printable(std::string_view text);
std::string XmlEscaped(std::string_view text);
// For a quoted string of the dot language; each newline becomes `line_end`.
std::string DotEscaped(std::string_view text, std::string_view line_end = "\\n");
// At most `length` characters (code points), the end replaced by "…" if it is longer.
std::string Shortened(std::string_view text, size_t length);
// The same, but the beginning is dropped: the end of a path says more.
std::string ShortenedAtFront(std::string_view text, size_t length);
size_t CharacterCount(std::string_view text);

// Runs the Graphviz program `dot` on a graph; `svg` receives the drawing.
absl::Status RunDot(const std::string& graph, std::string* svg);

}  // namespace mc::checker

#endif  // MC_CHECKER_PICTURE_TEXT_H_
