// random_program: the harness of the campaign. It registers one test for each of a range of seeds.
//
//   mc [options] random_program -- PROFILE FIRST COUNT [MASK]      tests s<FIRST>, s<FIRST+1>, ...
//   mc [options] random_program -- text PROGRAM                     one test: this program
//   random_program --print PROFILE SEED [MASK]                      the program, for people
//   random_program --instructions PROFILE SEED                      how many instructions it has
//   random_program --operations                                     names of all operations
#include <fcntl.h>
#include <mc/mc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "tests/campaign/coverage.h"
#include "tests/campaign/executor.h"
#include "tests/campaign/operation.h"
#include "tests/campaign/program.h"

namespace mc::campaign {
namespace {

constexpr int kMostPrograms = 512;

constinit Program programs[kMostPrograms] = {};
char names[kMostPrograms][24];
uint64_t first_seed = 0;
constinit Operation all_operations[kMostOperations] = {};
int operation_count = 0;
Coverage* coverage = nullptr;

template <size_t k>
void Body() {
  RunProgram(programs[k], first_seed + k);
}

using TestBody = void (*)();
template <size_t... k>
constexpr std::array<TestBody, kMostPrograms> MakeBodies(std::index_sequence<k...>) {
  return {&Body<k>...};
}
constexpr auto kBodies = MakeBodies(std::make_index_sequence<kMostPrograms>());

uint64_t NumberAt(int argc, char** argv, int k) {
  return k < argc ? strtoull(argv[k], nullptr, 0) : 0;
}

void CollectOperations() {
  for (const auto list : {MemoryOperations(), LockOperations(), WaitingOperations(),
                          OtherOperations(), EndOperations()}) {
    for (const Operation& operation : list) all_operations[operation_count++] = operation;
  }
}

[[noreturn]] void PrintAndLeave(int argc, char** argv) {
  if (strcmp(argv[1], "--operations") == 0) {
    for (const Operation& operation : Operations()) {
      printf("%s|%s%s\n", operation.name, operation.success == Success::kAlways ? "" : "f",
             operation.blocks == nullptr ? "" : "b");
    }
  } else {
    const auto profile = static_cast<Profile>(NumberAt(argc, argv, 2));
    const Program program = Generate(profile, NumberAt(argc, argv, 3), NumberAt(argc, argv, 4));
    if (strcmp(argv[1], "--print") == 0) {
      fputs(TextOf(program).c_str(), stdout);
    } else {
      printf("%d\n", InstructionCount(program));
    }
  }
  fflush(stdout);
  _exit(0);
}

// Before main, so before mc's snapshot: what is made here never changes.
__attribute__((constructor)) void Register(int argc, char** argv, char**) {
  CollectOperations();
  if (argc < 2) return;
  if (argv[1][0] == '-') PrintAndLeave(argc, argv);
  if (const char* path = getenv("MC_CAMPAIGN_COVERAGE")) OpenCoverage(path);
  if (strcmp(argv[1], "text") == 0 && argc == 3) {
    programs[0] = FromText(argv[2]);
    mc_register_test("text", kBodies[0]);
    return;
  }
  const auto profile = static_cast<Profile>(NumberAt(argc, argv, 1));
  first_seed = NumberAt(argc, argv, 2);
  uint64_t count = NumberAt(argc, argv, 3);
  if (count > kMostPrograms) count = kMostPrograms;
  for (uint64_t k = 0; k < count; ++k) {
    programs[k] = Generate(profile, first_seed + k, NumberAt(argc, argv, 4));
    snprintf(names[k], sizeof names[k], "s%llu", static_cast<unsigned long long>(first_seed + k));
    mc_register_test(names[k], kBodies[k]);
  }
}

}  // namespace

std::span<const Operation> Operations() {
  return {all_operations, static_cast<size_t>(operation_count)};
}

int OperationNumber(const char* name, unsigned length) {
  for (int k = 0; k < operation_count; ++k) {
    if (strlen(all_operations[k].name) == length &&
        memcmp(all_operations[k].name, name, length) == 0) {
      return k;
    }
  }
  return -1;
}

void OpenCoverage(const char* path) {
  const int file = open(path, O_RDWR);
  if (file < 0) return;
  void* memory = mmap(nullptr, sizeof(Coverage), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory != MAP_FAILED) coverage = static_cast<Coverage*>(memory);
  close(file);
}

void Cover(uint64_t program, int operation, Variant variant) {
  if (coverage == nullptr) return;
  uint64_t& last = coverage->last_program[operation][static_cast<int>(variant)];
  if (last == program + 1) return;
  last = program + 1;
  ++coverage->programs[operation][static_cast<int>(variant)];
}

}  // namespace mc::campaign
