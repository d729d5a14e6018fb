// Symbolizer: what the debug information of the harness says about code addresses.
//
// It is given the modules of the harness (hello message) and answers from libdwfl, caching every
// answer. Addresses that hooks report are *return addresses*: the instruction meant is the one
// before, so every look-up is made at pc - 1.
//
// The place shown for an address is the innermost frame of its inline chain that is not in a system
// header: `x.store(1)` on line 12 of queue.cc is queue.cc:12, not a line of <atomic>. Accordingly
// the code of queue.cc:12 includes what was inlined there.
//
// File names are shown relative to the current directory where they lie below it, else as the
// compiler recorded them. A module whose file is gone is skipped: its addresses have no line.
#ifndef MC_CHECKER_SYMBOLIZER_H_
#define MC_CHECKER_SYMBOLIZER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sched/preemption_points.h"

namespace mc::checker {

struct Module {
  std::string path;
  uint64_t base = 0;  // load address
  uint64_t end = 0;
};

inline constexpr std::string_view kRuntimeLibrary = "libmc_runtime.so";

struct SourceFrame {
  std::string file;  // "" if unknown
  int line = 0;      // 0 if unknown
  int column = 0;
  std::string function;  // demangled; "" if unknown
  bool inlined = false;  // into the frame that follows
};

struct SourceLocation {
  uint64_t pc = 0;
  std::string module;               // base name of the module's file, "" if none
  std::vector<SourceFrame> frames;  // innermost first; at least one
  size_t shown = 0;                 // index of the frame to show
  bool in_user_code = false;  // `shown` has a line, in neither a system header nor the runtime

  const SourceFrame& Shown() const { return frames[shown]; }
  bool HasLine() const { return Shown().line > 0; }
  bool InRuntime() const { return module.starts_with(kRuntimeLibrary); }
  // "queue.cc:31", or "libc.so.6 memcpy", or "0x4012af".
  std::string Where() const;
  // "queue.cc:31 in Queue::Push(int)".
  std::string WhereAndFunction() const;
};

class Symbolizer {
 public:
  explicit Symbolizer(std::vector<Module> modules);
  ~Symbolizer();
  Symbolizer(const Symbolizer&) = delete;
  Symbolizer& operator=(const Symbolizer&) = delete;

  // The reference stays valid for the life of the symbolizer. pc 0 is "unknown place".
  const SourceLocation& Locate(uint64_t pc);

  // The text with every "{pc:0xADDR}" replaced by function, file and line.
  std::string ReplaceCodeAddresses(std::string_view text);

  // The variable at a data address, "counter" or "table+16"; "" if none is known.
  std::string VariableAt(uint64_t address);

  // Name of the access PP of an instruction: "FILE:LINE", or "0xADDR" without line information.
  std::string AccessPpOf(uint64_t pc);

  // The access PPs (as AccessPpOf names them) a user means by FILE:LINE: FILE is a path, or the end
  // of one after a '/'. Empty if there is no code at that line. 0xADDR means itself.
  std::vector<std::string> Resolve(std::string_view name);

  // The code of an access PP, sorted and disjoint; empty if there is none. Names that Resolve would
  // have to make several PPs of mean all their code.
  std::vector<sched::CodeRange> RangesOf(std::string_view name);

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

// Puts ranges in the form sched::PreemptionPoints wants.
void SortAndMerge(std::vector<sched::CodeRange>* ranges);

// The build id of an ELF file in hexadecimal, "" if it has none or cannot be read.
std::string BuildIdOfFile(const std::string& path);

}  // namespace mc::checker

#endif  // MC_CHECKER_SYMBOLIZER_H_
