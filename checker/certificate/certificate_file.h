// Certificate files: what a search of one state space has run, for others to check.
//
//     mc-certificate 1
//     (records: trace_code.h)
//     mc: 0.1.0                       the version that wrote it
//     complete: yes                   or: no, and why not
//     full-barriers: no               do arrivals at barriers conflict?
//     traces: 36
//     (a schedule file without steps: harness, build, arguments, settings, ...)
//     mc-certificate-end OFFSET SUM   where the text begins; of all before this line
//
// The file is written under another name (FILE.part) and gets its own when it is whole.
#ifndef MC_CHECKER_CERTIFICATE_CERTIFICATE_FILE_H_
#define MC_CHECKER_CERTIFICATE_CERTIFICATE_FILE_H_

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checker/certificate/recorded_trace.h"
#include "checker/schedule.h"

namespace mc::checker {

// What was searched. A schedule's failure and steps are of no meaning here.
struct CertificateOrigin {
  Schedule search;
  bool full_barriers = false;
  bool complete = false;
  std::string why_incomplete;
};

struct Certificate {
  CertificateOrigin origin;
  RecordedTraces recorded;
};

// Of a stream of bytes.
class Checksum {
 public:
  void Add(std::string_view bytes);
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325u;
};

class CertificateWriter {
 public:
  explicit CertificateWriter(std::string path) : path_(std::move(path)) {}
  ~CertificateWriter();
  CertificateWriter(const CertificateWriter&) = delete;
  CertificateWriter& operator=(const CertificateWriter&) = delete;

  // The search begins, or begins again: what was written is void.
  void Begin();
  // Records of executions, with which there are `traces`. Errors are told by Finish.
  void Add(std::string_view records, uint64_t traces);
  // Writes the rest and puts the file in its place.
  absl::Status Finish(const CertificateOrigin& origin);

 private:
  void Write(std::string_view bytes);
  std::string PartPath() const { return path_ + ".part"; }

  std::string path_;
  FILE* file_ = nullptr;
  int error_ = 0;
  uint64_t size_ = 0, traces_ = 0;
  Checksum sum_;
};

// An error says what is wrong with the file and what to do.
absl::StatusOr<Certificate> ReadCertificate(const std::string& path);

}  // namespace mc::checker

#endif  // MC_CHECKER_CERTIFICATE_CERTIFICATE_FILE_H_
