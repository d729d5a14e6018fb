#include "checker/padded_environment.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>

#include "absl/strings/str_format.h"
#include "checker/protocol.h"

namespace mc::checker {

void PadEnvironment(const std::string& path) {
  constexpr size_t kVariables = 256, kBytes = 64 << 10;
  rlimit stack;
  if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur < 16 * kBytes) return;
  size_t count = 1, bytes = path.size() + 1;  // and one more, which takes what is left
  for (char** variable = environ; *variable != nullptr; ++variable, ++count) {
    bytes += strlen(*variable) + 1;
  }
  const auto name = [](size_t number) { return absl::StrFormat("%s%03d", kPaddingPrefix, number); };
  const size_t empty = name(0).size() + 2;
  for (size_t number = 1; count % kVariables != 0; ++number, ++count, bytes += empty) {
    setenv(name(number).c_str(), "", 1);
  }
  bytes += empty;
  setenv(name(0).c_str(), std::string((kBytes - bytes % kBytes) % kBytes, '.').c_str(), 1);
}

}  // namespace mc::checker
