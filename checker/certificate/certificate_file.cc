#include "checker/certificate/certificate_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "checker/certificate/trace_code.h"
#include "checker/message.h"
#include "checker/protocol.h"
#include "checker/system_limits.h"
#include "checker/text.h"

namespace mc::checker {
namespace {

constexpr std::string_view kMagic = "mc-certificate ";
constexpr std::string_view kFirstLine = "mc-certificate 1\n";
constexpr std::string_view kEnd = "mc-certificate-end ";

std::string EndLine(uint64_t offset, uint64_t sum) {
  return absl::StrFormat("%s%d %016x\n", View(kEnd), offset, sum);
}

constexpr const char kWriteAnother[] = ": write a new one with mc --certificate=FILE";

// Takes the line "NAME: VALUE" off the front of the text.
std::optional<std::string> TakeLine(std::string_view* text, std::string_view name) {
  const size_t end = text->find('\n');
  if (end == std::string_view::npos || !text->starts_with(name) ||
      text->substr(name.size(), 2) != ": ") {
    return std::nullopt;
  }
  const size_t begin = name.size() + 2;
  std::string value(begin <= end ? text->substr(begin, end - begin) : "");
  text->remove_prefix(end + 1);
  return value;
}

absl::Status ReadOrigin(std::string_view text, CertificateOrigin* origin, uint64_t* traces) {
  const auto bad = [](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat("its description is damaged: ", what));
  };
  const std::optional<std::string> version = TakeLine(&text, "mc");
  if (!version) return bad("no version");
  if (*version != kVersion) {
    return absl::InvalidArgumentError(
        absl::StrCat("it was written by mc ", *version, ", and this is mc ", kVersion,
                     ": check it with that version, or", kWriteAnother + 1));
  }
  const std::optional<std::string> complete = TakeLine(&text, "complete");
  const std::optional<std::string> full_barriers = TakeLine(&text, "full-barriers");
  const std::optional<std::string> count = TakeLine(&text, "traces");
  if (!complete || !full_barriers || !count) return bad("a line is missing");
  origin->complete = *complete == "yes";
  if (!origin->complete && !complete->starts_with("no, ")) return bad("complete");
  if (!origin->complete) origin->why_incomplete = complete->substr(strlen("no, "));
  origin->full_barriers = *full_barriers == "yes";
  const auto number = ParseNumber<uint64_t>(*count);
  if (!number) return bad("traces");
  *traces = *number;
  absl::StatusOr<Schedule> search = ParseSchedule(text);
  if (!search.ok()) return bad(search.status().message());
  origin->search = *std::move(search);
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadWhole(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
    return absl::NotFoundError(strerror(EISDIR));
  }
  // Others may have no end, or wait for a writer.
  if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    return absl::InvalidArgumentError("it is no ordinary file");
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(strerror(errno));
  std::string bytes;
  for (char buffer[1 << 16]; file.read(buffer, sizeof buffer) || file.gcount() > 0;) {
    bytes.append(buffer, static_cast<size_t>(file.gcount()));
  }
  if (file.bad()) return absl::UnavailableError(strerror(errno));
  return bytes;
}

absl::StatusOr<Certificate> Parse(std::string_view bytes) {
  const auto bad = [](const auto&... parts) {
    return absl::InvalidArgumentError(absl::StrCat(parts...));
  };
  if (!bytes.starts_with(kMagic)) return bad("it is no certificate");
  if (!bytes.starts_with(kFirstLine)) {
    return bad("it has a format that this version of mc does not know", kWriteAnother);
  }
  const std::string sample = EndLine(0, 0);
  const size_t last = bytes.size() < 2 || bytes.back() != '\n'
                          ? std::string_view::npos
                          : bytes.rfind('\n', bytes.size() - 2);
  const std::string_view end = last == std::string_view::npos ? "" : bytes.substr(last + 1);
  const std::vector<std::string_view> words = Split(end.substr(0, end.find('\n')), ' ');
  if (!end.starts_with(kEnd) || words.size() != 3) {
    return bad("it is cut off, its last line is missing", kWriteAnother);
  }
  const std::string_view content = bytes.substr(0, last + 1);
  const auto offset = ParseNumber<uint64_t>(words[1]);
  Checksum sum;
  sum.Add(content);
  if (!offset || *offset > content.size() || *offset < kFirstLine.size() ||
      end != EndLine(*offset, sum.value())) {
    return bad("it is damaged, its checksum is another one", kWriteAnother);
  }
  Certificate certificate;
  uint64_t traces = 0;
  if (absl::Status status = ReadOrigin(content.substr(*offset), &certificate.origin, &traces);
      !status.ok()) {
    return status;
  }
  const std::string problem = TraceReader().Read(
      content.substr(kFirstLine.size(), *offset - kFirstLine.size()), &certificate.recorded);
  if (!problem.empty()) return bad("its records are damaged: ", problem);
  if (certificate.recorded.traces.size() != traces) {
    return bad("it says that it has ", traces, " traces, but it has ",
               certificate.recorded.traces.size());
  }
  return certificate;
}

}  // namespace

void Checksum::Add(std::string_view bytes) {
  for (const char c : bytes) {
    value_ = (value_ ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  }
}

CertificateWriter::~CertificateWriter() {
  if (file_ == nullptr) return;
  fclose(file_);
  unlink(PartPath().c_str());
}

void CertificateWriter::Begin() {
  if (file_ != nullptr) fclose(file_);
  size_ = traces_ = 0;
  sum_ = Checksum();
  error_ = 0;
  errno = 0;
  file_ = fopen(PartPath().c_str(), "wbe");
  if (file_ == nullptr) error_ = errno == 0 ? EIO : errno;
  Write(kFirstLine);
}

void CertificateWriter::Add(std::string_view records, uint64_t traces) {
  Write(records);
  traces_ = traces;
}

void CertificateWriter::Write(std::string_view bytes) {
  if (error_ != 0) return;
  errno = 0;
  if (fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) {
    error_ = errno == 0 ? EIO : errno;
    return;
  }
  size_ += bytes.size();
  sum_.Add(bytes);
}

absl::Status CertificateWriter::Finish(const CertificateOrigin& origin) {
  if (file_ == nullptr && error_ == 0) Begin();
  const uint64_t offset = size_;
  Write(absl::StrCat("mc: ", kVersion, "\ncomplete: ",
                     origin.complete ? "yes" : absl::StrCat("no, ", origin.why_incomplete),
                     "\nfull-barriers: ", origin.full_barriers ? "yes" : "no",
                     "\ntraces: ", traces_, "\n", FormatSchedule(origin.search)));
  Write(EndLine(offset, sum_.value()));
  errno = 0;
  if (file_ != nullptr && fclose(file_) != 0 && error_ == 0) error_ = errno == 0 ? EIO : errno;
  file_ = nullptr;
  errno = 0;
  if (error_ == 0 && rename(PartPath().c_str(), path_.c_str()) != 0) error_ = errno;
  if (error_ == 0) return absl::OkStatus();
  unlink(PartPath().c_str());
  return absl::UnavailableError(
      absl::StrCat("--certificate: cannot write '", path_, "': ", ExplainSystemError(error_)));
}

absl::StatusOr<Certificate> ReadCertificate(const std::string& path) {
  const absl::StatusOr<std::string> bytes = ReadWhole(path);
  if (!bytes.ok()) {
    return absl::NotFoundError(
        absl::StrCat("cannot read the certificate '", path, "': ", bytes.status().message()));
  }
  absl::StatusOr<Certificate> certificate = Parse(*bytes);
  if (certificate.ok()) return certificate;
  return absl::InvalidArgumentError(
      absl::StrCat("certificate '", path, "': ", certificate.status().message()));
}

}  // namespace mc::checker
