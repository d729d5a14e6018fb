// Plain and atomic memory, fences, the heap. Instrumented.
#include <cstdlib>

#include "tests/campaign/objects.h"
#include "tests/campaign/operation.h"

namespace mc::campaign {
namespace {

#define BODY(name) long name([[maybe_unused]] long last, [[maybe_unused]] long own)

BODY(LoadX) { return objects.x; }
BODY(LoadY) { return objects.y; }
BODY(StoreX1) {
  objects.x = 1;
  return 0;
}
BODY(StoreX2) {
  objects.x = 2;
  return 0;
}
BODY(StoreY1) {
  objects.y = 1;
  return 0;
}
BODY(StoreXLast) {
  objects.x = static_cast<int>(last) + 1;
  return 0;
}
BODY(IncrementX) {
  const int old = objects.x;
  objects.x = old + 1;
  return old;
}
BODY(IncrementY) { return objects.y++; }

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr auto kAcquire = std::memory_order_acquire;
constexpr auto kRelease = std::memory_order_release;

BODY(LoadA) { return objects.a.load(); }
BODY(LoadB) { return objects.b.load(kRelaxed); }
BODY(AcquireA) { return objects.a.load(kAcquire); }
BODY(StoreA0) {
  objects.a.store(0);
  return 0;
}
BODY(StoreA1) {
  objects.a.store(1);
  return 0;
}
BODY(StoreA2) {
  objects.a.store(2, kRelease);
  return 0;
}
BODY(StoreB1) {
  objects.b.store(1, kRelaxed);
  return 0;
}
BODY(StoreALast) {
  objects.a.store(static_cast<int>(last) + 1);
  return 0;
}
BODY(AddA) { return objects.a.fetch_add(1); }
BODY(AddB) { return objects.b.fetch_add(1, kRelaxed); }
BODY(OrA) { return objects.a.fetch_or(2); }
BODY(ExchangeA) { return objects.a.exchange(2); }
BODY(ExchangeB) { return objects.b.exchange(1); }
BODY(CasA01) {
  int old = 0;
  return objects.a.compare_exchange_strong(old, 1) ? 1 : -1 - old;
}
BODY(CasA12) {
  int old = 1;
  return objects.a.compare_exchange_strong(old, 2) ? 1 : -1 - old;
}
BODY(WeakB01) {
  int old = 0;
  return objects.b.compare_exchange_weak(old, 1, kRelaxed) ? 1 : -1 - old;
}
BODY(Fence) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return 0;
}

BODY(New) { return reinterpret_cast<long>(malloc(16)); }
// Of another size, but at the same addresses.
BODY(NewSmall) { return reinterpret_cast<long>(malloc(9)); }
BODY(GrowOwn) { return reinterpret_cast<long>(realloc(reinterpret_cast<void*>(own), 40)); }
BODY(StoreOwn) {
  *reinterpret_cast<long*>(own) = 3;
  return 0;
}
BODY(LoadOwn) { return *reinterpret_cast<long*>(own); }
BODY(Publish) {
  objects.p.store(reinterpret_cast<long*>(own));
  return 0;
}
BODY(FreeOwn) {
  free(reinterpret_cast<void*>(own));
  return 0;
}
BODY(StoreP) {
  long* const block = objects.p.load();
  if (block == nullptr) return -1;
  *block = 2;
  return 0;
}
BODY(LoadP) {
  long* const block = objects.p.load();
  if (block == nullptr) return -1;
  return *block == 2 ? 2 : 0;  // a fresh block holds anything
}
BODY(FreeP) {
  long* const block = objects.p.exchange(nullptr);
  if (block == nullptr) return -1;
  free(block);
  return 0;
}
BODY(GrowP) {
  long* const block = objects.p.exchange(nullptr);
  if (block == nullptr) return -1;
  objects.p.store(static_cast<long*>(realloc(block, 40)));
  return 0;
}

constexpr Operation kOperations[] = {
    {"r=x", LoadX},
    {"r=y", LoadY},
    {"x=1", StoreX1},
    {"x=2", StoreX2},
    {"y=1", StoreY1},
    {"x=r+1", StoreXLast},
    {"x++", IncrementX},
    {"y++", IncrementY},
    {"r=a", LoadA},
    {"r=b", LoadB},
    {"r=a acquire", AcquireA},
    {"a=0", StoreA0},
    {"a=1", StoreA1},
    {"a=2", StoreA2},
    {"b=1", StoreB1},
    {"a=r+1", StoreALast},
    {"r=add a", AddA},
    {"r=add b", AddB},
    {"r=or a", OrA},
    {"r=exchange a", ExchangeA},
    {"r=exchange b", ExchangeB},
    {"r=cas a 0 1", CasA01, Success::kOne},
    {"r=cas a 1 2", CasA12, Success::kOne},
    {"r=weak b 0 1", WeakB01, Success::kOne},
    {"fence", Fence},
    {"own=new", New, Success::kAlways, Needs::kNothing, Takes::kBlock},
    {"own=small", NewSmall, Success::kAlways, Needs::kNothing, Takes::kBlock},
    {"own=grown", GrowOwn, Success::kAlways, Needs::kBlock, Takes::kBlock},
    {"*own=3", StoreOwn, Success::kAlways, Needs::kBlock},
    {"r=*own", LoadOwn, Success::kAlways, Needs::kBlock},
    {"p=own", Publish, Success::kAlways, Needs::kBlock},
    {"free own", FreeOwn, Success::kAlways, Needs::kBlock},
    {"*p=2", StoreP, Success::kNegative},
    {"r=*p", LoadP, Success::kNegative},
    {"free p", FreeP, Success::kNegative},
    {"grow p", GrowP, Success::kNegative},
};

}  // namespace

std::span<const Operation> MemoryOperations() { return kOperations; }

}  // namespace mc::campaign
