// Pictures for people (--visualize): the explored interleavings of a job as a tree, and one
// interleaving as a swim-lane diagram.
//
// The tree merges executions that begin with the same decisions, draws consecutive steps of one
// thread that no other execution leaves as one box, and leaves executions out, with their number,
// where it would get too large to be looked at. The swim lanes have a column for each thread, time
// runs down, and arrows show happens-before between dependent steps of different threads, as far
// as it does not follow from the other arrows and the columns (transitive reduction).
//
// The input is plain data: nothing here knows how executions are run. All text is escaped; bytes
// that are no UTF-8 or no character that XML allows are shown as U+FFFD.
#ifndef MC_CHECKER_PICTURE_H_
#define MC_CHECKER_PICTURE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace mc::checker {

struct PictureAccess {
  uint64_t begin = 0;  // sched::Cell
  uint64_t size = 0;   // cells
  uint8_t mode = 0;    // sched::AccessMode
};

// One transition.
struct PictureStep {
  uint32_t thread = 0;
  std::string thread_name;              // "" for "T" and the number
  std::string what;                     // "lock", "atomic write", ...
  std::string where;                    // "bank.cc:14", or ""
  std::string details;                  // further lines, shown on hovering
  std::vector<uint32_t> choices;        // values of mc_choose and the like inside it
  std::vector<PictureAccess> accesses;  // only needed for swim lanes
  bool racing = false;                  // takes part in a data race
  bool failing = false;                 // the bug shows here
};

enum class PictureOutcome : uint8_t { kOk, kBug, kBlocked };

struct PictureExecution {
  std::vector<PictureStep> steps;
  PictureOutcome outcome = PictureOutcome::kOk;
};

struct PictureOptions {
  std::string title;
  size_t max_executions = 200;   // the most a tree shows; up to 3/4 of them buggy ones
  size_t max_tree_steps = 2000;  // it takes in no further one beyond so many distinct steps
  size_t max_lane_steps = 1000;  // of a longer interleaving only the last ones are drawn
};

enum class PictureFormat : uint8_t { kDot, kSvg, kHtml };

// From the name's ending; InvalidArgument if it is none of .dot, .svg and .html.
absl::StatusOr<PictureFormat> PictureFormatOf(std::string_view path);

// Draws into a file. The .svg and .html of a tree need the Graphviz program `dot`:
// FailedPrecondition if it is not installed. Unavailable if the file cannot be written.
absl::Status DrawTree(const std::string& path, const std::vector<PictureExecution>& executions,
                      const PictureOptions& options);
absl::Status DrawLanes(const std::string& path, const PictureExecution& execution,
                       const PictureOptions& options);

// The same as text.
std::string TreeAsDot(const std::vector<PictureExecution>& executions,
                      const PictureOptions& options);
std::string LanesAsDot(const PictureExecution& execution, const PictureOptions& options);
std::string LanesAsSvg(const PictureExecution& execution, const PictureOptions& options);
// A page around an SVG document (its XML declaration and DOCTYPE, if any, are dropped).
std::string SvgAsHtml(std::string_view svg, std::string_view title);

}  // namespace mc::checker

#endif  // MC_CHECKER_PICTURE_H_
