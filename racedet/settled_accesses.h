// SettledAccesses: which accesses cannot tell a candidate detector anything new.
//
// A search runs the same few instructions over the same memory in every order. Before long the
// table of candidates holds all facts that their pairs can ever yield, and clocks and locksets need
// not be worked out any more: not until something new happens.
//
// Accesses that agree in instruction, mode, kind, bytes and the locks held form a class; those that
// main made before there was another thread are one of their own (it may set up with the functions
// that the threads work with). Of each class this keeps in what circumstances it was ever made: by
// which threads, which of the others existed then, and which had been joined. A pair of classes
// that overlap and conflict can yield
//   nothing         if one thread made all accesses of both, or a common lock protects them;
//   one order       if the one is only ever made before its thread creates those that make the
//                   other (and not even that, if those make it in their first block), or after it
//                   has joined them: happens-before orders them, must-happen-before may not;
//   all facts       otherwise.
// and with either, the kinds of the two.
// A class is *settled* if the table has all that its pairs can yield. A class whose circumstances
// change, and those that overlap it, are judged anew.
//
// Invariant: every access that was entered is covered by what its class says. So an execution whose
// new accesses are all settled when they are entered, one after the other, adds no fact to the
// table, and a detector need not look at them before there is one that is not.
#ifndef MC_RACEDET_SETTLED_ACCESSES_H_
#define MC_RACEDET_SETTLED_ACCESSES_H_

#include <cstdint>
#include <vector>

#include "racedet/candidate_table.h"
#include "racedet/open_hash.h"
#include "sched/trace.h"

namespace mc::racedet {

class SettledAccesses {
 public:
  // `table` is not owned. `limited`: the rule is limited happens-before. Locks protect then, and an
  // order that happens-before gives adds a fact.
  SettledAccesses(CandidateTable& table, bool limited) : table_(table), limited_(limited) {}

  // Events are given in execution order, and so is what they do.
  // `after_creation`: the event is the first of its thread, from its start on.
  void BeginEvent(const sched::Event& event, bool after_creation);
  void Create(sched::ThreadId child);
  void Join(sched::ThreadId joined);
  // An access of the event to a cell of a lock.
  void ChangeLocks(const sched::MicroAccess& access);
  // Enters an access of the event to memory; false if it may add a fact to the table.
  bool Enter(const sched::MicroAccess& access);
  // Forgets that events from `events` on were given.
  void CutBack(size_t events);

 private:
  static constexpr size_t kMaxClasses = 4096;

  struct Key {
    uint64_t pc = 0;
    sched::Cell begin = 0;
    uint64_t rest = 0;  // size, kind, mode; whether there was another thread
    LocksetId lockset = 0;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    uint64_t operator()(const Key& key) const {
      return MixBits(key.pc + 3 * key.begin + 7 * key.rest + 11 * uint64_t{key.lockset});
    }
  };
  // Sets of threads are one bit for each.
  struct Class {
    sched::Cell begin = 0, end = 0;
    uint32_t site = 0;
    LocksetId lockset = 0;
    uint16_t flags = 0;
    uint8_t mode = 0;
    bool settled = false;
    bool always_after_creation = true;
    uint64_t threads = 0;               // that made it
    uint64_t existing = 0;              // created by then, at any time
    uint64_t joined = ~uint64_t{0};     // by its thread by then, at all times
    uint64_t judged_at = ~uint64_t{0};  // the table's version when it was found not settled
    std::vector<uint32_t> partners;     // classes that overlap it and conflict, itself too
  };
  struct Mark {
    sched::ThreadId thread = 0;
    LocksetId lockset = 0;  // of the thread, before the event, as are these:
    uint64_t existing = 0, joined = 0;
  };

  uint32_t ClassOf(const sched::MicroAccess& access);
  uint32_t AddClass(const Key& key, const sched::MicroAccess& access);
  void Unsettle(uint32_t index);
  bool Judge(const Class& c) const;
  bool PairIsSettled(const Class& a, const Class& b) const;
  // Whether all accesses of `first` come before those of `second` by creation or joins.
  bool OrderedByThreads(const Class& first, const Class& second, bool* adds_order) const;
  // The facts that instances with an access of `first` before one of `second` can show of their
  // order.
  uint32_t OrderFacts(const Class& first, const Class& second) const;

  CandidateTable& table_;
  const bool limited_;
  bool gave_up_ = false;  // too many threads or classes: nothing counts as settled any more
  OpenHash<Key, KeyHash> index_;
  std::vector<Class> classes_;
  std::vector<Mark> marks_;  // one per event
  uint64_t existing_ = 1;
  // By thread:
  std::vector<uint64_t> joined_;
  std::vector<uint64_t> created_;  // those it ever created
  std::vector<LocksetId> locksets_;
  sched::ThreadId thread_ = 0;
  bool after_creation_ = false;
};

}  // namespace mc::racedet

#endif  // MC_RACEDET_SETTLED_ACCESSES_H_
