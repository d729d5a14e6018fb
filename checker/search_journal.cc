#include "checker/search_journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "checker/text.h"

namespace mc::checker {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHeader = "mc-checkpoint";
constexpr std::string_view kFormat = "1";
constexpr std::string_view kEnding = ".journal";
constexpr std::string_view kCheckField = " check=";  // the last of a commit
constexpr uint64_t kFirstCheck = 0xcbf29ce484222325u;

// FNV-1a: against damage, not against malice.
uint64_t CheckOf(std::string_view text, uint64_t check = kFirstCheck) {
  for (const char c : text) check = (check ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return check;
}

absl::Status FileError(std::string_view what, const std::string& path, int error) {
  return absl::UnavailableError(
      absl::StrCat("--checkpoint: ", View(what), " ", path, ": ", strerror(error)));
}

absl::Status WriteAll(int fd, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t count = write(fd, text.data(), text.size());
    if (count > 0) {
      text.remove_prefix(static_cast<size_t>(count));
    } else if (errno != EINTR) {
      return FileError("cannot write", path, errno);
    }
  }
  return fdatasync(fd) == 0 ? absl::OkStatus() : FileError("cannot write", path, errno);
}

absl::StatusOr<std::string> ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return FileError("cannot read", path, errno);
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

bool HoldsJournals(const std::string& folder) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == kEnding) return true;
  }
  return false;
}

// What the header of a journal says otherwise; empty if nothing.
// In words, of the names of what is switched off by options --no-NAME.
std::string WithOptions(std::string_view disabled) {
  if (disabled.empty()) return "without any of the options --no-...";
  std::string text = "with";
  for (const absl::string_view name : absl::StrSplit(View(disabled), ',')) {
    absl::StrAppend(&text, " --no-", name);
  }
  return text;
}

std::string Difference(const Message& was, const Message& is) {
  for (const auto& [name, value] : is.fields()) {
    if (was.Text(name) == value) continue;
    const std::string_view before = was.Text(name);
    if (name == "harness" || name == "modules") {
      return "the harness, or a library that it uses, is not the one that it was";
    }
    if (name == "--disabled") {
      return absl::StrCat("it was run ", WithOptions(before), ", not ", WithOptions(value));
    }
    return absl::StrCat(name, " was '", View(before), "' and is '", value, "'");
  }
  return "";
}

}  // namespace

// ---------------------------------------------------------------------------------------------

absl::StatusOr<std::unique_ptr<JournalFolder>> JournalFolder::Open(const std::string& path,
                                                                   bool resume) {
  std::error_code error;
  if (resume && !HoldsJournals(path)) {
    return absl::NotFoundError(
        absl::StrCat("--resume: there is no checkpoint in ", path,
                     ": without --resume a new search begins, which writes its checkpoints there"));
  }
  fs::create_directories(path, error);
  if (error) return FileError("cannot make the folder", path, error.value());
  const std::string lock_path = (fs::path(path) / "mc.lock").string();
  const int lock = open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock < 0) return FileError("cannot write", lock_path, errno);
  std::unique_ptr<JournalFolder> folder(new JournalFolder(path, lock));
  // One that was killed just now may not be quite gone.
  const absl::Time begin = absl::Now();
  bool said = false;
  while (flock(lock, LOCK_EX | LOCK_NB) != 0) {
    const absl::Duration waited = absl::Now() - begin;
    if (waited < absl::Seconds(5)) {
      if (!said && waited > absl::Seconds(1)) {
        fprintf(stderr, "mc: waiting for another mc, which uses %s\n", path.c_str());
        said = true;
      }
      absl::SleepFor(absl::Milliseconds(20));
      continue;
    }
    return absl::FailedPreconditionError(
        absl::StrCat("--checkpoint: another mc uses ", path, ": choose a folder of its own"));
  }
  if (!resume && HoldsJournals(path)) {
    return absl::AlreadyExistsError(absl::StrCat("--checkpoint: ", path,
                                                 " holds a checkpoint: go on with it by --resume, "
                                                 "or remove it, or choose another folder"));
  }
  return folder;
}

JournalFolder::~JournalFolder() { close(lock_); }

// ---------------------------------------------------------------------------------------------

absl::StatusOr<std::unique_ptr<SearchJournal>> SearchJournal::Open(const std::string& folder,
                                                                   const std::string& name,
                                                                   const Message& header) {
  std::unique_ptr<SearchJournal> journal(new SearchJournal(folder, name));
  std::error_code error;
  const bool exists = fs::exists(journal->JournalPath(), error);
  const absl::Status status = exists ? journal->Read(header) : journal->Begin(header);
  if (!status.ok()) return status;
  journal->RemoveOldStates();
  return journal;
}

SearchJournal::~SearchJournal() {
  if (fd_ >= 0) close(fd_);
}

std::string SearchJournal::JournalPath() const {
  return (fs::path(folder_) / absl::StrCat(name_, View(kEnding))).string();
}

std::string SearchJournal::StatePath(int job, uint64_t number) const {
  return (fs::path(folder_) / absl::StrCat(name_, ".", job, ".", number, ".state")).string();
}

absl::Status SearchJournal::Damaged(std::string_view what) const {
  return absl::DataLossError(absl::StrCat("--resume: ", JournalPath(), " is damaged (", View(what),
                                          "): begin again with another folder"));
}

// A journal with a header and nothing else has committed nothing.
absl::Status SearchJournal::Begin(const Message& header) {
  const std::string path = JournalPath();
  fd_ = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd_ < 0) return FileError("cannot write", path, errno);
  Message first(kHeader);
  first.Set("format", kFormat);
  for (const auto& [name, value] : header.fields()) first.Set(name, value);
  const std::string text = first.Encode() + "\n";
  check_ = CheckOf(text);
  return WriteAll(fd_, text, path);
}

absl::Status SearchJournal::Read(const Message& header) {
  const std::string path = JournalPath();
  const absl::StatusOr<std::string> text = ReadAll(path);
  if (!text.ok()) return text.status();
  const std::string_view all = *text;
  size_t at = 0, committed = 0, records_committed = 0;
  uint64_t check = kFirstCheck;
  Message commit;
  for (size_t end; (end = all.find('\n', at)) != std::string_view::npos; at = end + 1) {
    Message record;
    const uint64_t check_before = check;
    check = CheckOf(all.substr(at, end + 1 - at), check);
    if (!Message::Decode(all.substr(at, end - at), &record)) {
      if (committed == 0) return Damaged("it does not begin as one");
      break;  // if it lies before a commit, that is missing below
    }
    if (at == 0) {
      if (record.type() != kHeader) return Damaged("it is no checkpoint of mc");
      if (record.Text("format") != kFormat) return Damaged("it comes from another version of mc");
      if (const std::string difference = Difference(record, header); !difference.empty()) {
        return absl::FailedPreconditionError(absl::StrCat("--resume: the checkpoint in ", folder_,
                                                          " is of another search: ", difference));
      }
      committed = end + 1;
      check_ = check;
    } else if (record.type() == "commit") {
      const std::string_view line = all.substr(at, end - at);
      const uint64_t sum = CheckOf(line.substr(0, line.rfind(kCheckField)), check_before);
      if (record.Number("check") != sum) return Damaged("the sum is wrong");
      committed = end + 1;
      check_ = check;
      records_committed = records_.size();
      commit = record;
    } else {
      records_.push_back(std::move(record));
    }
  }
  if (committed == 0) return Damaged("it is cut short");
  records_.resize(records_committed);
  fd_ = open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd_ < 0) return FileError("cannot write", path, errno);
  if (ftruncate(fd_, static_cast<off_t>(committed)) != 0) {
    return FileError("cannot write", path, errno);
  }
  return ReadCommit(commit);
}

absl::Status SearchJournal::ReadCommit(const Message& commit) {
  seconds_before_ = commit.Real("seconds");
  for (std::string_view entry : Split(commit.Text("states"), ';')) {
    const std::vector<std::string_view> parts = Split(entry, ',');
    if (parts.size() != 3) return Damaged("the list of states is malformed");
    const auto job = ParseNumber<int>(parts[0]);
    const auto number = ParseNumber<uint64_t>(parts[1]);
    const auto check = ParseNumber<uint64_t>(parts[2]);
    if (!job || !number || !check) return Damaged("the list of states is malformed");
    states_[*job] = {*number, *check};
    last_number_ = std::max(last_number_, *number);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> SearchJournal::StateOf(int job) const {
  const auto found = states_.find(job);
  if (found == states_.end()) return std::string();
  const std::string path = StatePath(job, found->second.number);
  absl::StatusOr<std::string> text = ReadAll(path);
  if (!text.ok()) {
    return absl::DataLossError(
        absl::StrCat(text.status().message(), ": begin again with another folder"));
  }
  if (CheckOf(*text) != found->second.check) {
    return absl::DataLossError(absl::StrCat(
        "--resume: ", path, " is damaged (the sum is wrong): begin again with another folder"));
  }
  return text;
}

absl::Status SearchJournal::SetState(int job, std::string_view state) {
  if (!failure_.ok()) return failure_;
  if (state.empty()) {
    states_.erase(job);
    return absl::OkStatus();
  }
  const std::string path = StatePath(job, ++last_number_);
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  failure_ = fd < 0 ? FileError("cannot write", path, errno) : WriteAll(fd, state, path);
  if (fd >= 0) close(fd);
  if (failure_.ok()) states_[job] = {last_number_, CheckOf(state)};
  return failure_;
}

absl::Status SearchJournal::Commit(double seconds) {
  if (!failure_.ok()) return failure_;
  check_ = CheckOf(pending_, check_);
  std::string states;
  for (const auto& [job, state] : states_) {
    absl::StrAppend(&states, states.empty() ? "" : ";", job, ",", state.number, ",", state.check);
  }
  Message commit("commit");
  commit.Set("seconds", seconds).Set("states", states);
  std::string line = commit.Encode();
  absl::StrAppend(&line, View(kCheckField), CheckOf(line, check_), "\n");
  check_ = CheckOf(line, check_);
  failure_ = WriteAll(fd_, pending_ + line, JournalPath());
  pending_.clear();
  if (failure_.ok()) RemoveOldStates();
  return failure_;
}

// Those of this journal that its last commit does not name.
void SearchJournal::RemoveOldStates() const {
  std::error_code error;
  const std::string begin = name_ + ".";
  std::vector<fs::path> old;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
    const std::string file = entry.path().filename().string();
    absl::string_view numbers = file;
    if (!absl::ConsumePrefix(&numbers, begin) || !absl::ConsumeSuffix(&numbers, ".state")) continue;
    const std::vector<std::string_view> parts = Split({numbers.data(), numbers.size()}, '.');
    const auto job = parts.size() == 2 ? ParseNumber<int>(parts[0]) : std::nullopt;
    const auto number = parts.size() == 2 ? ParseNumber<uint64_t>(parts[1]) : std::nullopt;
    if (!job || !number) continue;
    const auto known = states_.find(*job);
    if (known == states_.end() || known->second.number != *number) old.push_back(entry.path());
  }
  for (const fs::path& path : old) fs::remove(path, error);
}

}  // namespace mc::checker
