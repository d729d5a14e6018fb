#include "checker/certificate/trace_code.h"

#include <algorithm>

namespace mc::checker {
namespace {

constexpr uint8_t kEventTag = 0, kEndsTag = 1, kTraceTag = 2;
constexpr int kFlagShift = 3;  // of an access, behind its mode

void Put(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}
// Small numbers of either sign stay short.
void PutSigned(int64_t value, std::string* out) {
  Put((static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63), out);
}

void PutOperation(const RecordedOperation& operation, std::string* out) {
  Put(static_cast<uint64_t>(operation.kind), out);
  if (operation.kind == sched::OperationKind::kNone) return;
  Put(operation.object, out);
  Put(operation.needed, out);
  Put(operation.timeout_object, out);
  Put(operation.wait_is_over ? 1 : 0, out);
}

void PutRanges(const std::vector<RecordedRange>& ranges, std::string* out) {
  Put(ranges.size(), out);
  for (const RecordedRange& r : ranges) {
    Put(r.begin, out);
    Put(r.size, out);
    Put(r.reader, out);
  }
}

void PutEvent(const RecordedEvent& event, std::string* out) {
  Put(event.thread, out);
  Put(event.index, out);
  Put(event.flags, out);
  PutOperation(event.operation, out);
  Put(event.accesses.size(), out);
  sched::Cell last = 0;
  for (const RecordedAccess& a : event.accesses) {
    PutSigned(static_cast<int64_t>(a.begin - last), out);
    Put(a.size, out);
    Put(a.mode | uint64_t{a.flags} << kFlagShift, out);
    last = a.begin;
  }
  Put(event.choices.size(), out);
  for (const RecordedChoice& c : event.choices) {
    Put(c.value, out);
    Put(c.arity, out);
    Put(c.position, out);
  }
  Put(event.ledger.size(), out);
  for (const RecordedLedger& l : event.ledger) {
    Put(l.object, out);
    PutSigned(l.before, out);
    PutSigned(l.after, out);
  }
  PutRanges(event.spin_cells, out);
}

void PutEnds(const RecordedEnds& ends, std::string* out) {
  Put(static_cast<uint64_t>(ends.outcome), out);
  Put(ends.threads.size(), out);
  for (const RecordedEnd& end : ends.threads) {
    Put(static_cast<uint64_t>(end.status) << 1 | (end.enabled ? 1 : 0), out);
    Put(end.events, out);
    PutOperation(end.pending, out);
    PutRanges(end.spin_cells, out);
  }
  Put(ends.first_counts.size(), out);
  for (const FirstCount& f : ends.first_counts) {
    Put(f.semaphore, out);
    PutSigned(f.count, out);
  }
}

void PutTrace(const std::vector<uint32_t>& before, const std::vector<uint32_t>& events,
              uint32_t ends, std::string* out) {
  const auto rest = std::ranges::mismatch(before, events).in2;
  Put(kTraceTag, out);
  Put(static_cast<uint64_t>(rest - events.begin()), out);
  Put(static_cast<uint64_t>(events.end() - rest), out);
  for (auto e = rest; e != events.end(); ++e) Put(*e, out);
  Put(ends, out);
}

// Reads what was put. After the first mistake everything is 0, and `problem` says what it was.
class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : bytes_(bytes) {}

  bool AtEnd() const { return position_ == bytes_.size() || !problem_.empty(); }
  const std::string& problem() const { return problem_; }
  void Bad(const char* problem) {
    if (problem_.empty()) problem_ = problem;
  }

  uint64_t Get() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (position_ == bytes_.size()) {
        Bad("it ends in the middle of a number");
        return 0;
      }
      const auto byte = static_cast<uint8_t>(bytes_[position_++]);
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return problem_.empty() ? value : 0;
    }
    Bad("a number is too long");
    return 0;
  }
  int64_t GetSigned() {
    const uint64_t value = Get();
    return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
  }
  template <typename T>
  T GetUpTo(T most) {
    const uint64_t value = Get();
    if (value > static_cast<uint64_t>(most)) Bad("a number is out of range");
    return problem_.empty() ? static_cast<T>(value) : T{};
  }
  uint32_t GetSmall() { return GetUpTo(~uint32_t{0}); }
  // How many things follow, each of at least one byte.
  size_t GetCount() {
    const uint64_t value = Get();
    if (value <= bytes_.size() - position_) return problem_.empty() ? value : 0;
    Bad("more is announced than there is");
    return 0;
  }

  RecordedOperation GetOperation() {
    RecordedOperation operation;
    operation.kind = GetUpTo(sched::OperationKind::kForcedRound);
    if (operation.kind == sched::OperationKind::kNone) return operation;
    operation.object = Get();
    operation.needed = GetSmall();
    operation.timeout_object = Get();
    operation.wait_is_over = GetUpTo(uint8_t{1}) != 0;
    return operation;
  }
  std::vector<RecordedRange> GetRanges() {
    std::vector<RecordedRange> ranges(GetCount());
    for (RecordedRange& r : ranges) {
      r.begin = Get();
      r.size = Get();
      r.reader = GetSmall();
    }
    return ranges;
  }
  RecordedEvent GetEvent() {
    RecordedEvent event;
    event.thread = static_cast<sched::ThreadId>(GetUpTo(sched::kMaxThreads - 1));
    event.index = GetSmall();
    event.flags = GetUpTo(uint16_t{0xffff});
    if ((event.flags & ~kRecordedEventFlags) != 0) Bad("an event has an unknown flag");
    event.operation = GetOperation();
    event.accesses.resize(GetCount());
    sched::Cell last = 0;
    for (RecordedAccess& a : event.accesses) {
      a.begin = last += static_cast<uint64_t>(GetSigned());
      a.size = GetSmall();
      const uint64_t mode = Get();
      a.mode = mode & ((1 << kFlagShift) - 1);
      a.flags = static_cast<uint16_t>(mode >> kFlagShift);
      if (a.mode == 0 || a.mode > sched::kAdd || a.size == 0 ||
          (mode >> kFlagShift & ~uint64_t{kRecordedAccessFlags}) != 0 || a.end() < a.begin) {
        Bad("an access is none");
      }
    }
    event.choices.resize(GetCount());
    for (RecordedChoice& c : event.choices) {
      c.value = GetSmall();
      c.arity = GetSmall();
      c.position = GetSmall();
      if (c.value >= c.arity || c.position > event.accesses.size()) Bad("a choice is none");
    }
    event.ledger.resize(GetCount());
    for (RecordedLedger& l : event.ledger) {
      l.object = Get();
      l.before = GetSigned();
      l.after = GetSigned();
    }
    event.spin_cells = GetRanges();
    return event;
  }
  RecordedEnds GetEnds() {
    RecordedEnds ends;
    ends.outcome = GetUpTo(sched::ExecutionOutcome::kRepeats);
    ends.threads.resize(GetCount());
    for (RecordedEnd& end : ends.threads) {
      const uint32_t status =
          GetUpTo((static_cast<uint32_t>(sched::ThreadStatus::kStopped) << 1) | 1);
      end.status = static_cast<sched::ThreadStatus>(status >> 1);
      end.enabled = (status & 1) != 0;
      end.events = GetSmall();
      end.pending = GetOperation();
      end.spin_cells = GetRanges();
    }
    ends.first_counts.resize(GetCount());
    for (FirstCount& f : ends.first_counts) {
      f.semaphore = Get();
      f.count = GetSigned();
    }
    return ends;
  }
  void GetTrace(std::vector<uint32_t>* written, RecordedTraces* out) {
    const uint64_t prefix = Get();
    if (prefix > written->size()) Bad("a trace begins with more than there was before it");
    written->resize(std::min<size_t>(prefix, written->size()));
    for (size_t left = GetCount(); left > 0 && problem_.empty(); --left) {
      written->push_back(GetSmall());
      if (written->back() >= out->events.size()) Bad("a trace has an event that there is not");
    }
    const uint32_t ends = GetSmall();
    if (ends >= out->ends.size()) Bad("a trace has an end that there is not");
    if (problem_.empty()) out->traces.push_back({*written, ends});
  }

 private:
  std::string_view bytes_;
  size_t position_ = 0;
  std::string problem_;
};

}  // namespace

// The number of what stands in scratch_, which is defined in the stream if it is new.
uint32_t TraceWriter::NumberOf(Numbers& numbers, uint8_t tag) {
  const auto found = numbers.find(std::string_view(scratch_));
  if (found != numbers.end()) return found->second;
  const auto number = static_cast<uint32_t>(numbers.size());
  numbers.emplace(scratch_, number);
  Put(tag, &bytes_);
  bytes_ += scratch_;
  return number;
}

void TraceWriter::Follow(const sched::Trace& trace, size_t kept) {
  current_.resize(std::min({kept, current_.size(), trace.size()}));
  for (size_t p = current_.size(); p < trace.size(); ++p) {
    Record(trace, p, &event_);
    scratch_.clear();
    PutEvent(event_, &scratch_);
    current_.push_back(NumberOf(events_, kEventTag));
  }
  if (trace.outcome == sched::ExecutionOutcome::kBlocked) return;
  RecordEnds(trace, &end_);
  scratch_.clear();
  PutEnds(end_, &scratch_);
  const uint32_t ends = NumberOf(ends_, kEndsTag);
  PutTrace(written_, current_, ends, &bytes_);
  written_ = current_;
  ++traces_;
}

std::string TraceWriter::Take() {
  std::string bytes;
  bytes.swap(bytes_);
  return bytes;
}

std::string TraceReader::Read(std::string_view bytes, RecordedTraces* out) {
  Decoder decoder(bytes);
  while (!decoder.AtEnd()) {
    switch (decoder.Get()) {
      case kEventTag:
        out->events.push_back(decoder.GetEvent());
        break;
      case kEndsTag:
        out->ends.push_back(decoder.GetEnds());
        break;
      case kTraceTag:
        decoder.GetTrace(&written_, out);
        break;
      default:
        decoder.Bad("a record is of no known kind");
    }
  }
  return decoder.problem();
}

std::string EncodeTraces(const RecordedTraces& traces) {
  std::string bytes;
  for (const RecordedEvent& event : traces.events) {
    Put(kEventTag, &bytes);
    PutEvent(event, &bytes);
  }
  for (const RecordedEnds& ends : traces.ends) {
    Put(kEndsTag, &bytes);
    PutEnds(ends, &bytes);
  }
  std::vector<uint32_t> before;
  for (const RecordedTrace& trace : traces.traces) {
    PutTrace(before, trace.events, trace.ends, &bytes);
    before = trace.events;
  }
  return bytes;
}

// Six bits a letter, from '0' on: none that a message would escape but '=', which '~' stands for.
std::string ToText(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() * 4 / 3 + 4);
  uint32_t bits = 0;
  int count = 0;
  const auto put = [&](uint32_t six) {
    const char letter = static_cast<char>('0' + (six & 63));
    text.push_back(letter == '=' ? '~' : letter);
  };
  for (const char c : bytes) {
    bits = bits << 8 | static_cast<uint8_t>(c);
    for (count += 8; count >= 6; count -= 6) put(bits >> (count - 6));
  }
  if (count > 0) put(bits << (6 - count));
  return text;
}

bool FromText(std::string_view text, std::string* bytes) {
  bytes->clear();
  bytes->reserve(text.size() * 3 / 4);
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const int six = (c == '~' ? '=' : c) - '0';
    if (six < 0 || six > 63) return false;
    bits = bits << 6 | static_cast<uint32_t>(six);
    count += 6;
    if (count >= 8) bytes->push_back(static_cast<char>(bits >> (count -= 8)));
  }
  return true;
}

}  // namespace mc::checker
