// SearchJournal: what one test's search has come to, in files from which another run of mc can go
// on (--checkpoint, --resume).
//
// The job engine is pure logic: given the same answers it makes the same decisions. So the journal
// keeps the answers: for each slice of a job the worker's messages (a few lines; progress is not
// among them) and how the slice ended. At a commit it also gets the state of every search that is
// under way, each in a file of its own. To resume, the engine runs as from the beginning, with the
// answers of the journal, and when they are used up with a worker that is given those states.
//
//     DIR/TEST.journal        lines, each a Message; the first says what is searched
//     DIR/TEST.JOB.N.state    the state of a job's search, as its worker wrote it
//
// A record is
//     slice job= pps=         then the messages, then
//     end how= trees_lost=
//     short                   after a slice: memory was short
//     commit seconds= states=JOB,N,CHECK;... check=
// and what counts is what lies before the last whole commit. `check` is a sum over all before it.
//
// Invariants
//  * A state file that the last commit names is never changed or removed before the next commit is
//    on the disk. So whenever the process is killed, the last commit can be resumed.
//  * One process at a time has the folder (a lock that goes with the process).
#ifndef MC_CHECKER_SEARCH_JOURNAL_H_
#define MC_CHECKER_SEARCH_JOURNAL_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checker/message.h"

namespace mc::checker {

// The folder, made if need be and locked until the object goes.
class JournalFolder {
 public:
  // With `resume` there must be something in it to go on with, else there must be nothing.
  static absl::StatusOr<std::unique_ptr<JournalFolder>> Open(const std::string& path, bool resume);
  ~JournalFolder();
  JournalFolder(const JournalFolder&) = delete;
  JournalFolder& operator=(const JournalFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  JournalFolder(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}

  std::string path_;
  int lock_;
};

class SearchJournal {
 public:
  // `header` says what is searched, in fields named like the options; what an existing journal says
  // must be the same. `name` is a part of file names. Without an existing one the search begins.
  static absl::StatusOr<std::unique_ptr<SearchJournal>> Open(const std::string& folder,
                                                             const std::string& name,
                                                             const Message& header);
  ~SearchJournal();
  SearchJournal(const SearchJournal&) = delete;
  SearchJournal& operator=(const SearchJournal&) = delete;

  // -- what there was
  // Are there records that have not been read?
  bool replaying() const { return next_ < records_.size(); }
  const Message& Peek() const { return records_[next_]; }
  const Message& Take() { return records_[next_++]; }
  // The state of the job's search at the last commit; empty if it has none.
  absl::StatusOr<std::string> StateOf(int job) const;
  // How long the search had taken then.
  double seconds_before() const { return seconds_before_; }

  // -- what there is. Not to be called while replaying.
  void Append(const Message& record) { pending_ += record.Encode() + "\n"; }
  // A new state of the job's search, for the next commit; empty: it has none any more.
  absl::Status SetState(int job, std::string_view state);
  // All searches under way are gone, with their worker.
  void ForgetStates() { states_.clear(); }
  // Makes all that was appended last. After an error there are no more commits.
  absl::Status Commit(double seconds);

 private:
  struct StateFile {
    uint64_t number = 0;
    uint64_t check = 0;
  };

  SearchJournal(std::string folder, std::string name)
      : folder_(std::move(folder)), name_(std::move(name)) {}
  absl::Status Read(const Message& header);
  absl::Status Begin(const Message& header);
  absl::Status ReadCommit(const Message& commit);
  absl::Status Damaged(std::string_view what) const;
  std::string JournalPath() const;
  std::string StatePath(int job, uint64_t number) const;
  void RemoveOldStates() const;

  std::string folder_, name_;
  int fd_ = -1;
  std::vector<Message> records_;  // before the last commit
  size_t next_ = 0;
  double seconds_before_ = 0;
  std::string pending_;
  uint64_t check_ = 0;  // of all that is in the file
  std::map<int, StateFile> states_;
  uint64_t last_number_ = 0;  // of a state file
  absl::Status failure_;
};

}  // namespace mc::checker

#endif  // MC_CHECKER_SEARCH_JOURNAL_H_
