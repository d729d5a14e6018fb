// Costs of the program heap and of the engine's own, in time per operation.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <vector>

#include "sched/engine_heap.h"
#include "sched/heap.h"

namespace mc::sched {
namespace {

void BM_AccessCheck(benchmark::State& state) {
  ProgramHeap& heap = ProgramHeap::Global();
  const auto begin =
      reinterpret_cast<uint64_t>(heap.Allocate(0, 4096, 16, AllocationKind::kMalloc, 0));
  uint64_t offset = 0, bad = 0;
  for (auto _ : state) {
    bad += heap.IsBadAccess(begin + offset, 8);
    offset = (offset + 8) & 2047;
  }
  benchmark::DoNotOptimize(bad);
  heap.Restore();
}
BENCHMARK(BM_AccessCheck);

void BM_ProgramAllocateFree(benchmark::State& state) {
  ProgramHeap& heap = ProgramHeap::Global();
  const auto size = static_cast<uint64_t>(state.range(0));
  for (auto _ : state) {
    void* const p = heap.Allocate(0, size, 16, AllocationKind::kMalloc, 0);
    benchmark::DoNotOptimize(p);
    heap.Free(0, p, AllocationKind::kMalloc, 0);
  }
  heap.Restore();
}
BENCHMARK(BM_ProgramAllocateFree)->Arg(16)->Arg(64)->Arg(400)->Arg(4096)->Arg(1 << 20);

// One execution: `range` blocks by each of two threads, half of them freed; then the restoring.
void BM_ExecutionAndRestore(benchmark::State& state) {
  ProgramHeap& heap = ProgramHeap::Global();
  const auto blocks = static_cast<uint64_t>(state.range(0));
  for (auto _ : state) {
    for (uint64_t i = 0; i < blocks; ++i) {
      const auto thread = static_cast<ThreadId>(i & 1);
      void* const p = heap.Allocate(thread, 32 + 16 * (i % 4), 16, AllocationKind::kNew, 0);
      if ((i & 2) != 0) heap.Free(thread, p, AllocationKind::kNew, 0);
    }
    heap.Restore();
  }
}
BENCHMARK(BM_ExecutionAndRestore)->Arg(0)->Arg(4)->Arg(32)->Arg(1000);

void BM_IdentityAt(benchmark::State& state) {
  ProgramHeap& heap = ProgramHeap::Global();
  const auto begin =
      reinterpret_cast<uint64_t>(heap.Allocate(0, 4096, 16, AllocationKind::kMalloc, 0));
  uint64_t offset = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(heap.IdentityAt(begin + offset));
    offset = (offset + 8) & 2047;
  }
  heap.Restore();
}
BENCHMARK(BM_IdentityAt);

void BM_EngineAllocateFree(benchmark::State& state) {
  const auto size = static_cast<size_t>(state.range(0));
  for (auto _ : state) {
    void* const p = EngineAllocate(size);
    benchmark::DoNotOptimize(p);
    EngineFree(p);
  }
}
BENCHMARK(BM_EngineAllocateFree)->Arg(16)->Arg(400)->Arg(4096)->Arg(100000);

// The C library's, to compare with.
void BM_LibraryAllocateFree(benchmark::State& state) {
  const auto size = static_cast<size_t>(state.range(0));
  for (auto _ : state) {
    void* const p = std::malloc(size);
    benchmark::DoNotOptimize(p);
    std::free(p);
  }
}
BENCHMARK(BM_LibraryAllocateFree)->Arg(16)->Arg(400)->Arg(4096)->Arg(100000);

}  // namespace
}  // namespace mc::sched
