// json_field FILE PATH...: prints what a JSON file holds at each path, one value a line.
//
// A path is a list of steps separated by dots: the name of a field, an index into an array (-1 is
// the last), `*` for every element, or `#` for the number of elements. Strings are printed bare,
// everything else as JSON. Exit status: 0; 1 if a path leads nowhere (`*` of an empty array is not
// nowhere); 2 if the file is not JSON.
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

namespace {

using Json = nlohmann::json;

bool Print(const Json& value, const std::string& path) {
  if (path.empty()) {
    std::cout << (value.is_string() ? value.get<std::string>() : value.dump()) << "\n";
    return true;
  }
  const size_t dot = path.find('.');
  const std::string step = path.substr(0, dot);
  const std::string rest = dot == std::string::npos ? "" : path.substr(dot + 1);
  if (step == "#") {
    std::cout << value.size() << "\n";
    return value.is_array();
  }
  if (step == "*") {
    if (!value.is_array()) return false;
    bool found = true;
    for (const Json& element : value) found &= Print(element, rest);
    return found;
  }
  if (value.is_array()) {
    const long index = std::stol(step);
    const long size = static_cast<long>(value.size());
    const long position = index < 0 ? size + index : index;
    return position >= 0 && position < size && Print(value.at(position), rest);
  }
  return value.is_object() && value.contains(step) && Print(value.at(step), rest);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: json_field FILE PATH...\n";
    return 2;
  }
  std::ifstream file(argv[1]);
  const Json document = Json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) {
    std::cerr << argv[1] << ": not JSON\n";
    return 2;
  }
  bool found = true;
  for (int i = 2; i < argc; ++i) found &= Print(document, argv[i]);
  return found ? 0 : 1;
}
