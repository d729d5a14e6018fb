// mc: the command line of the model checker.

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "checker/certificate_run.h"
#include "checker/options.h"
#include "checker/output_files.h"
#include "checker/protocol.h"
#include "checker/replay.h"
#include "checker/session.h"
#include "checker/standard_output.h"
#include "checker/system_limits.h"

namespace {

using namespace mc::checker;

int UsageError(const std::string& message) {
  fprintf(stderr, "mc: %s\n", message.c_str());
  Print("mc: ERROR " + message.substr(0, message.find('\n')) + "\n");
  return 2;
}

int Run(const std::vector<std::string>& words) {
  const absl::StatusOr<Options> options = ParseOptions(words);
  if (!options.ok()) {
    return UsageError(std::string(options.status().message()));
  }
  if (options->help) {
    Print(HelpText());
    return 0;
  }
  if (options->version) {
    Print(std::string("mc ") + kVersion + "\n");
    return 0;
  }
  if (const std::string problem = ProblemWithLimits(); !problem.empty()) {
    return UsageError(problem);
  }
  if (!options->list) {
    std::string warning;
    if (absl::Status status = CheckOutputFiles(*options, &warning); !status.ok()) {
      return UsageError(std::string(status.message()));
    }
    if (!warning.empty()) fprintf(stderr, "mc: warning: %s\n", warning.c_str());
  }
  if (!options->check_certificate.empty()) return CertificateRun(*options).Run();
  return options->replay.empty() ? Session(*options).Run() : Replay(*options).Run();
}

}  // namespace

int main(int argc, char** argv) {
  PrepareStandardFiles();
  // Looking for debug information must never go to the network.
  unsetenv("DEBUGINFOD_URLS");
  const std::vector<std::string> words(argv + 1, argv + argc);
  const int status = RunWithEnoughStack([&words] { return Run(words); });
  const std::string problem = OutputProblem();
  if (problem.empty()) return status;
  fprintf(stderr, "mc: cannot write the report to standard output: %s\n", problem.c_str());
  return status == 1 ? 1 : 2;  // a bug stays one
}
