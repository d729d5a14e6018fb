#include "checker/picture_text.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "checker/text.h"

namespace mc::checker {
namespace {

struct ThreadColors {
  std::string_view fill, stroke;
};
constexpr std::array<ThreadColors, 8> kThreadColors = {{
    {"#dbe9f6", "#2f6ea5"},
    {"#dff2de", "#3a8a3a"},
    {"#eee4f6", "#7a4ba0"},
    {"#fbf3cf", "#94801a"},
    {"#d9f1f2", "#1f8a90"},
    {"#f8e0ec", "#ad4a7d"},
    {"#ece7e1", "#7b6a55"},
    {"#e6e8ec", "#5a6472"},
}};

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

// Length of the UTF-8 character at the beginning of `text`; 0 if it is malformed, or a character
// that XML 1.0 does not allow.
size_t CharacterLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  if (byte(0) < 0x80) return byte(0) >= 0x20 || byte(0) == '\n' ? 1 : 0;
  size_t length;
  uint32_t code;
  if ((byte(0) & 0xe0) == 0xc0) {
    length = 2, code = byte(0) & 0x1f;
  } else if ((byte(0) & 0xf0) == 0xe0) {
    length = 3, code = byte(0) & 0x0f;
  } else if ((byte(0) & 0xf8) == 0xf0) {
    length = 4, code = byte(0) & 0x07;
  } else {
    return 0;
  }
  if (text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool allowed = code >= kLeast[length] && code <= 0x10ffff &&
                       !(code >= 0xd800 && code <= 0xdfff) && code != 0xfffe && code != 0xffff;
  return allowed ? length : 0;
}

bool StartsCharacter(char c) { return (static_cast<uint8_t>(c) & 0xc0) != 0x80; }

}  // namespace

std::string_view FillOfThread(uint32_t thread) {
  return kThreadColors[thread % kThreadColors.size()].fill;
}
std::string_view StrokeOfThread(uint32_t thread) {
  return kThreadColors[thread % kThreadColors.size()].stroke;
}

std::string ThreadTitle(const PictureStep& step) {
  return step.thread_name.empty() ? absl::StrCat("T", step.thread) : step.thread_name;
}

std::string WhatOf(const PictureStep& step) {
  std::string text = step.what.empty() ? "step" : step.what;
  if (!step.choices.empty()) absl::StrAppend(&text, ", choose ", absl::StrJoin(step.choices, ", "));
  return text;
}

std::string Printable(std::string_view text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '\t') {
      result += ' ';
      ++at;
      continue;
    }
    const size_t length = CharacterLength(text.substr(at));
    if (length == 0) {
      result += kReplacement;
      ++at;
      continue;
    }
    result += text.substr(at, length);
    at += length;
  }
  return result;
}

std::string XmlEscaped(std::string_view text) {
  std::string result;
  for (const char c : Printable(text)) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string DotEscaped(std::string_view text, std::string_view line_end) {
  std::string result;
  for (const char c : Printable(text)) {
    switch (c) {
      case '"':
        result += "\\\"";
        break;
      case '\\':
        result += "\\\\";
        break;
      case '&':
        result += "&amp;";
        break;  // dot resolves entities in labels
      case '\n':
        result += line_end;
        break;
      default:
        result += c;
    }
  }
  return result;
}

size_t CharacterCount(std::string_view text) {
  size_t count = 0;
  for (const char c : text) count += StartsCharacter(c);
  return count;
}

std::string Shortened(std::string_view text, size_t length) {
  const std::string clean = Printable(text);
  if (CharacterCount(clean) <= length) return clean;
  size_t at = 0, count = 0;
  while (at < clean.size() && (count < length - 1 || !StartsCharacter(clean[at]))) {
    count += StartsCharacter(clean[at++]);
  }
  return clean.substr(0, at) + "…";
}

std::string ShortenedAtFront(std::string_view text, size_t length) {
  const std::string clean = Printable(text);
  size_t excess = CharacterCount(clean);
  if (excess <= length) return clean;
  excess -= length - 1;
  size_t at = 0;
  while (excess > 0 || !StartsCharacter(clean[at])) {
    excess -= StartsCharacter(clean[at++]);
  }
  return "…" + clean.substr(at);
}

}  // namespace mc::checker
