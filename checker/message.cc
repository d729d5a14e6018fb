#include "checker/message.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>

namespace mc::checker {
namespace {

bool NeedsEscape(unsigned char c) { return c == '%' || c == '=' || c <= ' ' || c == 0x7f; }

void AppendEscaped(std::string_view value, std::string* out) {
  static constexpr char kHex[] = "0123456789abcdef";
  for (unsigned char c : value) {
    if (NeedsEscape(c)) {
      out->push_back('%');
      out->push_back(kHex[c >> 4]);
      out->push_back(kHex[c & 15]);
    } else {
      out->push_back(static_cast<char>(c));
    }
  }
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool AppendUnescaped(std::string_view text, std::string* out) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out->push_back(text[i]);
      continue;
    }
    if (i + 2 >= text.size()) return false;
    const int high = HexDigit(text[i + 1]);
    const int low = HexDigit(text[i + 2]);
    if (high < 0 || low < 0) return false;
    out->push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return true;
}

}  // namespace

Message& Message::Set(std::string_view name, std::string_view value) {
  for (auto& [key, old] : fields_) {
    if (key == name) {
      old = value;
      return *this;
    }
  }
  fields_.emplace_back(name, value);
  return *this;
}

Message& Message::Set(std::string_view name, uint64_t value) {
  char text[32];
  const int length = snprintf(text, sizeof text, "%llu", static_cast<unsigned long long>(value));
  return Set(name, std::string_view(text, static_cast<size_t>(length)));
}

Message& Message::Set(std::string_view name, double value) {
  char text[64];  // whatever the decimal point of the program's locale is
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 17);
  return Set(name, std::string_view(text, static_cast<size_t>(end.ptr - text)));
}

const std::string* Message::Find(std::string_view name) const {
  for (const auto& [key, value] : fields_) {
    if (key == name) return &value;
  }
  return nullptr;
}

std::string_view Message::Text(std::string_view name) const {
  const std::string* value = Find(name);
  return value == nullptr ? std::string_view() : std::string_view(*value);
}

uint64_t Message::Number(std::string_view name) const {
  const std::string* value = Find(name);
  return value == nullptr ? 0 : strtoull(value->c_str(), nullptr, 0);
}

double Message::Real(std::string_view name) const {
  const std::string* value = Find(name);
  double number = 0;
  if (value != nullptr) std::from_chars(value->data(), value->data() + value->size(), number);
  return number;
}

std::string Message::Encode() const {
  std::string line = type_;
  for (const auto& [name, value] : fields_) {
    line.push_back(' ');
    line += name;
    line.push_back('=');
    AppendEscaped(value, &line);
  }
  return line;
}

bool Message::Decode(std::string_view line, Message* message) {
  *message = Message();
  bool first = true;
  for (std::string_view word : Split(line, ' ')) {
    if (first) {
      if (word.empty()) return false;
      message->type_ = word;
      first = false;
      continue;
    }
    const size_t equals = word.find('=');
    if (equals == std::string_view::npos || equals == 0) return false;
    std::string value;
    if (!AppendUnescaped(word.substr(equals + 1), &value)) return false;
    message->fields_.emplace_back(word.substr(0, equals), std::move(value));
  }
  return !first;
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  size_t start = 0;
  while (start <= text.size()) {
    size_t end = text.find(separator, start);
    if (end == std::string_view::npos) end = text.size();
    if (end > start) parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

}  // namespace mc::checker
