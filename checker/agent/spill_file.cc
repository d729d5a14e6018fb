#include "checker/agent/spill_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>

#include "sched/other_processes.h"

namespace mc::checker {
namespace {

constexpr uint64_t kLeastSize = 4096;
// Places of a new file begin beyond those of the one before, so that they cannot be mistaken.
constexpr uint64_t kPlacesOfAFile = uint64_t{1} << 48;

uint64_t SizeFor(size_t words) {
  return std::max(kLeastSize, std::bit_ceil(uint64_t{words} * sizeof(uint32_t)));
}

// Whether the system kills who writes up to there (ulimit -f).
bool IsBeyondLimit(uint64_t end) {
  rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
         end > limit.rlim_cur;
}

// A file that nobody else can open, and that takes no place once it is closed; -1 with errno.
int NamelessFile(const std::string& directory) {
  const int file = open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0) return file;
  std::string path = directory + "/mc-spill-XXXXXX";
  const int named = mkostemp(path.data(), O_CLOEXEC);
  if (named >= 0) unlink(path.c_str());
  return named;
}

}  // namespace

void SpillFile::SetUp(std::string_view directory, uint64_t limit) {
  directory_ = directory;
  budget_.limit = limit;
}

void SpillFile::LeaveToOriginal() {
  if (file_ >= 0) sched::CloseOwnDescriptor(file_);
  file_ = -1;
  first_place_ += kPlacesOfAFile;
  end_ = 0;
  free_.clear();
}

bool SpillFile::Open() {
  if (file_ >= 0) return true;
  const int made = NamelessFile(directory_);
  if (made < 0) return false;
  file_ = sched::OwnDescriptor(made, true);
  return file_ >= 0;
}

dpor::SpillStore::Place SpillFile::Refuse(const char* what) {
  problem_ = std::string(what) + " in " + directory_ + ": " + strerror(errno);
  return kNoPlace;
}

dpor::SpillStore::Place SpillFile::Write(std::span<const uint32_t> words) {
  if (!Open()) return Refuse("a file cannot be made");
  const uint64_t size = SizeFor(words.size());
  std::vector<uint64_t>& free = free_[size];
  const bool is_new = free.empty();
  const uint64_t offset = is_new ? end_ : free.back();
  const char* from = reinterpret_cast<const char*>(words.data());
  const uint64_t bytes = words.size_bytes();
  if (IsBeyondLimit(offset + bytes)) {
    errno = EFBIG;
    return Refuse("a file cannot grow");
  }
  for (uint64_t done = 0; done < bytes;) {
    const ssize_t count =
        pwrite(file_, from + done, bytes - done, static_cast<off_t>(offset + done));
    if (count > 0) {
      done += static_cast<uint64_t>(count);
    } else if (count == 0 || errno != EINTR) {
      return Refuse("a file cannot grow");
    }
  }
  if (is_new) {
    end_ += size;
  } else {
    free.pop_back();
  }
  return first_place_ + offset;
}

bool SpillFile::Read(Place place, size_t count, dpor::Words* words) {
  if (place < first_place_) return false;
  words->resize(count);
  char* to = reinterpret_cast<char*>(words->data());
  const uint64_t offset = place - first_place_, bytes = count * sizeof(uint32_t);
  for (uint64_t done = 0; done < bytes;) {
    const ssize_t got = pread(file_, to + done, bytes - done, static_cast<off_t>(offset + done));
    if (got > 0) {
      done += static_cast<uint64_t>(got);
    } else if (got == 0 || errno != EINTR) {
      return false;
    }
  }
  return true;
}

void SpillFile::Free(Place place, size_t count) {
  if (place >= first_place_) free_[SizeFor(count)].push_back(place - first_place_);
}

}  // namespace mc::checker
