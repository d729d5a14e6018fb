// Portfolio: several searches of one state space by turns, for a program of which nobody knows
// which of them finds its bug soonest.
//
// The first member is the systematic one: what it has covered counts, and once it is complete so is
// the portfolio. It gets half of the executions, the others the other half in equal parts; they go
// on for ever, or drop out when they have run all they would. Turns are counted in executions, so
// the same seed gives the same executions; they begin short, since most bugs are found soon by some
// member, and grow, since a search that goes on after others repeats one execution from its start.
//
// All executions count, also those that several members run: only the systematic member's own are
// one per trace.
#ifndef MC_DPOR_PORTFOLIO_H_
#define MC_DPOR_PORTFOLIO_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dpor/search.h"

namespace mc::dpor {

class Portfolio final : public Search {
 public:
  struct Member {
    std::string name;  // as on the command line, with its options
    std::unique_ptr<Search> search;
    bool is_over = false;
  };
  using Members = std::vector<Member>;

  // At least one member.
  explicit Portfolio(Members members) : members_(std::move(members)) {}

  // The optimal search, and what finds bugs of different kinds in programs that it does not finish:
  // those that few delays of a simple scheduler show (delay), that few orderings are enough for,
  // however long the execution (pct, of several depths), that have to wait for long, or to take
  // turns (pos), and those for which nothing is in the way (random).
  static Members DefaultMembers(Policy policy, uint64_t seed);

  bool BeginExecution(const sched::Trace& trace, size_t* keep) override;
  sched::ThreadId Next(const sched::Trace& trace, const sched::StateView& state) override {
    return current().Next(trace, state);
  }
  size_t FreeFrom() const override { return members_[current_].search->FreeFrom(); }
  uint32_t NextChoice(size_t position, uint32_t index, uint32_t arity) override {
    return current().NextChoice(position, index, arity);
  }
  void EndExecution(const sched::Trace& trace) override;

  double Estimate() const override;
  uint64_t LowerBound() const override {
    return runs() + systematic().LowerBound() - systematic().runs();
  }
  bool left_out() const override { return systematic().left_out(); }
  std::string_view part_that_ran() const override { return members_[current_].name; }
  const Members& members() const { return members_; }

 private:
  static constexpr uint64_t kLongestTurn = 16;  // of each but the systematic member

  Search& current() { return *members_[current_].search; }
  const Search& systematic() const { return *members_[0].search; }
  void NextTurn();
  void TakeError();

  Members members_;
  size_t current_ = 0;
  size_t ran_last_ = 0;
  uint64_t turn_ = 1;  // executions of each member in the current round
  uint64_t left_ = 1;  // executions of the current turn still to come
};

}  // namespace mc::dpor

#endif  // MC_DPOR_PORTFOLIO_H_
