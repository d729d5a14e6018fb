// Trace code: recorded traces as bytes, for certificate files and for messages.
//
// A stream of records. An event or an end that is new is defined once and has the next number from
// then on; a trace is its common prefix with the trace before it, and the numbers of the rest:
//     0 event    1 ends    2 prefix, count, numbers..., number of the ends
// All numbers are variable-length (7 bits a byte, lowest first).
#ifndef MC_CHECKER_CERTIFICATE_TRACE_CODE_H_
#define MC_CHECKER_CERTIFICATE_TRACE_CODE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "checker/certificate/recorded_trace.h"

namespace mc::checker {

class TraceWriter {
 public:
  // Follows an execution of which the first `kept` events are those of the one before. Its record
  // goes into the stream unless the execution was given up.
  void Follow(const sched::Trace& trace, size_t kept);
  // The records since the last Take.
  const std::string& bytes() const { return bytes_; }
  std::string Take();
  uint64_t traces() const { return traces_; }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  using Numbers = std::unordered_map<std::string, uint32_t, Hash, std::equal_to<>>;

  uint32_t NumberOf(Numbers& numbers, uint8_t tag);

  std::string bytes_, scratch_;
  Numbers events_, ends_;
  std::vector<uint32_t> current_;  // of the last execution
  std::vector<uint32_t> written_;  // of the last one in the stream
  RecordedEvent event_;
  RecordedEnds end_;
  uint64_t traces_ = 0;
};

// Adds what a stream, or any number of whole records of it, says. Returns "" or what is wrong.
class TraceReader {
 public:
  std::string Read(std::string_view bytes, RecordedTraces* out);

 private:
  std::vector<uint32_t> written_;
};

// A stream of all traces, as a TraceWriter would have made it.
std::string EncodeTraces(const RecordedTraces& traces);

// Bytes in letters, for messages.
std::string ToText(std::string_view bytes);
bool FromText(std::string_view text, std::string* bytes);

}  // namespace mc::checker

#endif  // MC_CHECKER_CERTIFICATE_TRACE_CODE_H_
