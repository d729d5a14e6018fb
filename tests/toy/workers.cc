#include "tests/toy/workers.h"

#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "dpor/odpor.h"
#include "tests/toy/machine.h"

namespace mc::toy {
namespace {

using dpor::Words;

// Keeps what a worker tells back for a while; the order stays, and answers come after all of it.
class LateLink final : public dpor::FrontierLink {
 public:
  LateLink(dpor::Frontier& frontier, uint32_t worker) : frontier_(frontier), worker_(worker) {}

  void Tell(const Words& message) override { waiting_.push_back(message); }
  void Ask(const Words& message, Words* answer) override {
    while (Deliver()) {
    }
    frontier_.Serve(worker_, message, answer);
    asked_for_item_ = message.front() == static_cast<uint32_t>(dpor::WorkerMessage::kTake);
    if (asked_for_item_ && answer->front() >= static_cast<uint32_t>(dpor::ItemKind::kStart)) {
      ++items;
    }
    if (message.front() == static_cast<uint32_t>(dpor::WorkerMessage::kState)) counts_now = true;
  }
  // The oldest message; false if there is none.
  bool Deliver() {
    if (waiting_.empty()) return false;
    Words unused;
    const Words message = std::move(waiting_.front());
    waiting_.pop_front();
    if (message.front() == static_cast<uint32_t>(dpor::WorkerMessage::kFinished)) {
      counts_now = true;
    }
    frontier_.Serve(worker_, message, &unused);
    return true;
  }

  uint64_t items = 0;
  bool counts_now = false;  // what the worker has done so far counts from now on

 private:
  dpor::Frontier& frontier_;
  uint32_t worker_;
  bool asked_for_item_ = false;
  std::deque<Words> waiting_;
};

struct Worker {
  Worker(const Program& program, dpor::Frontier& frontier, uint32_t number,
         const WorkersOptions& options)
      : machine(program), link(frontier, number), search(OptionsOf(options)) {
    if (number == 0) {
      search.Share(&link);
    } else {
      search.BecomeHelper(&link);
    }
  }
  static dpor::OptimalSearchOptions OptionsOf(const WorkersOptions& options) {
    dpor::OptimalSearchOptions search_options;
    search_options.policy = options.policy;
    search_options.seed = options.seed;
    return search_options;
  }
  void CountIfTold(Exploration* found) {
    if (!link.counts_now) return;
    link.counts_now = false;
    for (const auto& [machine_then, trace_then] : untold) found->Add(machine_then, trace_then);
    untold.clear();
  }

  Machine machine;
  sched::Trace trace;
  LateLink link;
  dpor::OptimalSearch<false> search;
  std::vector<std::pair<Machine, sched::Trace>> untold;
};

class Workshop {
 public:
  Workshop(const Program& program, const WorkersOptions& options)
      : program_(program), options_(options), random_(options.seed) {
    frontier_.set_mutation(options.mutation);
    for (uint32_t w = 0; w < options.workers; ++w) workers_.push_back(NewWorker(w));
  }

  Shared Run() {
    while (!workers_[0]->search.complete()) {
      const auto w = static_cast<uint32_t>(random_() % workers_.size());
      Turn(w);
      for (const auto& worker : workers_) {
        if (result_.error.empty()) result_.error = worker->search.error();
      }
      if (result_.error.empty()) result_.error = frontier_.error();
      if (++turns_ > 50 * options_.limit + 1000) result_.error = "no end";
      if (!result_.error.empty()) return result_;
    }
    for (uint32_t w = 1; w < workers_.size(); ++w) {
      result_.items += workers_[w]->link.items;
      if (!workers_[w]->untold.empty()) result_.error = "over, but a worker has more to tell";
    }
    result_.counted = workers_[0]->search.runs();
    return result_;
  }

 private:
  std::unique_ptr<Worker> NewWorker(uint32_t number) {
    return std::make_unique<Worker>(program_, frontier_, number, options_);
  }

  void Turn(uint32_t number) {
    Worker& worker = *workers_[number];
    switch (random_() % 8) {
      case 0:
        worker.search.GiveAway();
        break;
      case 1:
        worker.search.ReportState();
        break;
      case 2:
        worker.link.Deliver();
        break;
      case 3:
        if (options_.deaths && number != 0 && random_() % 4 == 0) {
          Die(number);
          return;
        }
        [[fallthrough]];
      default:
        if (RunOne(worker.machine, worker.search, worker.trace)) Ran(number);
    }
    if (number != 0) worker.CountIfTold(&result_.found);
    workers_[0]->search.AddCounts(frontier_.TakeCounts());
  }

  // Worker 0 is the frontier's owner: if it is lost, all is.
  void Ran(uint32_t number) {
    Worker& worker = *workers_[number];
    if (number == 0) {
      result_.found.Add(worker.machine, worker.trace);
      return;
    }
    // An execution after the item's end belongs to the next one.
    if (worker.link.counts_now) worker.CountIfTold(&result_.found);
    worker.untold.emplace_back(worker.machine, worker.trace);
  }

  void Die(uint32_t number) {
    ++result_.lost;
    result_.items += workers_[number]->link.items;
    for (uint64_t more = random_() % 4; more > 0; --more) workers_[number]->link.Deliver();
    workers_[number]->CountIfTold(&result_.found);
    frontier_.Lose(number, random_() % 2 == 0);
    workers_[0]->search.AddCounts(frontier_.TakeCounts());
    workers_[number] = NewWorker(number);
  }

  const Program& program_;
  WorkersOptions options_;
  std::mt19937_64 random_;
  dpor::Frontier frontier_;
  std::vector<std::unique_ptr<Worker>> workers_;
  Shared result_;
  uint64_t turns_ = 0;
};

}  // namespace

Shared ExploreTogether(const Program& program, const WorkersOptions& options) {
  return Workshop(program, options).Run();
}

}  // namespace mc::toy
