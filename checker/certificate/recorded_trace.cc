#include "checker/certificate/recorded_trace.h"

#include <algorithm>

namespace mc::checker {
namespace {

RecordedOperation RecordedOf(const sched::Operation& operation) {
  RecordedOperation out;
  out.kind = operation.kind;
  if (operation.kind == sched::OperationKind::kNone) return out;
  out.object = operation.object;
  out.needed = operation.needed;
  out.timeout_object = operation.timeout_object;
  out.wait_is_over = operation.wait_is_over;
  return out;
}

void RecordRanges(std::span<const sched::CellRange> ranges, std::vector<RecordedRange>* out) {
  out->clear();
  for (const sched::CellRange& r : ranges) out->push_back({r.begin, r.size, r.reader});
}

bool IsSemaphore(sched::Cell cell) { return sched::KindOf(cell) == sched::CellKind::kSemaphore; }

// The same of the event as it stands in a trace.
bool OverwritesCount(const sched::Trace& trace, const sched::Event& event, sched::Cell semaphore) {
  return std::ranges::any_of(trace.AccessesOf(event), [&](const sched::MicroAccess& a) {
    return a.begin <= semaphore && semaphore < a.end() && (a.mode & sched::kWrite) != 0 &&
           (a.flags & sched::kRelative) == 0;
  });
}

}  // namespace

void Record(const sched::Trace& trace, size_t position, RecordedEvent* out) {
  const sched::Event& event = trace.events[position];
  out->thread = event.thread;
  out->index = event.index;
  out->flags = event.flags & kRecordedEventFlags;
  out->operation = RecordedOf(event.operation);
  out->accesses.clear();
  out->choices.clear();
  out->ledger.clear();
  const auto accesses = trace.AccessesOf(event);
  const auto choices = trace.ChoicesOf(event);
  size_t choice = 0;
  for (size_t k = 0; k <= accesses.size(); ++k) {
    for (; choice < choices.size() && (k == accesses.size() || choices[choice].position <= k);
         ++choice) {
      out->choices.push_back({choices[choice].value, choices[choice].arity,
                              static_cast<uint32_t>(out->accesses.size())});
    }
    if (k == accesses.size()) break;
    const sched::MicroAccess& a = accesses[k];
    if (a.size == 0 || (a.flags & sched::kOrderedBySync) != 0) continue;
    out->accesses.push_back(
        {a.begin, a.size, a.mode, static_cast<uint16_t>(a.flags & kRecordedAccessFlags)});
  }
  for (const sched::LedgerEntry& entry : trace.LedgerOf(event)) {
    int64_t before = entry.before, after = entry.after;
    if (IsSemaphore(entry.object)) {
      if (!OverwritesCount(trace, event, entry.object)) after -= before;
      before = 0;
    }
    out->ledger.push_back({entry.object, before, after});
  }
  RecordRanges(trace.SpinCellsOf(event), &out->spin_cells);
}

void RecordEnds(const sched::Trace& trace, RecordedEnds* out) {
  out->outcome = trace.outcome;
  out->threads.clear();
  out->first_counts.clear();
  for (const sched::ThreadEnd& end : trace.ends) {
    RecordedEnd& recorded = out->threads.emplace_back();
    recorded.status = end.status;
    recorded.events = end.events;
    if (end.status != sched::ThreadStatus::kRunnable) continue;
    recorded.enabled = end.enabled;
    recorded.pending = RecordedOf(end.pending);
    RecordRanges(trace.SpinCellsOf(end), &recorded.spin_cells);
  }
  std::vector<sched::Cell> seen;
  for (const sched::Event& event : trace.events) {
    for (const sched::LedgerEntry& entry : trace.LedgerOf(event)) {
      if (!IsSemaphore(entry.object) || std::ranges::find(seen, entry.object) != seen.end()) {
        continue;
      }
      seen.push_back(entry.object);
      if (OverwritesCount(trace, event, entry.object)) continue;
      out->first_counts.push_back({entry.object, entry.before});
    }
  }
  std::ranges::sort(out->first_counts, {}, &FirstCount::semaphore);
}

}  // namespace mc::checker
