// What of the table of operations was really executed: for each operation the number of programs in
// which it succeeded, failed, could not proceed at once, or ran inside a block.
//
// Kept in a file (the environment variable MC_CAMPAIGN_COVERAGE) mapped into memory, behind mc's
// back: it outlives executions, worker processes and runs of mc. Without the variable nothing is
// kept.
#ifndef MC_TESTS_CAMPAIGN_COVERAGE_H_
#define MC_TESTS_CAMPAIGN_COVERAGE_H_

#include <cstdint>

#include "tests/campaign/operation.h"

namespace mc::campaign {

enum class Variant : uint8_t { kSuccess, kFailure, kBlocking, kInside, kBlockingInside };
inline constexpr int kVariants = 5;
inline constexpr const char* kVariantNames[kVariants] = {"success", "failure", "blocking", "inside",
                                                         "blocking-inside"};

struct Coverage {
  uint64_t last_program[kMostOperations][kVariants];  // the one counted last, plus 1
  uint32_t programs[kMostOperations][kVariants];
};

// Maps the file, which must have the size of a Coverage. Before main.
void OpenCoverage(const char* path);
void Cover(uint64_t program, int operation, Variant variant);

}  // namespace mc::campaign

#endif  // MC_TESTS_CAMPAIGN_COVERAGE_H_
