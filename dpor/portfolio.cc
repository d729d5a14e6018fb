#include "dpor/portfolio.h"

#include <algorithm>
#include <limits>

#include "dpor/delay.h"
#include "dpor/odpor.h"
#include "dpor/pct.h"
#include "dpor/pos.h"
#include "dpor/random_walk.h"

namespace mc::dpor {

Portfolio::Members Portfolio::DefaultMembers(Policy policy, uint64_t seed) {
  constexpr uint64_t kForEver = std::numeric_limits<uint64_t>::max();
  constexpr uint32_t kDelays = 2;
  Members members;
  const auto add = [&](std::string name, std::unique_ptr<Search> search) {
    members.push_back({std::move(name), std::move(search)});
  };
  OptimalSearchOptions options;
  options.policy = policy;
  options.seed = seed;
  add("odpor", std::make_unique<OptimalSearch<false>>(options));
  add("delay --delays=" + std::to_string(kDelays), std::make_unique<DelaySearch>(kDelays));
  add("pos", std::make_unique<PartialOrderSampling>(++seed, kForEver));
  for (const uint32_t depth : {2, 3, 5}) {
    add("pct --depth=" + std::to_string(depth),
        std::make_unique<ProbabilisticConcurrencyTesting>(depth, ++seed, kForEver));
  }
  add("random", std::make_unique<RandomWalk>(++seed, kForEver));
  return members;
}

bool Portfolio::BeginExecution(const sched::Trace& trace, size_t* keep) {
  if (!error_.empty() || !too_large_.empty() || complete_) return false;
  if (left_ == 0) NextTurn();
  while (true) {
    if (resumed_ || current_ != ran_last_) current().Resume();
    if (current().BeginExecution(trace, keep)) break;
    TakeError();
    if (!error_.empty()) return false;
    if (current_ == 0) {
      complete_ = current().complete();
      too_large_ = current().too_large();
      return false;
    }
    members_[current_].is_over = true;
    NextTurn();
  }
  branch_depth_ = resumed_ || current_ != ran_last_ ? 0 : current().branch_depth();
  ran_last_ = current_;
  resumed_ = false;
  --left_;
  return true;
}

void Portfolio::NextTurn() {
  do {
    current_ = (current_ + 1) % members_.size();
    if (current_ == 0) turn_ = std::min(2 * turn_, kLongestTurn);
  } while (members_[current_].is_over);
  left_ = turn_;
  if (current_ != 0) return;
  const auto over = std::ranges::count_if(members_, [](const Member& m) { return m.is_over; });
  const uint64_t others = members_.size() - 1 - static_cast<uint64_t>(over);
  left_ *= std::max<uint64_t>(1, others);
}

void Portfolio::EndExecution(const sched::Trace& trace) {
  current().EndExecution(trace);
  Count(trace);
  TakeError();
}

void Portfolio::TakeError() {
  if (current().error().empty() || !error_.empty()) return;
  error_ = current().error();
  error_step_ = current().error_step();
}

// The others go on as they did until the systematic member is at its end.
double Portfolio::Estimate() const {
  const double own = static_cast<double>(std::max<uint64_t>(1, systematic().runs()));
  return systematic().Estimate() * static_cast<double>(runs()) / own;
}

}  // namespace mc::dpor
