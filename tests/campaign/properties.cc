#include "tests/campaign/properties.h"

namespace mc::campaign {
namespace {

struct NamedProperty {
  std::string_view name;
  Property* check;
};
constexpr NamedProperty kProperties[] = {
    {"convergence", CheckConvergence}, {"refinements", CheckRefinements}, {"laws", CheckLaws}};

}  // namespace

Property* FindProperty(std::string_view name) {
  for (const NamedProperty& property : kProperties) {
    if (property.name == name) return property.check;
  }
  return nullptr;
}

std::string Difference(const std::set<std::string>& expected, const std::set<std::string>& found,
                       bool bugs_only) {
  std::string text;
  auto add = [&](const char* what, const std::string& line) {
    if (!bugs_only || line.starts_with("bug ")) text += what + line + "\n";
  };
  for (const auto& line : expected) {
    if (!found.contains(line)) add("    missing: ", line);
  }
  for (const auto& line : found) {
    if (!expected.contains(line)) add("    extra:   ", line);
  }
  return text;
}

}  // namespace mc::campaign
