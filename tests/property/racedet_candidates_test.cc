// The candidate detector against the definitions, computed naively from the whole trace.
//
// Random feasible traces; for each the set of candidates with their facts must equal what the
// definitions give, for both rules; and over sequences of executions that share prefixes (as a
// search makes them) the table must equal the union. A failing case is shrunk by leaving out
// events.
#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "racedet/candidate_detector.h"
#include "tests/unit/trace_builder.h"

namespace mc::racedet {
namespace {

using sched::Cell;
using sched::CellKind;
using sched::Event;
using sched::MakeCell;
using sched::MemoryOrder;
using sched::MicroAccess;
using sched::OperationKind;
using sched::ThreadId;
using sched::Trace;
using sched::TraceBuilder;

using Pair = std::pair<uint64_t, uint64_t>;
using Facts = std::map<Pair, unsigned>;

// ---------------------------------------------------------------- The definitions, naively

constexpr size_t kMaxAccesses = 640;
using Positions = std::bitset<kMaxAccesses>;

class Definitions {
 public:
  explicit Definitions(const Trace& trace) : trace_(trace) {
    for (size_t i = 0; i < trace.size(); ++i) {
      for (uint32_t k = 0; k < trace.events[i].access_count; ++k) event_of_.push_back(i);
    }
    ComputeMustHappenBefore();
    ComputeHappensBefore();
  }

  // Which semaphores are not used as locks.
  std::set<Cell> ContradictedSemaphores() const {
    std::set<Cell> contradicted;
    std::map<Cell, int> holder;  // thread, -1 free
    for (size_t p = 0; p < size(); ++p) {
      const MicroAccess& a = At(p);
      if (sched::KindOf(a.begin) != CellKind::kSemaphore) continue;
      if (a.flags & sched::kAcquire) {
        if (!holder.count(a.begin)) {
          for (const auto& entry : trace_.LedgerOf(trace_.events[event_of_[p]])) {
            if (entry.object == a.begin && entry.before != 1) contradicted.insert(a.begin);
          }
        } else if (holder[a.begin] != -1) {
          contradicted.insert(a.begin);
        }
        holder[a.begin] = ThreadOf(p);
      } else if (a.flags & sched::kRelease) {
        if (!holder.count(a.begin) || holder[a.begin] != ThreadOf(p)) contradicted.insert(a.begin);
        holder[a.begin] = -1;
      }
    }
    return contradicted;
  }

  Facts Candidates(CandidateRule rule, const std::set<Cell>& contradicted) const {
    Facts facts;
    for (size_t b = 0; b < size(); ++b) {
      for (size_t a = 0; a < b; ++a) AddPair(a, b, rule, contradicted, &facts);
    }
    for (auto& [pair, known] : facts) {
      if (known & (kLowerFirst | kHigherFirst)) known &= ~kRecycled;
    }
    return facts;
  }

 private:
  size_t size() const { return trace_.accesses.size(); }
  const MicroAccess& At(size_t p) const { return trace_.accesses[p]; }
  int ThreadOf(size_t p) const { return trace_.events[event_of_[p]].thread; }

  void AddPair(size_t a, size_t b, CandidateRule rule, const std::set<Cell>& contradicted,
               Facts* facts) const {
    const MicroAccess &x = At(a), &y = At(b);
    if (!sched::IsMemory(x.begin) || !sched::IsMemory(y.begin)) return;
    if (x.size == 0 || y.size == 0 || ThreadOf(a) == ThreadOf(b)) return;
    if (!x.ConflictsWith(y) || ForgottenBetween(a, b)) return;
    const bool both_atomic = x.flags & y.flags & sched::kAtomic;
    const bool unordered = !(both_atomic ? program_order_[b] : happens_before_[b]).test(a);
    if (rule == CandidateRule::kHappensBefore) {
      if (!unordered) return;
    } else {
      if (must_happen_before_[event_of_[a]][event_of_[b]] || Protected(a, b, contradicted)) return;
    }
    const bool lower_first = x.pc != y.pc ? x.pc < y.pc : ThreadOf(a) < ThreadOf(b);
    unsigned found = lower_first ? kLowerFirst : kHigherFirst;
    if (unordered) found |= kUnordered;
    if (unordered && IsUndefinedBehaviour(x.flags, y.flags)) found |= kDataRace;
    if (RecycledBetween(a, b)) found = kRecycled;
    (*facts)[{std::min(x.pc, y.pc), std::max(x.pc, y.pc)}] |= found;
  }

  static char Category(uint16_t flags) {
    if (flags & sched::kFree) return 'f';
    if (flags & sched::kAllocation) return 'm';
    if (flags & sched::kObjectBytes) return 'o';
    return flags & sched::kAtomic ? 'a' : 'p';
  }
  static bool IsUndefinedBehaviour(uint16_t x, uint16_t y) {
    const std::string pair{std::min(Category(x), Category(y)), std::max(Category(x), Category(y))};
    return pair == "pp" || pair == "ap" || pair == "fp" || pair == "af";
  }

  // Definition 6, read off the page.
  void ComputeMustHappenBefore() {
    const size_t n = trace_.size();
    must_happen_before_.assign(n, std::vector<bool>(n, false));
    for (size_t j = 0; j < n; ++j) {
      const std::set<size_t> enabling = EdgesInto(j);
      for (size_t i = j; i-- > 0;) {
        const ThreadId t2 = trace_.events[j].thread;
        bool related = trace_.events[i].thread == t2 || enabling.count(i);
        for (size_t k = i + 1; k < j && !related; ++k) {
          related = trace_.events[k].thread != t2 && must_happen_before_[i][k] &&
                    must_happen_before_[k][j];
        }
        must_happen_before_[i][j] = related;
      }
    }
  }

  std::set<size_t> EdgesInto(size_t j) const {
    std::set<size_t> sources;
    const Event& event = trace_.events[j];
    for (const MicroAccess& a : trace_.AccessesOf(event)) {
      if (a.flags & sched::kObjectBytes) continue;
      const CellKind kind = sched::KindOf(a.begin);
      const bool enabling_kind = kind == CellKind::kThreadStart || kind == CellKind::kThreadExit ||
                                 kind == CellKind::kWake || kind == CellKind::kBarrierGeneration ||
                                 kind == CellKind::kSemaphore;
      if (!enabling_kind || !(a.flags & sched::kAcquire) || (a.flags & sched::kTry)) break;
      for (size_t p = event.first_access; p-- > 0;) {
        if (At(p).begin != a.begin || !(At(p).flags & sched::kRelease) ||
            !(At(p).flags & sched::kEnables)) {
          continue;
        }
        if (trace_.events[event_of_[p]].thread != event.thread) sources.insert(event_of_[p]);
        break;
      }
      if (kind != CellKind::kThreadStart && kind != CellKind::kWake) break;
    }
    return sources;
  }

  static bool IsAcquire(MemoryOrder o) {
    return o != MemoryOrder::kRelaxed && o != MemoryOrder::kRelease;
  }
  static bool IsRelease(MemoryOrder o) {
    return o == MemoryOrder::kRelease || o == MemoryOrder::kAcqRel || o == MemoryOrder::kSeqCst;
  }
  bool IsAtomicWrite(size_t p) const {
    return (At(p).flags & sched::kAtomic) && At(p).mode != sched::kRead;
  }

  // The releases that synchronise with an operation reading the atomic at `begin` just before p.
  std::vector<size_t> ReleaseSequencesRead(size_t p, Cell begin) const {
    std::vector<size_t> heads;
    for (size_t w = p; w-- > 0;) {
      const MicroAccess& a = At(w);
      if (!sched::IsMemory(a.begin)) continue;
      if (IsAtomicWrite(w) && a.begin == begin) {
        if (IsRelease(a.order)) {
          heads.push_back(w);
        } else {
          for (size_t f = w; f-- > 0;) {
            if (ThreadOf(f) == ThreadOf(w) && (At(f).flags & sched::kFence) &&
                IsRelease(At(f).order)) {
              heads.push_back(f);
              break;
            }
          }
        }
        if (a.mode == sched::kWrite) break;
      } else if (!(a.flags & (sched::kAtomic | sched::kObjectBytes)) && a.mode != sched::kRead &&
                 a.begin < begin + 4 && begin < a.end()) {
        break;  // overwritten
      }
    }
    return heads;
  }

  std::vector<size_t> ReleasesOf(size_t before, Cell cell, bool latest_only) const {
    std::vector<size_t> releases;
    for (size_t r = before; r-- > 0;) {
      if (At(r).begin != cell || !(At(r).flags & sched::kRelease)) continue;
      releases.push_back(r);
      if (latest_only) break;
    }
    return releases;
  }

  // What synchronises with access p.
  std::vector<size_t> SynchronisesWith(size_t p) const {
    const MicroAccess& a = At(p);
    if (a.flags & sched::kFence) {
      std::vector<size_t> all;
      if (!IsAcquire(a.order)) return all;
      for (size_t r = 0; r < p; ++r) {
        if (ThreadOf(r) != ThreadOf(p) || !(At(r).flags & sched::kAtomic)) continue;
        if (At(r).mode == sched::kWrite) continue;
        for (const size_t head : ReleaseSequencesRead(r, At(r).begin)) all.push_back(head);
      }
      return all;
    }
    if (sched::IsMemory(a.begin)) {
      const bool reads = (a.flags & sched::kAtomic) && a.mode != sched::kWrite;
      return reads && IsAcquire(a.order) ? ReleaseSequencesRead(p, a.begin) : std::vector<size_t>{};
    }
    if (!(a.flags & sched::kAcquire)) return {};
    const Cell writer = MakeCell(CellKind::kWriterHalf, sched::ObjectOf(a.begin));
    const Cell readers = MakeCell(CellKind::kReadersHalf, sched::ObjectOf(a.begin));
    switch (sched::KindOf(a.begin)) {
      case CellKind::kMutex:
        return ReleasesOf(p, a.begin, true);
      case CellKind::kReadersHalf:
        return ReleasesOf(p, writer, true);
      case CellKind::kWriterHalf: {
        auto all = ReleasesOf(p, readers, false);
        for (const size_t r : ReleasesOf(p, writer, true)) all.push_back(r);
        return all;
      }
      case CellKind::kWake:
        if (trace_.events[event_of_[p]].operation.kind == OperationKind::kReacquire) return {};
        return ReleasesOf(p, a.begin, false);
      default:
        return ReleasesOf(p, a.begin, false);
    }
  }

  void ComputeHappensBefore() {
    happens_before_.resize(size());
    program_order_.resize(size());
    for (size_t p = 0; p < size(); ++p) {
      for (size_t q = p; q-- > 0;) {
        if (ThreadOf(q) != ThreadOf(p)) continue;
        happens_before_[p] = happens_before_[q];
        happens_before_[p].set(q);
        break;
      }
      program_order_[p] = happens_before_[p];
      for (const size_t s : SynchronisesWith(p)) {
        happens_before_[p] |= happens_before_[s];
        happens_before_[p].set(s);
      }
    }
  }

  struct Holds {
    bool write = false;
    int reads = 0;
  };
  std::map<Cell, Holds> LocksHeld(size_t at) const {
    std::map<Cell, Holds> held;
    for (size_t p = 0; p < at; ++p) {
      if (ThreadOf(p) != ThreadOf(at)) continue;
      const MicroAccess& a = At(p);
      const CellKind kind = sched::KindOf(a.begin);
      if (kind == CellKind::kReadersHalf) {
        Holds& h = held[MakeCell(CellKind::kWriterHalf, sched::ObjectOf(a.begin))];
        if (a.flags & sched::kAcquire) ++h.reads;
        if (a.flags & sched::kRelease) --h.reads;
      } else if (kind == CellKind::kMutex || kind == CellKind::kWriterHalf ||
                 kind == CellKind::kSemaphore) {
        if (a.flags & sched::kAcquire) held[a.begin].write = true;
        if (a.flags & sched::kRelease) held[a.begin].write = false;
      }
    }
    return held;
  }
  bool Protected(size_t a, size_t b, const std::set<Cell>& contradicted) const {
    const auto first = LocksHeld(a), second = LocksHeld(b);
    for (const auto& [lock, x] : first) {
      const auto found = second.find(lock);
      if (found == second.end() || contradicted.count(lock)) continue;
      const Holds& y = found->second;
      if ((x.write && (y.write || y.reads > 0)) || (y.write && x.reads > 0)) return true;
    }
    return false;
  }

  bool RecycledBetween(size_t a, size_t b) const {
    const Cell cell = std::max(At(a).begin, At(b).begin);
    bool freed = false;
    for (size_t p = a; p <= b; ++p) {
      if (!sched::IsMemory(At(p).begin) || cell < At(p).begin || cell >= At(p).end()) continue;
      if (At(p).flags & sched::kFree) freed = true;
      if (freed && (At(p).flags & sched::kAllocation)) return true;
    }
    return false;
  }

  // Stacks: whether the bytes died between a and b.
  bool ForgottenBetween(size_t a, size_t b) const {
    for (size_t x = a + 1; x < b; ++x) {
      if (At(x).begin != MakeCell(CellKind::kThreadExit, ThreadOf(x))) continue;
      if (At(x).mode != sched::kWrite) continue;
      for (size_t p = 0; p < x; ++p) {
        if (ThreadOf(p) == ThreadOf(x) && (At(p).flags & sched::kThreadLocal) &&
            At(p).begin / 8 == At(a).begin / 8) {
          return true;
        }
      }
    }
    return false;
  }

  const Trace& trace_;
  std::vector<size_t> event_of_;
  std::vector<std::vector<bool>> must_happen_before_;
  std::vector<Positions> happens_before_;  // before p, its own acquire included
  std::vector<Positions> program_order_;   // before p's predecessor, and it
};

// ---------------------------------------------------------------- Random traces

constexpr Cell kGlobals = 0x1000, kHeap = 0x20000, kStacks = 0x40000, kAtomics = 0x60000,
               kArena = 0x800000;
constexpr uint32_t kBlockSize = 48, kMegabyte = 1 << 20;

// Makes feasible traces. Event i is a function of seeds[i] and of the state the earlier ones left,
// so traces with a common prefix of seeds have a common prefix of events, and any seed can be left
// out.
class TraceMaker {
 public:
  Trace Make(const std::vector<uint32_t>& seeds, int threads, uint32_t instructions) {
    instructions_ = instructions;
    threads_.assign(threads, {});
    threads_[0].running = true;
    for (const uint32_t seed : seeds) {
      random_.seed(seed);
      MakeEvent();
    }
    return builder_.Take();
  }

 private:
  struct ThreadState {
    bool created = false, running = false, ended = false;
    bool waits = false, woken = false, waits_on_condition = false;
    int at_barrier = -1;  // generation it waits for
    std::set<int> mutexes, reads, writes;
  };

  uint32_t Pick(uint32_t n) { return std::uniform_int_distribution<uint32_t>(0, n - 1)(random_); }
  uint64_t Pc() { return 1 + Pick(instructions_); }
  MemoryOrder Order() { return static_cast<MemoryOrder>(Pick(6)); }

  void MakeEvent() {
    std::vector<int> able;
    for (size_t t = 0; t < threads_.size(); ++t) {
      const ThreadState& s = threads_[t];
      const bool blocked =
          (s.waits && !s.woken) || (s.at_barrier >= 0 && s.at_barrier == generation_);
      if ((s.created || s.running) && !s.ended && !blocked) able.push_back(static_cast<int>(t));
    }
    if (able.empty()) return;
    self_ = able[Pick(able.size())];
    ThreadState& s = threads_[self_];
    builder_.Block(static_cast<ThreadId>(self_),
                   s.waits_on_condition ? OperationKind::kReacquire : OperationKind::kNone);
    if (Pick(4) == 0) builder_.Access(kGlobals + 120, 4, sched::kRead, sched::kObjectBytes, Pc());
    if (!s.running) {
      builder_.Start();
      s.running = true;
    }
    if (s.waits) {
      builder_.Woken();
      s.waits = s.woken = s.waits_on_condition = false;
    }
    if (s.at_barrier >= 0) {
      builder_.Depart(7 + s.at_barrier);
      s.at_barrier = -1;
    }
    for (uint32_t left = 1 + Pick(5); left > 0 && !s.ended && !s.waits && s.at_barrier < 0;
         --left) {
      MakeOperation(s);
    }
  }

  void MakeOperation(ThreadState& s) {
    switch (Pick(16)) {
      case 0:
        return MakeLockOperation(s);
      case 1:
        return MakeReaderWriterOperation(s);
      case 2:
      case 3:
        return MakeSemaphoreOperation();
      case 4:
        return MakeThreadOperation(s);
      case 5:
        return MakeWaitOperation(s);
      case 6:
      case 7:
      case 8:
        return MakeAtomicOperation();
      case 9:
        return MakeHeapOperation();
      case 10: {
        const bool own = Pick(2);
        const int whose = own ? self_ : static_cast<int>(Pick(threads_.size()));
        builder_.Access(kStacks + 8 * whose + Pick(5), 1 + Pick(4), 1 + Pick(3),
                        whose == self_ ? sched::kThreadLocal : 0, Pc());
        return;
      }
      case 11:
        return MakeLargeAccess();
      default: {
        const uint32_t size = 1u << Pick(4);
        const uint16_t flags = Pick(12) == 0 ? sched::kObjectBytes : 0;
        builder_.Access(kGlobals + Pick(24), size, 1 + Pick(4), flags, Pc());
      }
    }
  }

  void MakeLargeAccess() {
    static constexpr uint32_t kSizes[] = {24, 40, 100, 600, 5000, kMegabyte, 3 * kMegabyte};
    if (Pick(2) == 0) {
      builder_.Access(kArena + Pick(64) * 8, 4 + Pick(8), 1 + Pick(2), 0, Pc());
    } else {
      builder_.Access(kArena - Pick(40), kSizes[Pick(7)], 1 + Pick(2), 0, Pc());
    }
  }

  void MakeLockOperation(ThreadState& s) {
    const int m = Pick(2);
    if (s.mutexes.count(m)) {
      builder_.Unlock(m);
      s.mutexes.erase(m);
    } else if (std::ranges::none_of(threads_, [&](auto& t) { return t.mutexes.count(m); })) {
      builder_.Lock(m);
      s.mutexes.insert(m);
    }
  }

  void MakeReaderWriterOperation(ThreadState& s) {
    constexpr int kObject = 500;
    const bool written = std::ranges::any_of(threads_, [](auto& t) { return !t.writes.empty(); });
    const bool read = std::ranges::any_of(threads_, [](auto& t) { return !t.reads.empty(); });
    if (!s.writes.empty()) {
      builder_.WriteUnlock(kObject);
      s.writes.clear();
    } else if (!s.reads.empty()) {
      builder_.ReadUnlock(kObject);
      s.reads.clear();
    } else if (!written && Pick(2)) {
      builder_.ReadLock(kObject);
      s.reads.insert(0);
    } else if (!written && !read) {
      builder_.WriteLock(kObject);
      s.writes.insert(0);
    }
  }

  // Semaphores 0 and 1 begin at 1 (locks, mostly), 2 at 0.
  void MakeSemaphoreOperation() {
    const int i = Pick(3);
    int& count = semaphores_[i];
    const bool holds = semaphore_holder_[i] == self_;
    if (holds || (i == 2 && Pick(2)) || Pick(40) == 0) {
      builder_.SemaphorePost(900 + i, count++);
      if (holds) semaphore_holder_[i] = -1;
    } else if (count > 0) {
      builder_.SemaphoreWait(900 + i, count--, Pick(4) == 0 ? sched::kTry : 0);
      semaphore_holder_[i] = self_;
    }
  }

  void MakeThreadOperation(ThreadState& s) {
    const int u = Pick(threads_.size());
    ThreadState& other = threads_[u];
    if (u != 0 && !other.created) {
      builder_.Create(static_cast<ThreadId>(u));
      other.created = true;
    } else if (other.ended) {
      builder_.Join(static_cast<ThreadId>(u));
    } else if (self_ != 0 && Pick(6) == 0) {
      builder_.Exit();
      s.ended = true;
    }
  }

  void MakeWaitOperation(ThreadState& s) {
    for (size_t u = 0; u < threads_.size(); ++u) {
      if (threads_[u].waits && !threads_[u].woken) {
        builder_.Wake(static_cast<ThreadId>(u));
        threads_[u].woken = true;
        return;
      }
    }
    if (Pick(2)) {
      s.waits = true;
      s.waits_on_condition = Pick(2);
    } else {
      const bool last = ++arrived_ == 2;
      builder_.Arrive(7 + generation_, last);
      s.at_barrier = generation_;
      if (last) {
        ++generation_;
        arrived_ = 0;
      }
    }
  }

  void MakeAtomicOperation() {
    static constexpr uint8_t kModes[] = {sched::kRead, sched::kRead, sched::kWrite,
                                         sched::kReadWrite, sched::kAdd};
    if (Pick(5) == 0) {
      builder_.Fence(Order());
    } else if (Pick(10) == 0) {
      builder_.Access(kAtomics + Pick(8), 1 + Pick(4), 1 + Pick(2), 0, Pc());
    } else {
      builder_.Access(kAtomics + 4 * Pick(2), 4, kModes[Pick(5)], sched::kAtomic, Pc(), Order());
    }
  }

  void MakeHeapOperation() {
    const int i = Pick(2);
    const Cell block = kHeap + i * kBlockSize;
    if (allocated_[i] && Pick(3) == 0) {
      builder_.Free(block, kBlockSize, Pc());
      allocated_[i] = false;
    } else if (!allocated_[i] && Pick(3) != 0) {
      builder_.Allocate(block, kBlockSize, Pc());
      allocated_[i] = true;
    } else {
      const uint32_t size = 1 + Pick(Pick(3) == 0 ? kBlockSize : 8);
      builder_.Access(block + Pick(kBlockSize - size + 1), size, 1 + Pick(3), 0, Pc());
    }
  }

  std::mt19937 random_;
  TraceBuilder builder_;
  std::vector<ThreadState> threads_;
  int self_ = 0;
  uint32_t instructions_ = 0;
  int semaphores_[3] = {1, 1, 0};
  int semaphore_holder_[3] = {-1, -1, -1};
  bool allocated_[2] = {false, false};
  int generation_ = 0, arrived_ = 0;
};

// ---------------------------------------------------------------- The comparison

// A sequence of executions: each keeps a prefix of the one before.
struct Case {
  CandidateRule rule;
  int threads;
  uint32_t instructions;                          // how many different ones there are
  std::vector<std::vector<uint32_t>> executions;  // seeds of the events
};

Facts FactsIn(const CandidateTable& table) {
  Facts facts;
  for (size_t i = 0; i < table.size(); ++i) {
    const Candidate& c = table[i];
    unsigned known = (c.earlier_first_seen ? kLowerFirst : 0) |
                     (c.later_first_seen ? kHigherFirst : 0) | (c.unordered ? kUnordered : 0) |
                     (c.data_race ? kDataRace : 0);
    if (c.status == CandidateStatus::kMallocRecycle) known |= kRecycled;
    facts[{std::min(c.earlier.pc, c.later.pc), std::max(c.earlier.pc, c.later.pc)}] = known;
  }
  return facts;
}

std::string Difference(const Facts& expected, const Facts& found) {
  std::string text;
  auto tell = [&](const char* what, const Pair& pair, unsigned facts) {
    text += std::string(what) + " pc " + std::to_string(pair.first) + ", pc " +
            std::to_string(pair.second) + " facts " + std::to_string(facts) + "; ";
  };
  for (const auto& [pair, facts] : expected) {
    const auto it = found.find(pair);
    if (it == found.end()) {
      tell("missing", pair, facts);
    } else if (it->second != facts) {
      tell("expected", pair, facts);
      tell("found", pair, it->second);
    }
  }
  for (const auto& [pair, facts] : found) {
    if (!expected.count(pair)) tell("extra", pair, facts);
  }
  return text;
}

size_t CommonPrefix(const Trace& a, const Trace& b) {
  size_t n = 0;
  auto equal = [](const MicroAccess& x, const MicroAccess& y) {
    return x.begin == y.begin && x.size == y.size && x.pc == y.pc && x.flags == y.flags &&
           x.mode == y.mode && x.order == y.order;
  };
  while (n < a.size() && n < b.size() && a.events[n].thread == b.events[n].thread &&
         std::ranges::equal(a.AccessesOf(a.events[n]), b.AccessesOf(b.events[n]), equal)) {
    ++n;
  }
  return n;
}

// Empty if the detector agrees with the definitions after every execution.
std::string Check(const Case& c) {
  CandidateTable table;
  CandidateDetector detector(c.rule, table);
  std::vector<Trace> traces;
  std::set<Cell> contradicted;
  for (const auto& seeds : c.executions) {
    traces.push_back(TraceMaker().Make(seeds, c.threads, c.instructions));
    const Trace& trace = traces.back();
    if (trace.accesses.size() > kMaxAccesses) return "";
    const size_t kept = traces.size() > 1 ? CommonPrefix(traces[traces.size() - 2], trace) : 0;
    detector.OnExecutionBegin(trace, kept);
    detector.OnExecutionEnd(trace);
    contradicted.merge(Definitions(trace).ContradictedSemaphores());
  }
  Facts expected;
  for (const Trace& trace : traces) {
    for (const auto& [pair, facts] : Definitions(trace).Candidates(c.rule, contradicted)) {
      expected[pair] |= facts;
    }
  }
  for (auto& [pair, facts] : expected) {
    if (facts & (kLowerFirst | kHigherFirst)) facts &= ~kRecycled;
  }
  return Difference(expected, FactsIn(table));
}

Case Shrink(Case c) {
  for (size_t i = 0; i < c.executions.size();) {  // whole executions
    Case smaller = c;
    smaller.executions.erase(smaller.executions.begin() + i);
    Check(smaller).empty() ? static_cast<void>(++i) : static_cast<void>(c = smaller);
  }
  for (bool progress = true; progress;) {  // single events
    progress = false;
    for (size_t e = 0; e < c.executions.size(); ++e) {
      for (size_t i = 0; i < c.executions[e].size();) {
        Case smaller = c;
        const uint32_t seed = smaller.executions[e][i];
        for (auto& execution : smaller.executions) std::erase(execution, seed);
        if (Check(smaller).empty()) {
          ++i;
        } else {
          c = smaller;
          progress = true;
        }
      }
    }
  }
  return c;
}

std::string Show(const Case& c) {
  std::string text;
  char line[160];
  for (const auto& seeds : c.executions) {
    text += "execution\n";
    const Trace trace = TraceMaker().Make(seeds, c.threads, c.instructions);
    for (const Event& event : trace.events) {
      for (const MicroAccess& a : trace.AccessesOf(event)) {
        std::snprintf(line, sizeof line,
                      "  T%d cell %llx size %u mode %d flags %x order %d pc %d\n", event.thread,
                      static_cast<unsigned long long>(a.begin), a.size, a.mode, a.flags,
                      static_cast<int>(a.order), static_cast<int>(a.pc));
        text += line;
      }
    }
  }
  return text;
}

void RunCases(CandidateRule rule, int cases, int executions, uint32_t max_events, uint64_t seed) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  size_t candidates = 0;
  for (int i = 0; i < cases; ++i) {
    Case c{rule, static_cast<int>(2 + random() % 7), random() % 2 ? 12u : 100u, {}};
    std::vector<uint32_t> seeds;
    for (int e = 0; e < executions; ++e) {
      if (e > 0) seeds.resize(random() % (seeds.size() + 1));
      const size_t length = 1 + random() % max_events;
      while (seeds.size() < length) seeds.push_back(static_cast<uint32_t>(random()));
      c.executions.push_back(seeds);
    }
    const std::string difference = Check(c);
    if (!difference.empty()) {
      const Case smallest = Shrink(c);
      FAIL() << "seed " << seed << " case " << i << ": " << difference
             << "\nshrunk: " << Check(smallest) << "\n"
             << Show(smallest);
    }
    CandidateTable table;
    CandidateDetector detector(rule, table);
    sched::ReplayTrace(TraceMaker().Make(seeds, c.threads, c.instructions), detector);
    candidates += table.size();
  }
  std::printf("%d cases, %zu candidates\n", cases, candidates);
  EXPECT_GT(candidates, static_cast<size_t>(cases));  // the traces are not trivial
}

uint64_t Seed() {
  if (const char* given = std::getenv("MC_SEED")) return std::strtoull(given, nullptr, 10);
  return std::random_device()();
}

TEST(RacedetCandidates, LimitedHappensBeforeEqualsDefinition) {
  RunCases(CandidateRule::kLimitedHappensBefore, 3000, 1, 120, Seed());
}

TEST(RacedetCandidates, HappensBeforeEqualsDefinition) {
  RunCases(CandidateRule::kHappensBefore, 3000, 1, 120, Seed());
}

TEST(RacedetCandidates, KeptPrefixesLimitedHappensBefore) {
  RunCases(CandidateRule::kLimitedHappensBefore, 600, 8, 60, Seed());
}

TEST(RacedetCandidates, KeptPrefixesHappensBefore) {
  RunCases(CandidateRule::kHappensBefore, 600, 8, 60, Seed());
}

}  // namespace
}  // namespace mc::racedet
