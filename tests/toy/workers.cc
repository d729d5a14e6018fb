#include "tests/toy/workers.h"

#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "dpor/odpor.h"
#include "tests/toy/machine.h"
#include "tests/toy/memory_store.h"

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
    const bool takes = message.front() == static_cast<uint32_t>(dpor::WorkerMessage::kTake);
    if (takes && answer->front() == static_cast<uint32_t>(dpor::ItemKind::kStart)) ++items;
  }
  // The oldest message; false if there is none.
  bool Deliver() {
    if (waiting_.empty()) return false;
    Words unused;
    const Words message = std::move(waiting_.front());
    waiting_.pop_front();
    frontier_.Serve(worker_, message, &unused);
    return true;
  }

  uint64_t items = 0;

 private:
  dpor::Frontier& frontier_;
  uint32_t worker_;
  std::deque<Words> waiting_;
};

struct Worker {
  Worker(const Program& program, dpor::Frontier& frontier, uint32_t number,
         const WorkersOptions& options)
      : machine(program), link(frontier, number), search(OptionsOf(options)) {
    store.is_broken = options.store_is_broken;
    if (options.spill) search.LimitMemory(&store, &budget);
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
  Machine machine;
  sched::Trace trace;
  LateLink link;
  MemoryStore store;
  dpor::SpillBudget budget{.limit = 0};
  dpor::OptimalSearch<false> search;
};

class Workshop {
 public:
  Workshop(const Program& program, const WorkersOptions& options)
      : program_(program), options_(options), random_(options.seed) {
    frontier_ = std::make_unique<dpor::Frontier>();
    frontier_->set_mutation(options.mutation);
    for (uint32_t w = 0; w < options.workers; ++w) workers_.push_back(NewWorker(w));
  }

  Shared Run() {
    while (!workers_[0]->search.complete()) {
      const auto w = static_cast<uint32_t>(random_() % workers_.size());
      Turn(w);
      if (options_.resume && random_() % 8 == 0) Resume();
      for (const auto& worker : workers_) {
        if (result_.error.empty()) result_.error = worker->search.error();
      }
      if (result_.error.empty()) result_.error = frontier_->error();
      if (++turns_ > 50 * options_.limit + 1000) result_.error = "no end";
      if (!result_.error.empty()) return result_;
    }
    for (uint32_t w = 1; w < workers_.size(); ++w) {
      result_.items += workers_[w]->link.items;
    }
    result_.counted = workers_[0]->search.runs();
    return result_;
  }

 private:
  std::unique_ptr<Worker> NewWorker(uint32_t number) {
    return std::make_unique<Worker>(program_, *frontier_, number, options_);
  }

  void Turn(uint32_t number) {
    Worker& worker = *workers_[number];
    switch (random_() % 8) {
      case 0:
        worker.search.GiveAway();
        break;
      case 1:
        worker.search.TellCounts();
        break;
      case 2:
        worker.link.Deliver();
        break;
      case 3:
        if (options_.leave && number != 0 && random_() % 4 == 0) {
          Leave(number);
          break;
        }
        [[fallthrough]];
      default:
        if (RunOne(worker.machine, worker.search, worker.trace)) {
          result_.found.Add(worker.machine, worker.trace);
        }
    }
    workers_[0]->search.AddCounts(frontier_->TakeCounts());
  }

  void Leave(uint32_t number) {
    Worker& worker = *workers_[number];
    worker.search.Leave();
    while (worker.link.Deliver()) {
    }
    if (frontier_->IsAtWork(number)) result_.error = "a worker that has left has an item";
    result_.items += worker.link.items;
    workers_[number] = NewWorker(number);
  }

  // What a checkpoint holds: all but the first worker have left.
  void Resume() {
    for (uint32_t w = 1; w < workers_.size(); ++w) Leave(w);
    while (workers_[0]->link.Deliver()) {
    }
    dpor::OptimalSearch<false>& search = workers_[0]->search;
    search.AddCounts(frontier_->TakeCounts());
    Words words, rest;
    frontier_->Write(&words);
    if (!search.WriteRest(&rest)) return;  // it has not begun
    const dpor::SearchCounts counts = {search.executions(), search.sleep_blocked(),
                                       search.assumption_failed(), search.transitions()};
    auto frontier = std::make_unique<dpor::Frontier>();
    dpor::WordReader reader(words);
    if (!frontier->Read(reader) || !reader.AtEnd()) result_.error = "a frontier cannot be read";
    if (!rest.empty()) frontier->Serve(0, rest, &words);
    workers_.clear();
    frontier_ = std::move(frontier);
    for (uint32_t w = 0; w < options_.workers; ++w) workers_.push_back(NewWorker(w));
    workers_[0]->search.BecomeHelper(&workers_[0]->link);
    workers_[0]->search.AddCounts(counts);
    ++result_.resumed;
  }

  const Program& program_;
  WorkersOptions options_;
  std::mt19937_64 random_;
  std::unique_ptr<dpor::Frontier> frontier_;
  std::vector<std::unique_ptr<Worker>> workers_;
  Shared result_;
  uint64_t turns_ = 0;
};

}  // namespace

Shared ExploreTogether(const Program& program, const WorkersOptions& options) {
  return Workshop(program, options).Run();
}

}  // namespace mc::toy
