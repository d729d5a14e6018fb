// Definitions of OptimalSearch (odpor.h): one search by several workers (sharing.h, frontier.h).
#ifndef MC_DPOR_ODPOR_SHARING_IMPL_H_
#define MC_DPOR_ODPOR_SHARING_IMPL_H_

#include <utility>

#include "dpor/odpor.h"

namespace mc::dpor {

// -- Items ---------------------------------------------------------------------------------------

// The item is done, or there is none: asks for the next.
template <bool kWithMutants>
bool OptimalSearch<kWithMutants>::TakeItem() {
  if (has_item_) FinishItem();
  words_.assign(1, static_cast<uint32_t>(WorkerMessage::kTake));
  link_->Ask(words_, &answer_);
  WordReader reader(answer_);
  const auto kind = answer_.empty() ? ItemKind::kOver : static_cast<ItemKind>(reader.Next());
  waits_ = kind == ItemKind::kNone;
  complete_ = kind == ItemKind::kOver;
  if (waits_ || complete_) return false;
  ReadItem(reader);
  if (!reader.ok() || plan_.empty()) SetError("an item cannot be read");
  return error_.empty();
}

template <bool kWithMutants>
void OptimalSearch<kWithMutants>::FinishItem() {
  TellCounts();
  words_.assign(1, static_cast<uint32_t>(WorkerMessage::kFinished));
  link_->Tell(words_);
  DropItem();
}

// The path becomes the plan of the next execution, which repeats nothing of the last one.
template <bool kWithMutants>
void OptimalSearch<kWithMutants>::ReadItem(WordReader& reader) {
  item_depth_ = reader.NextCount();
  for (uint32_t d = 0; d < item_depth_; ++d) {
    ReadSleepers(reader);
    plan_.push_back(ReadEvent(reader, &pool_));
  }
  ReadSleepers(reader);
  for (uint32_t left = reader.NextCount(); left > 0; --left) {
    plan_.push_back(ReadEvent(reader, &pool_));
  }
  has_item_ = takes_over_ = true;
}

template <bool kWithMutants>
void OptimalSearch<kWithMutants>::ReadSleepers(WordReader& reader) {
  std::vector<EventId>& sleepers = item_sleepers_.emplace_back();
  for (uint32_t left = reader.NextCount(); left > 0; --left) {
    sleepers.push_back(ReadEvent(reader, &pool_));
  }
}

// Forgets the path and all that belongs to it.
template <bool kWithMutants>
void OptimalSearch<kWithMutants>::DropItem() {
  for (Node& node : nodes_) DiscardRequests(node);
  for (const SleepEntry& entry : sleep_entries_) pool_.Release(entry.event);
  sleep_entries_.clear();
  sleep_items_.clear();
  nodes_.assign(1, Node());
  path_.CutBack(0);
  for (const EventId e : plan_) pool_.Release(e);
  plan_.clear();
  item_sleepers_.clear();
  branch_depth_ = 0;
  own_from_ = kNowhere;
  has_item_ = takes_over_ = has_requests_to_tell_ = false;
}

// -- The first execution of an item --------------------------------------------------------------

// What was started at node `position` before the event that the path takes there sleeps from there
// on.
template <bool kWithMutants>
void OptimalSearch<kWithMutants>::EnterSleepersOf(size_t position) {
  if (position >= item_sleepers_.size()) return;
  for (const EventId e : item_sleepers_[position]) {
    sleep_items_.push_back(static_cast<uint32_t>(sleep_entries_.size()));
    sleep_entries_.push_back({e, kNoPosition});
  }
  nodes_[position].sleep_end = static_cast<uint32_t>(sleep_items_.size());
}

// The plan, which ends at node `plan_end`, was followed: from where on is the path the worker's
// own? Hands down what waits there.
template <bool kWithMutants>
void OptimalSearch<kWithMutants>::TakeOver(size_t plan_end) {
  takes_over_ = false;
  item_sleepers_.clear();
  words_.assign(1, static_cast<uint32_t>(WorkerMessage::kStarted));
  words_.push_back(static_cast<uint32_t>(plan_end - item_depth_));
  for (size_t p = item_depth_; p < plan_end; ++p) WriteEvent(path_.record(p), &words_);
  link_->Ask(words_, &answer_);
  WordReader reader(answer_);
  own_from_ = reader.Next();
  if (own_from_ <= item_depth_ || own_from_ > plan_end) {
    SetError("no place in the tree for what was started");
    own_from_ = static_cast<uint32_t>(plan_end);
    return;
  }
  for (uint32_t left = reader.NextCount(); left > 0; --left) {
    const RequestId request = ReadSequence(reader, &pool_, &requests_);
    if (own_from_ == plan_end) {
      requests_.Destroy(request);
    } else {
      HandOver(request, BeginsWith(own_from_, request), own_from_, plan_end);
    }
  }
}

// -- What is told --------------------------------------------------------------------------------

// The requests for nodes above the item that the last execution added.
template <bool kWithMutants>
void OptimalSearch<kWithMutants>::TellRequests() {
  has_requests_to_tell_ = false;
  words_.assign(1, static_cast<uint32_t>(WorkerMessage::kInsert));
  for (uint32_t d = 0; d < own_from_; ++d) {
    for (RequestId r = nodes_[d].requests.others; r != nodes_[d].told; r = requests_[r].next) {
      words_.push_back(d);
      WriteSequence(pool_, requests_[r].events(), &words_);
    }
    nodes_[d].told = nodes_[d].requests.others;
  }
  link_->Tell(words_);
}

template <bool kWithMutants>
void OptimalSearch<kWithMutants>::TellCounts() {
  const SearchCounts all = {executions_, sleep_blocked_, assumption_failed_, transitions_};
  words_.assign(1, static_cast<uint32_t>(WorkerMessage::kCounts));
  WriteCounts(all.Since(told_counts_), &words_);
  told_counts_ = all;
  link_->Tell(words_);
}

// The item's nodes from there on have no requests.
template <bool kWithMutants>
uint32_t OptimalSearch<kWithMutants>::EndOfRequests() const {
  auto end = static_cast<uint32_t>(path_.size());
  while (end > own_from_ && !nodes_[end - 1].HasRequests()) --end;
  return end;
}

// The item's nodes before `end`. What is below, if it is not `kept`, has no requests.
template <bool kWithMutants>
void OptimalSearch<kWithMutants>::WriteNodes(uint32_t end, bool kept, Words* message) {
  message->assign(1, static_cast<uint32_t>(WorkerMessage::kGive));
  message->push_back(end - own_from_);
  for (uint32_t d = own_from_; d < end; ++d) {
    const uint32_t first = nodes_[d].first_entry, last = nodes_[d + 1].first_entry;
    message->push_back(last - first);
    for (uint32_t k = first; k < last; ++k) WriteEvent(pool_[sleep_entries_[k].event], message);
    WriteEvent(path_.record(d), message);
    const size_t count_at = message->size();
    queues_.Write(nodes_[d].requests, message);
    (*message)[count_at] += static_cast<uint32_t>(spilled_.Write(nodes_[d].spilled, message));
  }
  message->push_back(kept ? 1 : 0);
  // What is written lacks requests: nobody may take the search for complete.
  if (spilled_.failed()) SetError(kSpillFailed);
}

template <bool kWithMutants>
void OptimalSearch<kWithMutants>::GiveNodes(uint32_t end, bool kept) {
  WriteNodes(end, kept, &words_);
  if (error_.empty()) link_->Tell(words_);
}

template <bool kWithMutants>
void OptimalSearch<kWithMutants>::GiveAway() {
  if (!has_item_ || !error_.empty()) return;
  const uint32_t end = EndOfRequests();
  if (end == own_from_) return;
  uint32_t first = own_from_;
  while (!nodes_[first].HasRequests()) ++first;
  if (first + 1 == end) {
    // All there is: the next item is then one of several.
    if (nodes_[first].spilled != SpilledRequests::kNone ||
        queues_.HasSeveral(nodes_[first].requests)) {
      Leave();
    }
    return;
  }
  GiveNodes(first + 1, true);
  if (!error_.empty()) return;
  for (; own_from_ <= first; ++own_from_) {
    nodes_[own_from_].told = nodes_[own_from_].requests.others;
    spilled_.Discard(&nodes_[own_from_].spilled);
  }
}

template <bool kWithMutants>
void OptimalSearch<kWithMutants>::Leave() {
  if (!has_item_ || !error_.empty()) return;
  const uint32_t end = EndOfRequests();
  if (end == own_from_) return FinishItem();
  TellCounts();
  GiveNodes(end, false);
  if (error_.empty()) DropItem();
}

template <bool kWithMutants>
bool OptimalSearch<kWithMutants>::WriteRest(Words* message) {
  message->clear();
  if (!started_ || takes_over_ || !error_.empty()) return false;
  if (!has_item_) return true;
  const uint32_t end = EndOfRequests();
  if (end == own_from_) {
    message->assign(1, static_cast<uint32_t>(WorkerMessage::kFinished));
  } else {
    WriteNodes(end, false, message);
  }
  return error_.empty();
}

// -- Other processes -----------------------------------------------------------------------------

template <bool kWithMutants>
void OptimalSearch<kWithMutants>::BecomeHelper(FrontierLink* link) {
  link_ = link;
  DropItem();
  resumed_ = complete_ = waits_ = false;
  started_ = true;
  told_counts_ = {executions_, sleep_blocked_, assumption_failed_, transitions_};
}

template <bool kWithMutants>
void OptimalSearch<kWithMutants>::AddCounts(const SearchCounts& counts) {
  executions_ += counts.executions;
  sleep_blocked_ += counts.sleep_blocked;
  assumption_failed_ += counts.assumption_failed;
  transitions_ += counts.transitions;
  others_runs_ += counts.executions + counts.sleep_blocked + counts.assumption_failed;
  told_counts_.Add(counts);
}

}  // namespace mc::dpor

#endif  // MC_DPOR_ODPOR_SHARING_IMPL_H_
