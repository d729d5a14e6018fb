#include <random>
#include <string_view>
#include <vector>

#include "tests/campaign/operation.h"
#include "tests/campaign/program.h"
#include "tests/campaign/themes.h"

namespace mc::campaign {
namespace {

class Generator {
 public:
  Generator(Profile profile, uint64_t seed)
      : profile_(profile),
        prefers_writers_(seed % 2 != 0),
        random_(seed * kProfiles + static_cast<uint64_t>(profile)) {}

  // Threads separated by |, in the notation of themes.h. In front may stand: `each` or `block`, for
  // how main joins them (else it does not), `apart` (main creates them one by one), `nested` (the
  // first thread creates the last).
  Program FromText(std::string_view text) {
    for (bool more = true; more;) {
      const std::string_view word = text.substr(0, text.find(' '));
      if (word == "each") {
        program_.join = Program::kEach;
      } else if (word == "block") {
        program_.join = Program::kInOneBlock;
      } else if (word == "apart") {
        program_.created_at_once = false;
      } else if (word == "nested") {
        nested_ = true;
      } else {
        more = false;
      }
      if (more) text.remove_prefix(word.size() + 1);
    }
    while (true) {
      const size_t end = text.find('|');
      std::string_view piece = text.substr(0, end);
      while (piece.starts_with(' ')) piece.remove_prefix(1);
      while (piece.ends_with(' ')) piece.remove_suffix(1);
      if (program_.thread_count == kMostThreads) __builtin_trap();
      AddText(program_.thread_count++, piece);
      if (end == std::string_view::npos) break;
      text.remove_prefix(end + 1);
    }
    if (nested_) program_.creator[program_.thread_count - 1] = 1;
    return program_;
  }

  Program Run() {
    ChooseThemes();
    program_.thread_count = 2 + static_cast<int>(Below(7) / 3);  // 2, 3, or now and then 4
    const int most = program_.thread_count == 2 ? 5 : program_.thread_count == 3 ? 3 : 2;
    program_.join = static_cast<Program::Join>(Below(3));
    program_.created_at_once = Below(8) != 0;
    program_.semaphore = static_cast<unsigned>(Below(3)) % 2;
    program_.barrier = static_cast<unsigned>(2 + Below(2));
    const bool main_works = Below(3) != 0;
    // Now and then a thread that another one creates.
    if (program_.thread_count > 2 && Below(5) == 0) {
      program_.creator[program_.thread_count - 1] = 1;
    }
    for (int t = 0; t < program_.thread_count; ++t) {
      const int pieces =
          t == 0 ? (main_works ? static_cast<int>(Below(3)) : 0) : 1 + static_cast<int>(Below(3));
      for (int k = 0; k < pieces; ++k) AddPiece(t, most);
      if (t == 1 && program_.creator[program_.thread_count - 1] == 1) Add(1, "create");
    }
    return program_;
  }

 private:
  uint64_t Below(uint64_t n) { return random_() % n; }

  void ChooseThemes() {
    std::vector<const Theme*> common;
    for (const Theme& theme : Themes()) {
      if (theme.common) common.push_back(&theme);
    }
    const uint64_t count = 1 + Below(2);
    for (uint64_t k = 0; k < count; ++k) chosen_.push_back(common[Below(common.size())]);
    for (const Theme*& theme : chosen_) {
      if (prefers_writers_ && theme->name == "rwlock") theme = &ThemeNamed("preference");
    }
    if (Below(2) == 0) chosen_.push_back(&ThemeNamed("atomic"));
    if (Below(20) == 0) chosen_.push_back(&ThemeNamed("destroy"));
    switch (profile_) {
      case Profile::kAny:
        break;
      case Profile::kExit:
        chosen_.push_back(&ThemeNamed("exits"));
        break;
      case Profile::kSpurious:
        chosen_.push_back(&ThemeNamed(Below(4) == 0 ? "futex" : "condition"));
        break;
      case Profile::kSpin:
        chosen_.push_back(&ThemeNamed("spins"));
        break;
      case Profile::kHeap:
        chosen_.push_back(&ThemeNamed("heap"));
        break;
    }
  }

  void AddPiece(int thread, int most) {
    const Theme& theme = *chosen_[Below(chosen_.size())];
    const std::string_view piece = theme.pieces[Below(theme.pieces.size())];
    int operations = 1;
    for (char c : piece) operations += c == ';' || c == ',' ? 1 : 0;
    // The first piece of a thread may be longer than the others leave room for.
    if (program_.size[thread] > 0 && program_.size[thread] + operations > most) return;
    AddText(thread, piece);
  }

  void AddText(int thread, std::string_view piece) {
    bool joined = false;
    for (size_t begin = 0; begin < piece.size();) {
      size_t end = piece.find_first_of(";,", begin);
      if (end == std::string_view::npos) end = piece.size();
      Add(thread, piece.substr(begin, end - begin));
      Instruction& added = program_.code[thread][program_.size[thread] - 1];
      if (joined) {
        added.begins_block = false;
      }
      joined = end < piece.size() && piece[end] == ',';
      if (joined) {
        added.begins_block = added.begins_block || &added == program_.code[thread] ||
                             (&added)[-1].ends_block || !InBlock(thread);
        added.ends_block = false;
      } else {
        added.ends_block = added.begins_block || InBlock(thread);
      }
      begin = end + 1;
      while (begin < piece.size() && piece[begin] == ' ') ++begin;
    }
  }

  // Is the block open that the last instruction belongs to?
  bool InBlock(int thread) const {
    for (int k = program_.size[thread] - 1; k >= 0; --k) {
      if (k < program_.size[thread] - 1 && program_.code[thread][k].ends_block) return false;
      if (program_.code[thread][k].begins_block) return true;
    }
    return false;
  }

  void Add(int thread, std::string_view text) {
    if (program_.size[thread] == kMostInstructions) __builtin_trap();
    Instruction instruction;
    if (text.starts_with("?0 ")) instruction.guard = Instruction::kIfZero;
    if (text.starts_with("?1 ")) instruction.guard = Instruction::kIfNotZero;
    if (text[0] == '?') text.remove_prefix(3);
    if (text[0] == '!') {
      instruction.begins_block = instruction.ends_block = true;
      text.remove_prefix(1);
    }
    const int number = OperationNumber(text.data(), static_cast<unsigned>(text.size()));
    if (number < 0) __builtin_trap();
    instruction.operation = static_cast<uint8_t>(number);
    instruction.removed = Operations()[static_cast<size_t>(number)].body == nullptr;
    program_.code[thread][program_.size[thread]++] = instruction;
  }

  const Profile profile_;
  const bool prefers_writers_;  // its reader-writer locks are of that kind
  std::mt19937_64 random_;
  std::vector<const Theme*> chosen_;
  Program program_;
  bool nested_ = false;
};

}  // namespace

Program Generate(Profile profile, uint64_t seed, uint64_t mask) {
  Program program = Generator(profile, seed).Run();
  int number = 0;
  for (int t = 0; t < program.thread_count; ++t) {
    for (int k = 0; k < program.size[t]; ++k, ++number) {
      program.code[t][k].removed |= (mask >> number & 1) != 0;
    }
  }
  if ((mask >> 63 & 1) != 0) program.join = Program::kNone;
  if ((mask >> 62 & 1) != 0) --program.thread_count;
  return program;
}

Program FromText(const char* text) { return Generator(Profile::kAny, 0).FromText(text); }

int InstructionCount(const Program& program) {
  int count = 0;
  for (int t = 0; t < program.thread_count; ++t) count += program.size[t];
  return count;
}

std::string TextOf(const Program& program) {
  std::string text;
  for (int t = 0; t < program.thread_count; ++t) {
    text += "T" + std::to_string(t);
    if (program.creator[t] != 0)
      text += " (created by T" + std::to_string(program.creator[t]) + ")";
    text += ":";
    for (int k = 0; k < program.size[t]; ++k) {
      const Instruction& i = program.code[t][k];
      if (i.begins_block) text += " {";
      if (!i.removed) {
        text += i.guard == Instruction::kIfZero      ? " if r==0:"
                : i.guard == Instruction::kIfNotZero ? " if r!=0:"
                                                     : "";
        text += std::string(" ") + Operations()[i.operation].name + ";";
      }
      if (i.ends_block) text += " }";
    }
    text += "\n";
  }
  text += "main creates its threads ";
  text += program.created_at_once ? "in one block" : "one by one";
  text += program.join == Program::kInOneBlock ? ", joins them in one block"
          : program.join == Program::kEach     ? ", joins them one by one"
                                               : ", joins none";
  text += "; semaphore " + std::to_string(program.semaphore) + ", barrier for " +
          std::to_string(program.barrier) + "\n";
  return text;
}

}  // namespace mc::campaign
