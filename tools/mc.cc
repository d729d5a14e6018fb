// mc: the command line of the model checker.

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "checker/options.h"
#include "checker/protocol.h"
#include "checker/replay.h"
#include "checker/session.h"

int main(int argc, char** argv) {
  using namespace mc::checker;
  // Looking for debug information must never go to the network.
  unsetenv("DEBUGINFOD_URLS");
  const absl::StatusOr<Options> options =
      ParseOptions(std::vector<std::string>(argv + 1, argv + argc));
  if (!options.ok()) {
    const std::string message(options.status().message());
    fprintf(stderr, "mc: %s\n", message.c_str());
    printf("mc: ERROR %s\n", message.c_str());
    return 2;
  }
  if (options->help) {
    fputs(HelpText().c_str(), stdout);
    return 0;
  }
  if (options->version) {
    printf("mc %s\n", kVersion);
    return 0;
  }
  return options->replay.empty() ? Session(*options).Run() : Replay(*options).Run();
}
