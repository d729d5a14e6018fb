#include "checker/schedule.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <sstream>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "checker/message.h"
#include "checker/pp_set.h"
#include "checker/protocol.h"
#include "checker/system_limits.h"
#include "checker/text.h"
#include "sched/bug_kind.h"
#include "sched/event.h"

namespace mc::checker {
namespace {

constexpr std::string_view kMagic = "mc-schedule ";
constexpr std::string_view kFormatVersion = "1";
constexpr size_t kLongestLine = 1 << 16;
constexpr size_t kLargestFile = size_t{1} << 30;

std::string Escaped(std::string_view value) {
  std::string out;
  for (char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\\') {
      out += "\\\\";
    } else if (byte < 0x20 || byte == 0x7f) {
      out.push_back('\\');  // three octal digits: unlike \x they end by themselves
      for (int shift : {6, 3, 0}) out.push_back(static_cast<char>('0' + ((byte >> shift) & 7)));
    } else {
      out.push_back(c);
    }
  }
  return out;
}

std::optional<std::string> Unescaped(std::string_view value) {
  std::string out;
  if (!absl::CUnescape(View(value), &out)) return std::nullopt;
  return out;
}

// A field of the header: how it is read from and put into a Schedule.
struct Field {
  std::string_view name;
  std::string Schedule::*member;
  bool required;
};

constexpr Field kFields[] = {
    {"harness", &Schedule::harness, true},
    {"build-id", &Schedule::build_id, true},
    {"entry", &Schedule::entry, true},
    {"test", &Schedule::test, false},
    {"failure", &Schedule::failure, false},
    {"message", &Schedule::message, false},
    {"where", &Schedule::where, false},
    {"preemption-points", &Schedule::preemption_points, true},
    {"shared-sites", &Schedule::shared_sites, false},
};

std::optional<std::vector<uint32_t>> ParseChoices(std::string_view text) {
  std::vector<uint32_t> choices;
  size_t start = 0;
  while (start <= text.size()) {
    const size_t end = std::min(text.find('.', start), text.size());
    const auto choice = ParseNumber<uint32_t>(text.substr(start, end - start));
    if (!choice) return std::nullopt;
    choices.push_back(*choice);
    start = end + 1;
  }
  return choices;
}

std::string StepLine(const ScheduleStep& step) {
  std::string line = absl::StrCat("T", step.thread, " ",
                                  step.choices.empty() ? "-" : absl::StrJoin(step.choices, "."));
  if (!step.what.empty()) absl::StrAppend(&line, " ", Escaped(step.what));
  if (!step.place.empty()) absl::StrAppend(&line, " at ", Escaped(step.place));
  return line;
}

// Reads the lines one by one; the first bad one ends it.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  absl::StatusOr<Schedule> Parse() {
    absl::Status status = ReadMagic();
    std::string_view line;
    while (status.ok() && state_ != kDone) {
      if (!NextLine(&line)) {
        return absl::InvalidArgumentError(absl::StrCat(
            "the file ends at line ", number_, " without the final line 'end': it was cut off"));
      }
      status = state_ == kHeader ? ReadHeaderLine(line) : ReadStepLine(line);
    }
    if (status.ok() && NextLine(&line)) status = Bad("nothing may follow 'end'");
    if (!status.ok()) return status;
    return schedule_;
  }

 private:
  enum State { kHeader, kSteps, kDone };

  absl::Status Bad(std::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat("line ", number_, ": ", View(what)));
  }

  // The next line that means something; false at the end.
  bool NextLine(std::string_view* line) {
    while (position_ < text_.size()) {
      const size_t end = std::min(text_.find('\n', position_), text_.size());
      *line = text_.substr(position_, end - position_);
      position_ = end + 1;
      ++number_;
      if (!line->empty() && line->back() == '\r') line->remove_suffix(1);
      if (!line->empty() && line->front() != '#') return true;
    }
    return false;
  }

  absl::Status CheckText(std::string_view line) const {
    if (line.size() > kLongestLine) return Bad("this line is too long");
    const bool is_text = std::none_of(line.begin(), line.end(), [](char c) {
      const auto byte = static_cast<unsigned char>(c);
      return (byte < 0x20 && c != '\t') || byte == 0x7f;
    });
    return is_text ? absl::OkStatus() : Bad("this is not text");
  }

  absl::Status ReadMagic() {
    std::string_view line;
    if (!NextLine(&line) || !line.starts_with(kMagic)) {
      number_ = std::max(number_, 1);
      return Bad("not a schedule: the first line must be 'mc-schedule 1'");
    }
    const std::string_view version = line.substr(kMagic.size());
    if (version == kFormatVersion) return absl::OkStatus();
    if (absl::Status status = CheckText(line); !status.ok()) return status;
    return Bad(absl::StrCat("format version ", View(version),
                            " is not known: this mc reads version ", View(kFormatVersion)));
  }

  absl::Status ReadHeaderLine(std::string_view line) {
    if (absl::Status status = CheckText(line); !status.ok()) return status;
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return Bad("expected 'NAME: VALUE' or 'steps:'");
    const std::string_view name = line.substr(0, colon);
    std::string_view raw = line.substr(colon + 1);
    if (raw.starts_with(' ')) raw.remove_prefix(1);
    const std::optional<std::string> value = Unescaped(raw);
    if (!value) return Bad("a '\\' that escapes nothing");
    if (name == "steps") return EndHeader(*value);
    if (name == "argument") {
      schedule_.arguments.push_back(*value);
      return absl::OkStatus();
    }
    if (name == "thread") return ReadThread(*value);
    if (!seen_.emplace(name, number_).second) {
      return Bad(
          absl::StrCat("'", View(name), "' was already given in line ", seen_[std::string(name)]));
    }
    return ReadField(name, *value);
  }

  // A thread is named by its creator and by how many that created before it; creators come first.
  absl::Status ReadThread(const std::string& name) {
    const size_t dot = name.rfind('.');
    const std::string creator = name.substr(0, std::min(dot, name.size()));
    const bool is_main = schedule_.threads.empty() && name == "0";
    const auto found = children_.find(creator);
    const bool is_next = dot != std::string::npos && found != children_.end() &&
                         name.substr(dot + 1) == std::to_string(found->second);
    if (!is_main && !is_next) {
      return Bad(absl::StrCat(
          "'", name, "' cannot be the name of T", schedule_.threads.size(),
          ": the first thread is 0, and what a thread above creates is its name with .0, .1, ..."));
    }
    if (is_next) ++found->second;
    children_[name] = 0;
    schedule_.threads.push_back(name);
    return schedule_.threads.size() > sched::kMaxThreads ? Bad("too many threads")
                                                         : absl::OkStatus();
  }

  // What only some values mean anything for.
  absl::Status CheckValue(std::string_view name, const std::string& value) const {
    if (name == "entry") {
      const auto number = value.starts_with("check:")
                              ? ParseNumber<uint64_t>(std::string_view(value).substr(6))
                              : std::nullopt;
      if (value != "main" && !(number && *number > 0)) {
        return Bad(absl::StrCat("there is no entry '", value, "': it is main or check:NUMBER"));
      }
    }
    if (name == "failure" && !sched::BugKindFromName(value)) {
      return Bad(absl::StrCat("there is no kind of failure named '", value, "'"));
    }
    if (name == "preemption-points") {
      const absl::StatusOr<PpSet> pps = PpSet::Parse(value);
      if (!pps.ok()) return Bad(std::string(pps.status().message()));
    }
    if (name == "shared-sites") {
      for (std::string_view site : Split(value, ';')) {
        // A loop that has a bound: 0xPC+0xDEPTH+0xOBJECT.
        const auto parts = Split(site, '+');
        const bool good = std::ranges::all_of(parts, [](std::string_view part) {
          return part.starts_with("0x") && ParseNumber<uint64_t>(part.substr(2), 16);
        });
        if (!good || (parts.size() != 1 && parts.size() != 3)) {
          return Bad(absl::StrCat("'", View(site), "' is no code address such as 0x4012af"));
        }
      }
    }
    return absl::OkStatus();
  }

  absl::Status ReadField(std::string_view name, const std::string& value) {
    if (absl::Status status = CheckValue(name, value); !status.ok()) return status;
    for (const Field& field : kFields) {
      if (field.name == name) {
        schedule_.*field.member = value;
        return absl::OkStatus();
      }
    }
    const std::span<const std::string_view> settings = SearchSettings::Names();
    if (std::find(settings.begin(), settings.end(), name) == settings.end()) {
      return Bad(absl::StrCat("unknown name '", View(name), "'"));
    }
    const absl::Status status = schedule_.settings.Set(name, value);
    return status.ok() ? status : Bad(std::string(status.message()));
  }

  absl::Status EndHeader(const std::string& value) {
    if (!value.empty()) return Bad("nothing may follow 'steps:' on its line");
    for (const Field& field : kFields) {
      if (field.required && !seen_.contains(std::string(field.name))) {
        return Bad(absl::StrCat("the header above has no '", View(field.name), "'"));
      }
    }
    state_ = kSteps;
    return absl::OkStatus();
  }

  absl::Status ReadStepLine(std::string_view line) {
    if (absl::Status status = CheckText(line); !status.ok()) return status;
    if (line == "end") {
      state_ = kDone;
      return absl::OkStatus();
    }
    const std::vector<std::string_view> words = Split(line, ' ');
    const auto thread = words.empty() || !words[0].starts_with('T')
                            ? std::nullopt
                            : ParseNumber<uint32_t>(words[0].substr(1));
    if (!thread) return Bad("expected a step: 'T<number> <choices or ->', or 'end'");
    ScheduleStep step;
    step.thread = *thread;
    step.line = number_;
    const size_t limit = schedule_.threads.empty() ? sched::kMaxThreads : schedule_.threads.size();
    if (step.thread >= limit) {
      return Bad(absl::StrCat("there is no thread T", step.thread, ": the threads are T0 to T",
                              limit - 1));
    }
    if (words.size() < 2) return Bad("the choices are missing: write - for none");
    if (words[1] != "-") {
      const auto choices = ParseChoices(words[1]);
      if (!choices) return Bad("the choices must be numbers joined by '.', or -");
      step.choices = *choices;
    }
    ReadRemark(words, &step);
    schedule_.steps.push_back(std::move(step));
    return schedule_.steps.size() > SharedState::kMaxSteps ? Bad("too many steps")
                                                           : absl::OkStatus();
  }

  // "WHAT at PLACE", either missing; a remark that is anything else is kept as WHAT.
  static void ReadRemark(const std::vector<std::string_view>& words, ScheduleStep* step) {
    std::vector<std::string> what, place;
    bool after_at = false;
    for (size_t i = 2; i < words.size(); ++i) {
      if (words[i] == "at" && !after_at) {
        after_at = true;
      } else {
        (after_at ? place : what).emplace_back(words[i]);
      }
    }
    const std::string joined = absl::StrJoin(what, " ");
    step->what = Unescaped(joined).value_or(joined);
    const std::string joined_place = absl::StrJoin(place, " ");
    step->place = Unescaped(joined_place).value_or(joined_place);
  }

  std::string_view text_;
  size_t position_ = 0;
  int number_ = 0;
  State state_ = kHeader;
  std::map<std::string, int> seen_;
  std::map<std::string, uint32_t> children_;  // of each thread, so far
  Schedule schedule_;
};

}  // namespace

std::vector<ScheduleStep> ParseSteps(std::string_view text) {
  std::vector<ScheduleStep> steps;
  for (std::string_view part : Split(text, ';')) {
    ScheduleStep step;
    const size_t at = part.find('@');
    std::string_view decision = part.substr(0, at);
    if (at != std::string_view::npos) {
      const std::string_view rest = part.substr(at + 1);
      const size_t slash = rest.find('/');
      step.pc = ParseNumber<uint64_t>(rest.substr(0, slash)).value_or(0);
      if (slash != std::string_view::npos) step.what = rest.substr(slash + 1);
    }
    const size_t colon = decision.find(':');
    const auto thread = ParseNumber<uint32_t>(decision.substr(0, colon));
    if (!thread) break;
    step.thread = *thread;
    if (colon != std::string_view::npos) {
      const auto choices = ParseChoices(decision.substr(colon + 1));
      if (!choices) break;
      step.choices = *choices;
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

std::string EncodeSteps(const std::vector<ScheduleStep>& steps) {
  std::string text;
  for (const ScheduleStep& step : steps) {
    absl::StrAppend(&text, text.empty() ? "" : ";", step.thread);
    if (!step.choices.empty()) absl::StrAppend(&text, ":", absl::StrJoin(step.choices, "."));
  }
  return text;
}

std::string FormatSchedule(const Schedule& schedule) {
  std::string text = absl::StrCat(View(kMagic), View(kFormatVersion), "\n");
  for (const Field& field : kFields) {
    const std::string& value = schedule.*field.member;
    if (!value.empty() || field.required) {
      absl::StrAppend(&text, View(field.name), ": ", Escaped(value), "\n");
    }
  }
  for (const std::string& argument : schedule.arguments) {
    absl::StrAppend(&text, "argument: ", Escaped(argument), "\n");
  }
  for (std::string_view name : SearchSettings::Names()) {
    const std::string value = schedule.settings.Get(name);
    if (!value.empty()) absl::StrAppend(&text, View(name), ": ", Escaped(value), "\n");
  }
  for (const std::string& thread : schedule.threads) {
    absl::StrAppend(&text, "thread: ", Escaped(thread), "\n");
  }
  absl::StrAppend(&text, "steps:\n");
  for (const ScheduleStep& step : schedule.steps) absl::StrAppend(&text, StepLine(step), "\n");
  absl::StrAppend(&text, "end\n");
  return text;
}

absl::StatusOr<Schedule> ParseSchedule(std::string_view text) { return Parser(text).Parse(); }

absl::Status WriteScheduleFile(const std::string& path, const Schedule& schedule) {
  std::error_code error;
  const std::filesystem::path directory = std::filesystem::path(path).parent_path();
  if (!directory.empty()) std::filesystem::create_directories(directory, error);
  std::ofstream file(path, std::ios::binary);
  file << FormatSchedule(schedule);
  file.close();
  if (!file) {
    const int reason = error ? error.value() : errno;
    return absl::UnavailableError(
        absl::StrCat("cannot write the schedule '", path, "': ", ExplainSystemError(reason)));
  }
  return absl::OkStatus();
}

absl::StatusOr<Schedule> ReadScheduleFile(const std::string& path) {
  // It may be a pipe, whose size nobody knows before its end.
  std::error_code error;
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path, error)) {
    return absl::NotFoundError(
        absl::StrCat("cannot read the schedule '", path, "': ", strerror(file ? EISDIR : errno)));
  }
  std::string text;
  for (char buffer[1 << 16]; file.read(buffer, sizeof buffer) || file.gcount() > 0;) {
    text.append(buffer, static_cast<size_t>(file.gcount()));
    if (text.size() > kLargestFile) {
      return absl::InvalidArgumentError(absl::StrCat("schedule '", path, "' is too large"));
    }
  }
  absl::StatusOr<Schedule> schedule = ParseSchedule(text);
  if (schedule.ok()) return schedule;
  return absl::InvalidArgumentError(
      absl::StrCat("schedule '", path, "', ", schedule.status().message()));
}

}  // namespace mc::checker
