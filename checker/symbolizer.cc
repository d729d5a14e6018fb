#include "checker/symbolizer.h"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "checker/text.h"

namespace mc::checker {
namespace {

std::string Demangle(const char* name) {
  if (std::string_view(name).substr(0, 2) != "_Z") return name;  // a C name: `f` is no float
  int status = 0;
  char* demangled = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string result = status == 0 ? demangled : name;
  free(demangled);
  return result;
}

bool IsSystemHeader(std::string_view path) {
  return path.starts_with("/usr/include/") || path.starts_with("/usr/lib/") ||
         path.starts_with("/usr/local/include/c++/") ||
         path.find("/include/mc/standard_library/") != path.npos;  // stand for such ones
}

std::string Normalised(const char* path) {
  return path == nullptr ? "" : std::filesystem::path(path).lexically_normal().string();
}

// True if `path` is `suffix` or ends in it at a directory boundary.
bool PathEndsIn(std::string_view path, std::string_view suffix) {
  return path == suffix || (path.ends_with(suffix) && path[path.size() - suffix.size() - 1] == '/');
}

const char* FileOf(Dwarf_Die* unit, Dwarf_Word index) {
  Dwarf_Files* files = nullptr;
  size_t count = 0;
  if (dwarf_getsrcfiles(unit, &files, &count) != 0 || index >= count) return nullptr;
  return dwarf_filesrc(files, index, nullptr, nullptr);
}

bool CallSite(Dwarf_Die* unit, Dwarf_Die* inlined, std::string* file, int* line) {
  Dwarf_Attribute attribute;
  Dwarf_Word file_index = 0, line_number = 0;
  if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file_index) != 0 ||
      dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line_number) != 0) {
    return false;
  }
  *file = Normalised(FileOf(unit, file_index));
  *line = static_cast<int>(line_number);
  return !file->empty();
}

std::string FunctionName(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  Dwarf_Attribute* found = dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute);
  if (found == nullptr) found = dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute);
  const char* name = found != nullptr ? dwarf_formstring(found) : dwarf_diename(die);
  return name == nullptr ? "" : Demangle(name);
}

}  // namespace

std::string SourceLocation::Where() const {
  if (HasLine()) return absl::StrCat(Shown().file, ":", Shown().line);
  if (pc == 0) return "unknown place";
  if (!Shown().function.empty() && !module.empty()) {
    return absl::StrCat(module, " ", Shown().function);
  }
  const std::string address = absl::StrFormat("0x%x", pc);
  return module.empty() ? address : absl::StrCat(module, " ", address);
}

std::string SourceLocation::WhereAndFunction() const {
  if (!HasLine() || Shown().function.empty()) return Where();
  return absl::StrCat(Where(), " in ", Shown().function);
}

class Symbolizer::Implementation {
 public:
  explicit Implementation(std::vector<Module> modules);
  ~Implementation() { dwfl_end(dwfl_); }

  const SourceLocation& Locate(uint64_t pc);
  std::string VariableAt(uint64_t address);
  // The code of a line, by the shown name of its file.
  std::map<std::string, const std::vector<sched::CodeRange>*> Find(std::string_view file, int line);

 private:
  using LinesOfFile = std::map<int, std::vector<sched::CodeRange>>;

  SourceLocation LookUp(uint64_t pc);
  void AddInlineFrames(Dwfl_Module* module, uint64_t address, SourceLocation* location);
  std::string Shorten(const std::string& path) const;
  void BuildIndex();
  void IndexLineTable(Dwarf_Die* unit, Dwarf_Addr bias);
  void IndexInlinedCode(Dwarf_Die* unit, Dwarf_Die* die, Dwarf_Addr bias);

  Dwfl_Callbacks callbacks_ = {};
  Dwfl* dwfl_ = nullptr;
  std::string directory_;  // the current one, with a final '/'
  std::unordered_map<uint64_t, SourceLocation> cache_;
  bool indexed_ = false;
  std::map<std::string, LinesOfFile> index_;  // by full path
};

Symbolizer::Implementation::Implementation(std::vector<Module> modules) {
  callbacks_.find_elf = dwfl_build_id_find_elf;
  callbacks_.find_debuginfo = dwfl_standard_find_debuginfo;
  dwfl_ = dwfl_begin(&callbacks_);
  dwfl_report_begin(dwfl_);
  for (const Module& module : modules) {
    dwfl_report_elf(dwfl_, module.path.c_str(), module.path.c_str(), -1, module.base, false);
  }
  dwfl_report_end(dwfl_, nullptr, nullptr);
  std::error_code error;
  directory_ = std::filesystem::current_path(error).string() + "/";
}

std::string Symbolizer::Implementation::Shorten(const std::string& path) const {
  return directory_.size() > 1 && path.starts_with(directory_) ? path.substr(directory_.size())
                                                               : path;
}

const SourceLocation& Symbolizer::Implementation::Locate(uint64_t pc) {
  auto [entry, is_new] = cache_.try_emplace(pc);
  if (is_new) entry->second = LookUp(pc);
  return entry->second;
}

SourceLocation Symbolizer::Implementation::LookUp(uint64_t pc) {
  SourceLocation location;
  location.pc = pc;
  location.frames.emplace_back();
  const uint64_t address = pc - 1;
  Dwfl_Module* module = pc == 0 ? nullptr : dwfl_addrmodule(dwfl_, address);
  if (module == nullptr) return location;
  const char* path =
      dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  if (path != nullptr) location.module = std::filesystem::path(path).filename().string();
  SourceFrame& frame = location.frames.front();
  if (const char* symbol = dwfl_module_addrname(module, address)) frame.function = Demangle(symbol);
  if (Dwfl_Line* line = dwfl_module_getsrc(module, address)) {
    const char* file = dwfl_lineinfo(line, nullptr, &frame.line, &frame.column, nullptr, nullptr);
    frame.file = Normalised(file);
    if (frame.file.empty()) frame.line = 0;
  }
  AddInlineFrames(module, address, &location);
  for (size_t i = 0; i < location.frames.size(); ++i) {
    if (location.frames[i].line > 0 && !IsSystemHeader(location.frames[i].file)) {
      location.shown = i;
      location.in_user_code = !location.InRuntime();
      break;
    }
  }
  for (SourceFrame& f : location.frames) f.file = Shorten(f.file);
  return location;
}

// The first frame has the line of the line table; each further one that of the call inlined.
void Symbolizer::Implementation::AddInlineFrames(Dwfl_Module* module, uint64_t address,
                                                 SourceLocation* location) {
  Dwarf_Addr bias = 0;
  Dwarf_Die* unit = dwfl_module_addrdie(module, address, &bias);
  if (unit == nullptr) return;
  Dwarf_Die* scopes = nullptr;
  const int count = dwarf_getscopes(unit, address - bias, &scopes);
  if (count <= 0) return;
  // dwarf_getscopes follows an inlined function to its definition; its true parents are those of
  // the innermost scope's own place in the tree.
  Dwarf_Die innermost = scopes[0];
  free(scopes);
  Dwarf_Die* parents = nullptr;
  const int depth = dwarf_getscopes_die(&innermost, &parents);
  for (int i = 0; i < depth; ++i) {
    const int tag = dwarf_tag(&parents[i]);
    if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) continue;
    const std::string name = FunctionName(&parents[i]);
    if (!name.empty()) location->frames.back().function = name;
    if (tag == DW_TAG_subprogram) break;
    SourceFrame caller;
    caller.function = location->frames.back().function;
    if (!CallSite(unit, &parents[i], &caller.file, &caller.line)) break;
    location->frames.back().inlined = true;
    location->frames.push_back(caller);
  }
  free(parents);
}

std::string Symbolizer::Implementation::VariableAt(uint64_t address) {
  Dwfl_Module* module = dwfl_addrmodule(dwfl_, address);
  if (module == nullptr) return "";
  GElf_Off offset = 0;
  GElf_Sym symbol;
  const char* name =
      dwfl_module_addrinfo(module, address, &offset, &symbol, nullptr, nullptr, nullptr);
  if (name == nullptr || GELF_ST_TYPE(symbol.st_info) != STT_OBJECT || offset >= symbol.st_size) {
    return "";
  }
  return offset == 0 ? Demangle(name) : absl::StrCat(Demangle(name), "+", offset);
}

void Symbolizer::Implementation::BuildIndex() {
  indexed_ = true;
  auto visit = [](Dwfl_Module* module, void**, const char* name, Dwarf_Addr, void* self) -> int {
    // The checker's own code in the process is no part of the program, though it may come from the
    // same headers.
    if (std::string_view(name).find("libmc_runtime") != std::string_view::npos) return DWARF_CB_OK;
    Dwarf_Addr bias = 0;
    Dwarf_Die* unit = nullptr;
    while ((unit = dwfl_module_nextcu(module, unit, &bias)) != nullptr) {
      auto* implementation = static_cast<Implementation*>(self);
      implementation->IndexLineTable(unit, bias);
      implementation->IndexInlinedCode(unit, unit, bias);
    }
    return DWARF_CB_OK;
  };
  dwfl_getmodules(dwfl_, visit, this, 0);
  for (auto& [file, lines] : index_) {
    for (auto& [line, ranges] : lines) SortAndMerge(&ranges);
  }
}

void Symbolizer::Implementation::IndexLineTable(Dwarf_Die* unit, Dwarf_Addr bias) {
  Dwarf_Lines* lines = nullptr;
  size_t count = 0;
  if (dwarf_getsrclines(unit, &lines, &count) != 0) return;
  std::unordered_map<const char*, LinesOfFile*> files;
  for (size_t i = 0; i + 1 < count; ++i) {
    Dwarf_Line* row = dwarf_onesrcline(lines, i);
    bool ends = false;
    Dwarf_Addr begin = 0, end = 0;
    int number = 0;
    if (dwarf_lineendsequence(row, &ends) != 0 || ends || dwarf_lineaddr(row, &begin) != 0 ||
        dwarf_lineaddr(dwarf_onesrcline(lines, i + 1), &end) != 0 || end <= begin ||
        dwarf_lineno(row, &number) != 0 || number <= 0) {
      continue;
    }
    const char* name = dwarf_linesrc(row, nullptr, nullptr);
    if (name == nullptr) continue;
    LinesOfFile*& file = files[name];
    if (file == nullptr) file = &index_[Normalised(name)];
    (*file)[number].push_back({begin + bias, end + bias});
  }
}

void Symbolizer::Implementation::IndexInlinedCode(Dwarf_Die* unit, Dwarf_Die* die,
                                                  Dwarf_Addr bias) {
  Dwarf_Die child;
  if (dwarf_child(die, &child) != 0) return;
  do {
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_inlined_subroutine) {
      std::string file;
      int line = 0;
      if (CallSite(unit, &child, &file, &line)) {
        std::vector<sched::CodeRange>& ranges = index_[file][line];
        Dwarf_Addr base = 0, begin = 0, end = 0;
        ptrdiff_t offset = 0;
        while ((offset = dwarf_ranges(&child, offset, &base, &begin, &end)) > 0) {
          if (begin < end) ranges.push_back({begin + bias, end + bias});
        }
      }
    }
    if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
        tag == DW_TAG_lexical_block || tag == DW_TAG_namespace || tag == DW_TAG_class_type ||
        tag == DW_TAG_structure_type || tag == DW_TAG_try_block || tag == DW_TAG_catch_block) {
      IndexInlinedCode(unit, &child, bias);
    }
  } while (dwarf_siblingof(&child, &child) == 0);
}

std::map<std::string, const std::vector<sched::CodeRange>*> Symbolizer::Implementation::Find(
    std::string_view file, int line) {
  if (!indexed_) BuildIndex();
  const std::string suffix = Normalised(std::string(file).c_str());
  std::map<std::string, const std::vector<sched::CodeRange>*> result;
  for (const auto& [path, lines] : index_) {
    const auto found = lines.find(line);
    if (found == lines.end() || found->second.empty() || !PathEndsIn(path, suffix)) continue;
    const std::string shown = Shorten(path);
    // A name that is exactly some file's means no other.
    if (shown == suffix || path == suffix) return {{shown, &found->second}};
    result[shown] = &found->second;
  }
  return result;
}

namespace {

struct AccessName {
  uint64_t address = 0;  // of 0xADDR; 0: FILE:LINE
  std::string_view file;
  int line = 0;
};

std::optional<AccessName> ParseAccessName(std::string_view name) {
  AccessName result;
  if (name.starts_with("0x")) {
    result.address = ParseNumber<uint64_t>(name.substr(2), 16).value_or(0);
    return result.address == 0 ? std::nullopt : std::optional(result);
  }
  const size_t colon = name.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  result.file = name.substr(0, colon);
  result.line = ParseNumber<int>(name.substr(colon + 1)).value_or(0);
  return result.line <= 0 ? std::nullopt : std::optional(result);
}

}  // namespace

Symbolizer::Symbolizer(std::vector<Module> modules)
    : implementation_(std::make_unique<Implementation>(std::move(modules))) {}
Symbolizer::~Symbolizer() = default;

const SourceLocation& Symbolizer::Locate(uint64_t pc) { return implementation_->Locate(pc); }

std::string Symbolizer::VariableAt(uint64_t address) {
  return implementation_->VariableAt(address);
}

std::string Symbolizer::ReplaceCodeAddresses(std::string_view text) {
  constexpr std::string_view kBegin = "{pc:0x";
  std::string out;
  for (;;) {
    const size_t begin = text.find(kBegin);
    const size_t end = begin == std::string_view::npos ? begin : text.find('}', begin);
    if (end == std::string_view::npos) break;
    const std::string_view digits = text.substr(begin + kBegin.size(), end - begin - kBegin.size());
    const uint64_t pc = ParseNumber<uint64_t>(digits, 16).value_or(0);
    out += text.substr(0, begin);
    out += Locate(pc).WhereAndFunction();
    text.remove_prefix(end + 1);
  }
  return out += text;
}

std::string Symbolizer::AccessPpOf(uint64_t pc) {
  const SourceLocation& location = Locate(pc);
  return location.HasLine() ? location.Where() : absl::StrFormat("0x%x", pc);
}

std::vector<std::string> Symbolizer::Resolve(std::string_view name) {
  const std::optional<AccessName> access = ParseAccessName(name);
  if (!access) return {};
  if (access->address != 0) return {std::string(name)};
  std::vector<std::string> names;
  for (const auto& [file, ranges] : implementation_->Find(access->file, access->line)) {
    names.push_back(absl::StrCat(file, ":", access->line));
  }
  return names;
}

std::vector<sched::CodeRange> Symbolizer::RangesOf(std::string_view name) {
  const std::optional<AccessName> access = ParseAccessName(name);
  if (!access) return {};
  if (access->address != 0) return {{access->address - 1, access->address}};
  std::vector<sched::CodeRange> result;
  for (const auto& [file, ranges] : implementation_->Find(access->file, access->line)) {
    result.insert(result.end(), ranges->begin(), ranges->end());
  }
  SortAndMerge(&result);
  return result;
}

void SortAndMerge(std::vector<sched::CodeRange>* ranges) {
  std::sort(ranges->begin(), ranges->end(),
            [](const auto& a, const auto& b) { return a.begin < b.begin; });
  std::vector<sched::CodeRange> merged;
  for (const sched::CodeRange& range : *ranges) {
    if (!merged.empty() && range.begin <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, range.end);
    } else {
      merged.push_back(range);
    }
  }
  *ranges = std::move(merged);
}

std::string BuildIdOfFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return "";
  elf_version(EV_CURRENT);
  Elf* elf = elf_begin(fd, ELF_C_READ_MMAP, nullptr);
  std::string result;
  if (elf != nullptr && elf_kind(elf) == ELF_K_ELF) {
    const void* bytes = nullptr;
    const ssize_t size = dwelf_elf_gnu_build_id(elf, &bytes);
    for (ssize_t i = 0; i < size; ++i) {
      absl::StrAppend(&result,
                      absl::Hex(static_cast<const unsigned char*>(bytes)[i], absl::kZeroPad2));
    }
  }
  elf_end(elf);
  close(fd);
  return result;
}

}  // namespace mc::checker
