// Message: one line of the conversation between the supervisor (mc) and the harness process.
//
// A message is a type and named fields, sent as one line of text:
//     race a=94824242 b=94824377 confirmed=1 object=heap%20block
// Values are percent-encoded ('%', ' ', '=' and control characters). No third-party code: this file
// is linked into the harness. The conversation itself is described in checker/protocol.h.
#ifndef MC_CHECKER_MESSAGE_H_
#define MC_CHECKER_MESSAGE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mc::checker {

class Message {
 public:
  Message() = default;
  explicit Message(std::string_view type) : type_(type) {}

  const std::string& type() const { return type_; }
  Message& Set(std::string_view name, std::string_view value);
  Message& Set(std::string_view name, uint64_t value);
  Message& Set(std::string_view name, double value);

  // Names and values, in the order in which they were set.
  const std::vector<std::pair<std::string, std::string>>& fields() const { return fields_; }
  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  // Missing or malformed fields read as "", 0 and 0.0.
  std::string_view Text(std::string_view name) const;
  uint64_t Number(std::string_view name) const;  // decimal, or hexadecimal with 0x
  double Real(std::string_view name) const;

  // Without the final newline.
  std::string Encode() const;
  // False if `line` is not a message; *message is then unspecified.
  static bool Decode(std::string_view line, Message* message);

 private:
  const std::string* Find(std::string_view name) const;

  std::string type_;
  std::vector<std::pair<std::string, std::string>> fields_;
};

// Lists inside a field are separated by ';', their parts by ','.
std::vector<std::string_view> Split(std::string_view text, char separator);

}  // namespace mc::checker

#endif  // MC_CHECKER_MESSAGE_H_
