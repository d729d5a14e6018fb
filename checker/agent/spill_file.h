// SpillFile: where the searches of a worker put the requests for which there is no memory (spec
// optimal-dpor 3.5; dpor/spill.h): a file without a name, made when it is first needed, gone with
// the worker.
//
// Places have sizes that are powers of two, and are handed out again: the file is as large as what
// was in it at the worst moment, and at most twice that.
#ifndef MC_CHECKER_AGENT_SPILL_FILE_H_
#define MC_CHECKER_AGENT_SPILL_FILE_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dpor/spill.h"

namespace mc::checker {

class SpillFile final : public dpor::SpillStore {
 public:
  // From now on the file is made in `directory`, and the searches' requests may take `limit` bytes
  // of memory.
  void SetUp(std::string_view directory, uint64_t limit);
  // The process is a copy of one that goes on using the file: forgets it, and all that is in it.
  void LeaveToOriginal();

  dpor::SpillBudget& budget() { return budget_; }
  // Why there was no room the last time that there was none; "" for always. For people.
  const std::string& problem() const { return problem_; }

  Place Write(std::span<const uint32_t> words) override;
  bool Read(Place place, size_t count, dpor::Words* words) override;
  void Free(Place place, size_t count) override;

 private:
  bool Open();
  Place Refuse(const char* what);

  std::string directory_;
  dpor::SpillBudget budget_;
  std::string problem_;
  int file_ = -1;
  uint64_t end_ = 0;                                // of the file
  std::map<uint64_t, std::vector<uint64_t>> free_;  // by size
  uint64_t first_place_ = 0;  // smaller ones are of a file that was left to the original
};

}  // namespace mc::checker

#endif  // MC_CHECKER_AGENT_SPILL_FILE_H_
