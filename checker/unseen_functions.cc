#include "checker/unseen_functions.h"

#include <cxxabi.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "checker/harmless_functions.h"

namespace mc::checker {
namespace {

constexpr size_t kMostShown = 12;
constexpr std::string_view kInstrumentation = "__tsan_";

// What a module takes from others, and what functions it gives.
struct Symbols {
  std::string library;
  std::vector<std::string> undefined;
  std::unordered_set<std::string> functions;
  bool instrumented = false;
};

void AddSymbols(Elf* elf, Elf_Scn* section, const GElf_Shdr& header, Symbols* symbols) {
  Elf_Data* const data = elf_getdata(section, nullptr);
  if (data == nullptr || header.sh_entsize == 0) return;
  const size_t count = header.sh_size / header.sh_entsize;
  for (size_t i = 1; i < count; ++i) {
    GElf_Sym symbol;
    if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) return;
    const char* const name = elf_strptr(elf, header.sh_link, symbol.st_name);
    if (name == nullptr || *name == 0) continue;
    const auto type = GELF_ST_TYPE(symbol.st_info);
    if (symbol.st_shndx == SHN_UNDEF) {
      symbols->instrumented |= std::string_view(name).starts_with(kInstrumentation);
      symbols->undefined.emplace_back(name);
    } else if (type == STT_FUNC || type == STT_GNU_IFUNC) {
      symbols->functions.emplace(name);
    }
  }
}

Symbols ReadSymbols(const std::string& path) {
  Symbols symbols;
  symbols.library = std::filesystem::path(path).filename().string();
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return symbols;
  const absl::Cleanup close_file = [fd] { close(fd); };
  elf_version(EV_CURRENT);
  Elf* const elf = elf_begin(fd, ELF_C_READ_MMAP, nullptr);
  const absl::Cleanup end_elf = [elf] { elf_end(elf); };
  Elf_Scn* section = nullptr;
  while (elf != nullptr && (section = elf_nextscn(elf, section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_DYNSYM) continue;
    AddSymbols(elf, section, header, &symbols);
  }
  return symbols;
}

// "std::filesystem::remove" for the symbol: without what it is given and made for.
std::string ReadableName(const std::string& symbol) {
  int status = 0;
  char* const demangled = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  if (demangled == nullptr) return symbol;
  const absl::Cleanup free_text = [demangled] { std::free(demangled); };
  std::string name;
  int depth = 0;  // of <>
  std::string_view text = demangled;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with("operator")) {
      // Its name may be made of brackets itself.
      const size_t end = text.find('(', i + sizeof "operator()" - 2);
      if (depth == 0) name += text.substr(i, end - i);
      break;
    }
    const char c = text[i];
    if (c == '>') --depth;
    if (depth == 0 && c == '(') break;
    if (depth == 0 && c == ' ') name.clear();  // that was the type of the result
    if (depth == 0 && c != '<' && c != '>' && c != ' ') name += c;
    if (c == '<') ++depth;
  }
  constexpr std::string_view kVersion = "::__cxx11";
  if (const size_t at = name.find(kVersion); at != std::string::npos) {
    name.erase(at, kVersion.size());
  }
  return name;
}

}  // namespace

std::vector<UnseenFunction> FindUnseenFunctions(const std::vector<Module>& modules) {
  std::vector<Symbols> all;
  for (const Module& module : modules) all.push_back(ReadSymbols(module.path));
  // Who defines a function: the first that does.
  std::unordered_map<std::string_view, const Symbols*> definers;
  for (const Symbols& symbols : all) {
    for (const std::string& name : symbols.functions) definers.emplace(name, &symbols);
  }
  std::set<UnseenFunction> unseen;
  for (const Symbols& symbols : all) {
    if (!symbols.instrumented) continue;
    for (const std::string& name : symbols.undefined) {
      const auto found = definers.find(name);
      if (found == definers.end()) continue;
      const Symbols& definer = *found->second;
      if (definer.instrumented || definer.library.starts_with(kRuntimeLibrary)) continue;
      if (!IsHarmless(name, definer.library)) unseen.insert({ReadableName(name), definer.library});
    }
  }
  std::vector<UnseenFunction> sorted(unseen.begin(), unseen.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.library < b.library; });
  return sorted;
}

std::string DescribeUnseenFunctions(const std::vector<UnseenFunction>& functions, bool all) {
  if (functions.empty()) return "";
  std::string text = "note: accesses made inside these library functions are not seen: ";
  const size_t shown = all ? functions.size() : std::min(functions.size(), kMostShown);
  for (size_t i = 0; i < shown; ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", functions[i].name);
    if (i + 1 == shown || functions[i + 1].library != functions[i].library) {
      absl::StrAppend(&text, " (", functions[i].library, ")");
    }
  }
  if (shown < functions.size()) {
    absl::StrAppend(&text, " and ", functions.size() - shown, " more (--verbose shows them)");
  }
  return text;
}

}  // namespace mc::checker
