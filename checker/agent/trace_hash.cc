#include "checker/agent/trace_hash.h"

#include <vector>

namespace mc::checker {
namespace {

uint64_t Mix(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

bool AreDependent(const sched::Trace& trace, const sched::Event& earlier,
                  const sched::Event& later) {
  if (earlier.thread == later.thread || sched::DependsOnAll(later.operation.kind)) return true;
  for (const sched::MicroAccess& a : trace.AccessesOf(earlier)) {
    for (const sched::MicroAccess& b : trace.AccessesOf(later)) {
      if (a.ConflictsWith(b)) return true;
    }
  }
  return false;
}

// What the event is, without what comes before it.
uint64_t HashOfEvent(const sched::Trace& trace, const sched::Event& event) {
  uint64_t hash = Mix(uint64_t{event.thread} << 32 | event.index);
  for (const sched::Choice& choice : trace.ChoicesOf(event)) hash = Mix(hash + choice.value + 1);
  return hash;
}

}  // namespace

// An event's key stands for it and all that it depends on: their sum does not depend on the order.
uint64_t HashOfTrace(const sched::Trace& trace) {
  std::vector<uint64_t> keys;
  keys.reserve(trace.size());
  uint64_t all = 0;
  for (const sched::Event& event : trace.events) {
    uint64_t past = 0;
    for (size_t i = 0; i < keys.size(); ++i) {
      if (AreDependent(trace, trace.events[i], event)) past += keys[i];
    }
    keys.push_back(Mix(HashOfEvent(trace, event) ^ Mix(past)));
    all += Mix(keys.back());
  }
  return Mix(all);
}

}  // namespace mc::checker
