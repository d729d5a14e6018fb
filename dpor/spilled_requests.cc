#include "dpor/spilled_requests.h"

#include <unordered_map>
#include <utility>

namespace mc::dpor {
namespace {

// A chunk is closed when it has so many words: large enough that a place costs little, small enough
// that reading one back does not need much memory. With its last request mostly less than 64 kB.
constexpr size_t kChunkWords = size_t{15} << 10;

}  // namespace

// Collects requests until they make a chunk.
class SpilledRequests::Builder {
 public:
  explicit Builder(EventPool& pool) : pool_(pool) {}
  ~Builder() { Clear(); }
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  void Add(const Request& request) {
    list_.push_back(request.length());
    for (const EventId event : request.events()) list_.push_back(NumberOf(event));
    ++requests_;
    Note(pool_[request.events()[0]].identity, request.length());
  }
  bool IsFull() const { return table_.size() + list_.size() >= kChunkWords; }
  bool IsEmpty() const { return requests_ == 0; }

  // Calls f(request) for each of them, made anew, and begins again.
  template <typename F>
  void TakeOut(SpilledRequests& all, const F& f) {
    for (size_t at = 0; at < list_.size();) f(all.Build(events_, list_, &at));
    Clear();
  }

  // Writes the chunk down, and begins the next. False if the store has no room: nothing is changed.
  bool Write(SpillStore& store, Chunk* chunk) {
    Words words;
    words.reserve(1 + table_.size() + list_.size());
    words.push_back(static_cast<uint32_t>(events_.size()));
    words.insert(words.end(), table_.begin(), table_.end());
    words.insert(words.end(), list_.begin(), list_.end());
    chunk->place = store.Write(words);
    if (chunk->place == SpillStore::kNoPlace) return false;
    chunk->words = static_cast<uint32_t>(words.size());
    chunk->requests = requests_;
    chunk->beginnings = std::move(beginnings_);
    Clear();
    return true;
  }

 private:
  uint32_t NumberOf(EventId event) {
    const auto [found, is_new] = numbers_.try_emplace(event, static_cast<uint32_t>(events_.size()));
    if (is_new) {
      // Held until the chunk is written: its id must not mean another event before that.
      pool_.AddReference(event);
      events_.push_back(event);
      WriteEvent(pool_[event], &table_);
    }
    return found->second;
  }

  void Note(uint64_t identity, uint64_t length) {
    for (Beginning& b : beginnings_) {
      if (b.identity != identity) continue;
      ++b.requests;
      b.events += length;
      return;
    }
    beginnings_.push_back({identity, 1, length});
  }

  void Clear() {
    for (const EventId event : events_) pool_.Release(event);
    events_.clear();
    numbers_.clear();
    table_.clear();
    list_.clear();
    beginnings_.clear();
    requests_ = 0;
  }

  EventPool& pool_;
  std::unordered_map<EventId, uint32_t> numbers_;
  std::vector<EventId> events_;  // of the table
  Words table_, list_;
  std::vector<Beginning> beginnings_;
  uint32_t requests_ = 0;
};

// A chunk that is read back.
class SpilledRequests::Opened {
 public:
  Opened(SpilledRequests& all, const Chunk& chunk) : all_(all), left_(chunk.requests) {
    is_ok_ = all.store_->Read(chunk.place, chunk.words, &words_) && words_.size() == chunk.words;
    if (!is_ok_) return;
    WordReader reader(words_);
    events_.resize(reader.NextCount());
    for (EventId& event : events_) event = ReadEvent(reader, &all.pool_);
    at_ = words_.size() - reader.Rest().size();
    is_ok_ = reader.ok();
  }
  ~Opened() {
    for (const EventId event : events_) all_.pool_.Release(event);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

  bool ok() const { return is_ok_; }
  bool AtEnd() const { return left_ == 0; }
  // Where the next request stands; Build goes to the one after it.
  size_t position() const { return at_; }

  RequestId Build() {
    --left_;
    return BuildAt(&at_);
  }
  RequestId BuildAt(size_t* at) const { return all_.Build(events_, words_, at); }

 private:
  SpilledRequests& all_;
  Words words_;
  std::vector<EventId> events_;  // with a reference each
  size_t at_ = 0;
  uint32_t left_;
  bool is_ok_ = false;
};

SpilledRequests::~SpilledRequests() {
  if (store_ == nullptr) return;
  for (const Chunk& chunk : chunks_) {
    if (chunk.place != SpillStore::kNoPlace) store_->Free(chunk.place, chunk.words);
  }
}

RequestId SpilledRequests::Build(const std::vector<EventId>& events, const Words& words,
                                 size_t* at) {
  const uint32_t length = words[(*at)++];
  const RequestId id = requests_.Create(length);
  for (uint32_t k = 0; k < length; ++k) {
    const EventId event = events[words[(*at)++]];
    pool_.AddReference(event);
    requests_.Append(id, event);
  }
  return id;
}

SpilledRequests::ChunkId SpilledRequests::Add(Chunk chunk, ChunkId next) {
  chunk.next = next;
  if (unused_.empty()) {
    chunks_.push_back(std::move(chunk));
    return static_cast<ChunkId>(chunks_.size() - 1);
  }
  const ChunkId id = unused_.back();
  unused_.pop_back();
  chunks_[id] = std::move(chunk);
  return id;
}

void SpilledRequests::Remove(ChunkId* at) {
  const ChunkId id = *at;
  store_->Free(chunks_[id].place, chunks_[id].words);
  *at = chunks_[id].next;
  chunks_[id] = Chunk();
  unused_.push_back(id);
}

uint64_t SpilledRequests::Spill(RequestId* head, ChunkId* chunks,
                                const std::function<bool()>& go_on) {
  uint64_t moved = 0;
  while (*head != kNoRequest && go_on()) {
    Builder builder(pool_);
    RequestId end = *head;
    for (; end != kNoRequest && !builder.IsFull(); end = requests_[end].next) {
      builder.Add(requests_[end]);
    }
    Chunk chunk;
    if (!builder.Write(*store_, &chunk)) break;
    *chunks = Add(std::move(chunk), *chunks);
    while (*head != end) {
      const RequestId id = *head;
      *head = requests_[id].next;
      requests_.Unlist(id);
      requests_.Destroy(id);
      ++moved;
    }
  }
  return moved;
}

void SpilledRequests::LoadChunk(ChunkId* chunks, uint32_t depth, RequestId* head) {
  {
    Opened opened(*this, chunks_[*chunks]);
    failed_ |= !opened.ok();
    while (opened.ok() && !opened.AtEnd()) requests_.Insert(opened.Build(), depth, head);
  }
  Remove(chunks);
}

void SpilledRequests::Sift(ChunkId* chunks, uint32_t depth, RequestId* head,
                           const std::function<bool(RequestId)>& take) {
  // What stays of chunks that something is taken out of makes chunks of its own, in front.
  Builder builder(pool_);
  ChunkId rest = kNone;
  auto write = [&] {
    Chunk chunk;
    if (builder.Write(*store_, &chunk)) {
      rest = Add(std::move(chunk), rest);
    } else {
      builder.TakeOut(*this, [&](RequestId id) { requests_.Insert(id, depth, head); });
    }
  };
  std::vector<size_t> staying;
  ChunkId before = kNone;  // of those that stay as they are
  for (ChunkId id = *chunks; id != kNone && !failed_;) {
    Opened opened(*this, chunks_[id]);
    failed_ |= !opened.ok();
    staying.clear();
    bool all_stay = true;
    while (opened.ok() && !opened.AtEnd()) {
      const size_t position = opened.position();
      const RequestId request = opened.Build();
      if (take(request)) {
        all_stay = false;
      } else {
        requests_.Destroy(request);
        staying.push_back(position);
      }
    }
    if (all_stay) {
      before = id;
      id = chunks_[id].next;
      continue;
    }
    ChunkId* at = before == kNone ? chunks : &chunks_[before].next;
    Remove(at);
    id = *at;
    for (size_t position : staying) {
      const RequestId request = opened.BuildAt(&position);
      builder.Add(requests_[request]);
      requests_.Destroy(request);
      if (builder.IsFull()) write();
    }
  }
  if (!builder.IsEmpty()) write();
  while (rest != kNone) {
    const ChunkId id = std::exchange(rest, chunks_[rest].next);
    chunks_[id].next = std::exchange(*chunks, id);
  }
}

void SpilledRequests::Discard(ChunkId* chunks) {
  while (*chunks != kNone) Remove(chunks);
}

uint64_t SpilledRequests::Write(ChunkId chunks, Words* words) {
  uint64_t count = 0;
  for (ChunkId id = chunks; id != kNone; id = chunks_[id].next) {
    Opened opened(*this, chunks_[id]);
    failed_ |= !opened.ok();
    while (opened.ok() && !opened.AtEnd()) {
      const RequestId request = opened.Build();
      WriteSequence(pool_, requests_[request].events(), words);
      requests_.Destroy(request);
      ++count;
    }
  }
  return count;
}

}  // namespace mc::dpor
