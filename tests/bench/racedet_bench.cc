// What the candidate detector costs per new micro-access, on traces shaped like those of searches.
//
// Each benchmark re-executes a trace of `length` events again and again, keeping a prefix, as a
// search does; the items are the accesses of the new events.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>

#include "racedet/candidate_detector.h"
#include "tests/unit/trace_builder.h"

namespace mc::racedet {
namespace {

using sched::Cell;
using sched::MemoryOrder;
using sched::ThreadId;
using sched::Trace;
using sched::TraceBuilder;

// Threads that work on shared memory under a lock, read a configuration, use an atomic counter and
// mostly their own memory.
Trace Mixed(int threads, size_t events) {
  std::mt19937 random(1);
  TraceBuilder b;
  b.Block(0);
  for (int t = 1; t < threads; ++t) b.Create(static_cast<ThreadId>(t));
  for (int t = 1; t < threads; ++t) b.Block(static_cast<ThreadId>(t)).Start();
  while (b.trace().size() < events) {
    const ThreadId t = static_cast<ThreadId>(random() % threads);
    const Cell own = 0x100000 + 0x1000 * t;
    b.Block(t);
    switch (random() % 4) {
      case 0:
        b.Lock(1).Read(0x1000, 8, 1).Write(0x1000, 8, 2).Write(0x1008 + 8 * (random() % 4), 4, 3);
        b.Unlock(1);
        break;
      case 1:
        b.ReadModifyWrite(0x2000, MemoryOrder::kSeqCst, 4).Read(0x2010, 8, 5);
        break;
      default:
        for (int i = 0; i < 4; ++i) b.Write(own + 8 * (random() % 64), 8, 6 + i);
    }
  }
  return b.Take();
}

// Every access to one word, by all threads, without protection.
Trace Contended(int threads, size_t events) {
  TraceBuilder b;
  while (b.trace().size() < events) {
    const size_t i = b.trace().size();
    b.Block(static_cast<ThreadId>(i % threads)).Read(0x1000, 8, 1 + i % 3).Write(0x1000, 8, 5);
  }
  return b.Take();
}

// Blocks of heap that are allocated, filled, used and freed.
Trace Heap(int threads, size_t events) {
  TraceBuilder b;
  while (b.trace().size() < events) {
    const size_t i = b.trace().size();
    const ThreadId t = static_cast<ThreadId>(i % threads);
    const Cell block = 0x100000 * (t + 1u) + 0x100 * (i / threads % 16);
    b.Block(t).Allocate(block, 200, 1).Write(block, 200, 2);
    b.Read(block + 8, 8, 3).Write(block + 64, 8, 4).Free(block, 200, 5);
  }
  return b.Take();
}

void Measure(benchmark::State& state, const Trace& trace, CandidateRule rule, double kept_share) {
  CandidateTable table;
  CandidateDetector detector(rule, table);
  sched::ReplayTrace(trace, detector);
  const size_t kept = static_cast<size_t>(static_cast<double>(trace.size()) * kept_share);
  for (auto _ : state) {
    detector.OnExecutionBegin(trace, kept);
    detector.OnExecutionEnd(trace);
  }
  const size_t accesses =
      trace.accesses.size() - (kept < trace.size() ? trace.events[kept].first_access : 0);
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * accesses));
  state.counters["ns/access"] = benchmark::Counter(
      static_cast<double>(accesses) * 1e-9,
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

constexpr auto kLimited = CandidateRule::kLimitedHappensBefore;
constexpr auto kPure = CandidateRule::kHappensBefore;

void BM_Mixed(benchmark::State& state, CandidateRule rule, double kept) {
  Measure(state, Mixed(static_cast<int>(state.range(0)), static_cast<size_t>(state.range(1))), rule,
          kept);
}
BENCHMARK_CAPTURE(BM_Mixed, limited, kLimited, 0.0)
    ->Args({3, 60})
    ->Args({8, 1000})
    ->Args({64, 100000});
BENCHMARK_CAPTURE(BM_Mixed, limited_keep_90, kLimited, 0.9)->Args({3, 60})->Args({8, 1000});
BENCHMARK_CAPTURE(BM_Mixed, pure, kPure, 0.0)->Args({3, 60})->Args({8, 1000})->Args({64, 100000});
BENCHMARK_CAPTURE(BM_Mixed, threads_4096, kLimited, 0.0)->Args({4096, 100000});

void BM_Contended(benchmark::State& state, CandidateRule rule) {
  Measure(state, Contended(static_cast<int>(state.range(0)), 1000), rule, 0.0);
}
BENCHMARK_CAPTURE(BM_Contended, limited, kLimited)->Arg(2)->Arg(4)->Arg(16);
BENCHMARK_CAPTURE(BM_Contended, pure, kPure)->Arg(2)->Arg(4)->Arg(16);

void BM_Heap(benchmark::State& state) {
  Measure(state, Heap(static_cast<int>(state.range(0)), 1000), kLimited, 0.0);
}
BENCHMARK(BM_Heap)->Arg(1)->Arg(4);

// One thread writes whole megabytes, the other words in them.
void BM_Megabytes(benchmark::State& state) {
  TraceBuilder b;
  for (int i = 0; i < 1000; ++i) {
    b.Block(static_cast<ThreadId>(i % 2));
    if (i % 100 == 0) b.Write(0x1000000, 4 << 20, 1);
    b.Read(0x1000000 + 4096 * (i % 7), 8, 2);
  }
  Measure(state, b.Take(), kLimited, 0.0);
}
BENCHMARK(BM_Megabytes);

}  // namespace
}  // namespace mc::racedet

BENCHMARK_MAIN();
