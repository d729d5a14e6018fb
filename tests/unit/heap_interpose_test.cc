// The interposed allocation functions, in this very process: every allocation of the test and of
// GoogleTest goes through them. (So AddressSanitizer cannot be used with it.) The scheduler's part
// is played by the test, which decides whose code runs.
#include <gtest/gtest.h>
#include <malloc.h>
#include <stdlib.h>

#include <cstring>
#include <string>
#include <vector>

#include "sched/allocation_hooks.h"
#include "sched/engine_heap.h"
#include "sched/heap.h"
// The functions under test take the place of this process's own; they are linked nowhere else but
// into the harness runtime.
#include "sched/interpose/allocation.cc"  // NOLINT

namespace mc::sched {
namespace {

// Plain data: used before any constructor runs.
struct Phase {
  bool engine_started = false;
  bool program_runs = false;
};
constinit Phase g_phase;

struct LastCall {
  AllocationKind kind;
  size_t size, alignment;
  bool zeroed;
  uint64_t pc;
  int allocations, frees, reallocations;
  bool fail;
};
constinit LastCall g_last = {};

constexpr ThreadId kThread = 7;

}  // namespace

bool EngineStarted() { return g_phase.engine_started; }
bool ProgramCodeRunning() { return g_phase.program_runs; }

void* ProgramAllocate(size_t size, size_t alignment, AllocationKind kind, bool zeroed,
                      uint64_t pc) {
  g_last.kind = kind;
  g_last.size = size;
  g_last.alignment = alignment;
  g_last.zeroed = zeroed;
  g_last.pc = pc;
  ++g_last.allocations;
  if (g_last.fail) return nullptr;
  return ProgramHeap::Global().Allocate(kThread, size, alignment, kind, pc, zeroed);
}

void ProgramFree(void* pointer, AllocationKind kind, uint64_t pc) {
  g_last.kind = kind;
  g_last.pc = pc;
  ++g_last.frees;
  ProgramHeap::Global().Free(kThread, pointer, kind, pc);
}

void* ProgramReallocate(void* pointer, size_t size, uint64_t pc) {
  ++g_last.reallocations;
  void* const block =
      ProgramHeap::Global().Allocate(kThread, size, 16, AllocationKind::kMalloc, pc);
  std::memcpy(block, pointer, 1);
  ProgramHeap::Global().Free(kThread, pointer, AllocationKind::kMalloc, pc);
  return block;
}

namespace {

uint64_t AddressOf(const void* p) { return reinterpret_cast<uint64_t>(p); }
void* PointerTo(uint64_t address) { return reinterpret_cast<void*>(address); }

bool OnProgramHeap(const void* p) { return ProgramHeap::Contains(reinterpret_cast<uint64_t>(p)); }
ThreadId RegionOfBlock(const void* p) { return RegionOf(reinterpret_cast<uint64_t>(p)); }

// Keeps the compiler from pairing an allocation with its release and dropping both.
template <class T>
T* Opaque(T* p) {
  asm volatile("" : "+r"(p));
  return p;
}

// Runs `body` as program or engine code; what the test itself does in it is to be kept small.
template <class Body>
void RunAs(bool program, Body body) {
  const Phase before = g_phase;
  g_phase = {true, program};
  body();
  g_phase = before;
}

std::string* const g_made_by_static_constructor = new std::string(100, 's');

TEST(InterposedAllocationTest, StartUpCodeUsesTheFirstRegionUnrecorded) {
  EXPECT_TRUE(OnProgramHeap(g_made_by_static_constructor));
  EXPECT_EQ(RegionOfBlock(g_made_by_static_constructor), 0);
  const int before = g_last.allocations;
  free(Opaque(malloc(10)));
  EXPECT_EQ(g_last.allocations, before);
}

TEST(InterposedAllocationTest, EngineCodeUsesTheEngineHeap) {
  void *plain = nullptr, *made_new = nullptr, *aligned = nullptr, *moved = nullptr;
  const int before = g_last.allocations;
  RunAs(false, [&] {
    plain = Opaque(malloc(10));
    made_new = Opaque(::operator new(10));
    aligned = Opaque(aligned_alloc(256, 512));
    auto* const zeroed = static_cast<char*>(Opaque(calloc(10, 10)));
    moved = Opaque(realloc(zeroed, 1000));
  });
  EXPECT_TRUE(IsEngineBlock(plain));
  EXPECT_TRUE(IsEngineBlock(made_new));
  EXPECT_TRUE(IsEngineBlock(aligned));
  EXPECT_EQ(reinterpret_cast<uint64_t>(aligned) % 256, 0u);
  EXPECT_TRUE(IsEngineBlock(moved));
  EXPECT_EQ(std::string(static_cast<char*>(moved), 100), std::string(100, '\0'));
  EXPECT_GE(malloc_usable_size(moved), 1000u);
  // Whoever frees them, they go back where they came from.
  const uint64_t in_use = EngineBytesInUse();
  RunAs(true, [&] { free(plain); });
  ::operator delete(made_new);
  RunAs(false, [&] { free(aligned); });
  free(moved);
  EXPECT_LT(EngineBytesInUse(), in_use);
  EXPECT_EQ(g_last.allocations, before);
}

TEST(InterposedAllocationTest, ProgramCodeIsRecordedWithKindAndCaller) {
  struct Call {
    void* block;
    LastCall last;
  };
  std::vector<Call> calls;
  calls.reserve(20);
  const auto note = [&](void* block) { calls.push_back({Opaque(block), g_last}); };
  RunAs(true, [&] {
    note(malloc(1));
    note(calloc(2, 3));
    note(aligned_alloc(64, 128));
    note(memalign(32, 10));
    note(valloc(10));
    note(pvalloc(10));
    note(::operator new(10));
    note(::operator new[](11));
    note(::operator new(12, std::align_val_t(64)));
    note(::operator new[](13, std::align_val_t(128)));
    note(::operator new(14, std::nothrow));
    note(::operator new[](15, std::nothrow));
    note(::operator new(16, std::align_val_t(64), std::nothrow));
    note(::operator new[](17, std::align_val_t(64), std::nothrow));
  });
  const AllocationKind kinds[] = {AllocationKind::kMalloc,     AllocationKind::kMalloc,
                                  AllocationKind::kAligned,    AllocationKind::kAligned,
                                  AllocationKind::kAligned,    AllocationKind::kAligned,
                                  AllocationKind::kNew,        AllocationKind::kNewArray,
                                  AllocationKind::kAlignedNew, AllocationKind::kAlignedNewArray,
                                  AllocationKind::kNew,        AllocationKind::kNewArray,
                                  AllocationKind::kAlignedNew, AllocationKind::kAlignedNewArray};
  const size_t sizes[] = {1, 6, 128, 10, 10, 4096, 10, 11, 12, 13, 14, 15, 16, 17};
  const size_t alignments[] = {16, 16, 64, 32, 4096, 4096, 16, 16, 64, 128, 16, 16, 64, 64};
  ASSERT_EQ(calls.size(), std::size(kinds));
  for (size_t i = 0; i < calls.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(calls[i].last.kind, kinds[i]);
    EXPECT_EQ(calls[i].last.size, sizes[i]);
    EXPECT_EQ(calls[i].last.alignment, alignments[i]);
    EXPECT_EQ(calls[i].last.zeroed, i == 1);
    EXPECT_NE(calls[i].last.pc, 0u);
    EXPECT_EQ(RegionOfBlock(calls[i].block), kThread);
    EXPECT_EQ(malloc_usable_size(calls[i].block), sizes[i]);
    EXPECT_EQ(reinterpret_cast<uint64_t>(calls[i].block) % alignments[i], 0u);
    ProgramHeap::Global().Free(kThread, calls[i].block, kinds[i], 0);
  }
}

TEST(InterposedAllocationTest, EveryFormOfDeleteTellsItsFamily) {
  const auto kind_of = [](auto release) {
    void* p = nullptr;
    RunAs(true, [&] {
      p = Opaque(malloc(8));
      release(p);
    });
    return g_last.kind;
  };
  using A = std::align_val_t;
  EXPECT_EQ(kind_of([](void* p) { free(p); }), AllocationKind::kMalloc);
  EXPECT_EQ(kind_of([](void* p) { ::operator delete(p); }), AllocationKind::kNew);
  EXPECT_EQ(kind_of([](void* p) { ::operator delete(p, 8); }), AllocationKind::kNew);
  EXPECT_EQ(kind_of([](void* p) { ::operator delete(p, std::nothrow); }), AllocationKind::kNew);
  EXPECT_EQ(kind_of([](void* p) { ::operator delete(p, A(64)); }), AllocationKind::kAlignedNew);
  EXPECT_EQ(kind_of([](void* p) { ::operator delete(p, 8, A(64)); }), AllocationKind::kAlignedNew);
  EXPECT_EQ(kind_of([](void* p) { ::operator delete[](p); }), AllocationKind::kNewArray);
  EXPECT_EQ(kind_of([](void* p) { ::operator delete[](p, 8); }), AllocationKind::kNewArray);
  EXPECT_EQ(kind_of([](void* p) { ::operator delete[](p, A(64)); }),
            AllocationKind::kAlignedNewArray);
  const int frees = g_last.frees;
  RunAs(true, [] {
    free(nullptr);
    ::operator delete(nullptr);
  });
  EXPECT_EQ(g_last.frees, frees) << "releasing null is nothing";
}

TEST(InterposedAllocationTest, ReallocGoesWhereTheBlockIs) {
  void *p = nullptr, *q = nullptr, *gone = &p;
  const int before = g_last.reallocations;
  RunAs(true, [&] {
    p = realloc(nullptr, 10);
    q = realloc(Opaque(p), 20);
    gone = realloc(Opaque(q), 0);
  });
  EXPECT_EQ(g_last.reallocations, before + 1);
  EXPECT_EQ(gone, nullptr);
  EXPECT_EQ(ProgramHeap::Global().CheckFree(q, AllocationKind::kMalloc), FreeStatus::kDoubleFree);
  char* const start = static_cast<char*>(malloc(3));
  std::memcpy(start, "ab", 3);
  char* const longer = static_cast<char*>(realloc(Opaque(start), 50000));
  EXPECT_STREQ(longer, "ab");
  free(longer);
}

TEST(InterposedAllocationTest, ABlockThatEngineCodeFreesIsNotHandedOutAgain) {
  uint64_t first = 0, second = 0;
  const int frees = g_last.frees;
  RunAs(true, [&] { first = AddressOf(Opaque(malloc(300))); });
  RunAs(false, [&] { free(PointerTo(first)); });
  EXPECT_EQ(ProgramHeap::Global().CheckFree(PointerTo(first), AllocationKind::kMalloc),
            FreeStatus::kDoubleFree);
  RunAs(true, [&] { second = AddressOf(Opaque(malloc(300))); });
  EXPECT_NE(first, second);
  EXPECT_EQ(g_last.frees, frees);
  RunAs(true, [&] { free(PointerTo(second)); });
  RunAs(true, [&] { first = AddressOf(Opaque(malloc(300))); });
  EXPECT_EQ(first, second) << "one that the program frees is";
  RunAs(true, [&] { free(PointerTo(first)); });
}

TEST(InterposedAllocationTest, FailureIsReportedAsEachFunctionDoes) {
  void *plain = &plain, *nothrow = &nothrow, *aligned = nullptr;
  int error = 0, plain_errno = 0, bad_alignment = 0, overflow_errno = 0;
  void* overflow = &overflow;
  bool thrown = false;
  g_last.fail = true;
  RunAs(true, [&] {
    errno = 0;
    plain = Opaque(malloc(10));
    plain_errno = errno;
    nothrow = Opaque(::operator new(10, std::nothrow));
    error = posix_memalign(&aligned, 64, 10);
    bad_alignment = posix_memalign(&aligned, 3, 10);
    errno = 0;
    volatile size_t huge = ~size_t{0} / 2;
    overflow = Opaque(calloc(huge, 4));
    overflow_errno = errno;
  });
  g_phase = {true, true};
  try {
    Opaque(::operator new(10));
  } catch (const std::bad_alloc&) {
    thrown = true;
  }
  g_phase = {false, false};
  g_last.fail = false;
  EXPECT_EQ(plain, nullptr);
  EXPECT_EQ(plain_errno, ENOMEM);
  EXPECT_EQ(nothrow, nullptr);
  EXPECT_EQ(error, ENOMEM);
  EXPECT_EQ(bad_alignment, EINVAL);
  EXPECT_EQ(overflow, nullptr);
  EXPECT_EQ(overflow_errno, ENOMEM);
  EXPECT_TRUE(thrown);
}

}  // namespace
}  // namespace mc::sched
