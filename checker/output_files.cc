#include "checker/output_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "checker/picture.h"
#include "checker/picture_text.h"
#include "checker/standard_output.h"
#include "checker/system_limits.h"

namespace mc::checker {
namespace {

namespace fs = std::filesystem;

struct NamedFile {
  std::string option;
  std::string path;
};

std::vector<NamedFile> OutputsOf(const Options& options) {
  std::vector<NamedFile> files;
  for (const NamedFile& file : {NamedFile{"--json", options.json},
                                {"--junit", options.junit},
                                {"--sarif", options.sarif},
                                {"--visualize", options.visualize},
                                {"--final-states", options.final_states},
                                {"--certificate", options.certificate}}) {
    if (!file.path.empty()) files.push_back(file);
  }
  return files;
}

// Why the file cannot be written, or 0. A file that is there is not opened for writing unless it is
// a regular one: the reader of a pipe would take the end of that for the end of the report.
int ErrorOfWriting(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) return EISDIR;
    if (!S_ISREG(status.st_mode)) return access(path.c_str(), W_OK) == 0 ? 0 : errno;
    const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return errno;
    close(fd);
    return 0;
  }
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return errno == EEXIST ? 0 : errno;
  close(fd);
  unlink(path.c_str());
  return 0;
}

// Why files cannot be made in the folder, which is made when the first one is; or 0.
int ErrorOfFolder(const std::string& folder) {
  std::error_code error;
  fs::path existing = fs::absolute(folder, error);
  if (error) return error.value();  // the current directory is gone, say
  while (existing.has_relative_path() && !fs::exists(existing, error)) {
    if (error && error != std::errc::no_such_file_or_directory) return error.value();
    existing = existing.parent_path();
  }
  if (!fs::is_directory(existing, error)) return ENOTDIR;
  std::string probe = (existing / ".mc-XXXXXX").string();
  if (mkdtemp(probe.data()) == nullptr) return errno;
  rmdir(probe.c_str());
  return 0;
}

bool SameFile(const std::string& a, const std::string& b) {
  std::error_code error;
  if (fs::equivalent(a, b, error)) return fs::is_regular_file(a, error);
  return fs::absolute(a, error).lexically_normal() == fs::absolute(b, error).lexically_normal() &&
         !fs::exists(a, error);
}

absl::Status CheckApart(const std::vector<NamedFile>& outputs, const Options& options) {
  std::vector<NamedFile> others = {{"the harness", options.harness},
                                   {"the schedule to replay", options.replay}};
  for (const NamedFile& output : outputs) {
    for (const NamedFile& other : others) {
      if (other.path.empty() || !SameFile(output.path, other.path)) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(output.option, "=", output.path, " is the file of ", other.option,
                       " as well, which it would overwrite: give it another name"));
    }
    others.push_back(output);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckOutputFiles(const Options& options, std::string* warning) {
  warning->clear();
  const std::vector<NamedFile> outputs = OutputsOf(options);
  if (absl::Status status = CheckApart(outputs, options); !status.ok()) return status;
  for (const NamedFile& file : outputs) {
    if (const int error = ErrorOfWriting(file.path)) {
      return absl::InvalidArgumentError(
          absl::StrCat(file.option, ": cannot write '", file.path, "': ", strerror(error)));
    }
  }
  struct stat status;
  if (!options.certificate.empty() && stat(options.certificate.c_str(), &status) == 0 &&
      !S_ISREG(status.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--certificate: '", options.certificate,
                     "' is no ordinary file, and a certificate has to be one: give another name"));
  }
  if (!options.visualize.empty() && options.replay.empty() &&
      *PictureFormatOf(options.visualize) != PictureFormat::kDot) {
    std::string svg;
    const absl::Status status = RunDot("digraph empty {}", &svg);
    if (!status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("--visualize: ", status.message()));
    }
  }
  // These write no schedule.
  if (!options.replay.empty() || !options.check_certificate.empty()) return absl::OkStatus();
  if (const int error = ErrorOfFolder(options.output)) {
    const std::string text = absl::StrCat("cannot write schedules of bugs to the folder '",
                                          options.output, "': ", strerror(error));
    if (options.output_given) return absl::InvalidArgumentError(absl::StrCat("--output: ", text));
    *warning = absl::StrCat(text, "; --output=DIR names another");
  }
  return absl::OkStatus();
}

absl::Status WriteTextFile(const std::string& path, const std::string& text) {
  struct stat file_status, output_status;
  if (stat(path.c_str(), &file_status) == 0 && fstat(STDOUT_FILENO, &output_status) == 0 &&
      file_status.st_dev == output_status.st_dev && file_status.st_ino == output_status.st_ino) {
    // Opened once more, as /dev/stdout, it would be cut off before what it has already.
    Print(text);
    return absl::OkStatus();
  }
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("cannot write '", path, "': ", ExplainSystemError(errno)));
}

}  // namespace mc::checker
