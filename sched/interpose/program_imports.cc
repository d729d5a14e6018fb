#include "sched/interpose/program_imports.h"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sched/scheduler.h"

namespace mc::sched {

namespace {

constexpr std::string_view kTellsOfThreadEnds[] = {
    "pthread_tryjoin_np",
    "pthread_timedjoin_np",
    "pthread_clockjoin_np",
    "pthread_kill",
    "pthread_sigqueue",
    "tgkill",
    "dlopen",
    "dlsym",
};

// The parts of a module's dynamic section that say which names it refers to. The loader has made
// their addresses absolute, but for those of the kernel's own module.
struct DynamicSection {
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  const ElfW(Rela) * relocations = nullptr;       // of data: also where an address is taken
  const ElfW(Rela) * call_relocations = nullptr;  // of the procedure linkage table
  size_t relocations_size = 0, call_relocations_size = 0;
};

DynamicSection Read(const ElfW(Dyn) * entry) {
  DynamicSection section;
  for (; entry->d_tag != DT_NULL; ++entry) {
    const auto address = entry->d_un.d_ptr;
    switch (entry->d_tag) {
      case DT_SYMTAB:
        section.symbols = reinterpret_cast<const ElfW(Sym)*>(address);
        break;
      case DT_STRTAB:
        section.strings = reinterpret_cast<const char*>(address);
        break;
      case DT_RELA:
        section.relocations = reinterpret_cast<const ElfW(Rela)*>(address);
        break;
      case DT_RELASZ:
        section.relocations_size = entry->d_un.d_val;
        break;
      case DT_JMPREL:
        section.call_relocations = reinterpret_cast<const ElfW(Rela)*>(address);
        break;
      case DT_PLTRELSZ:
        section.call_relocations_size = entry->d_un.d_val;
        break;
      default:
        break;
    }
  }
  return section;
}

bool AnyTells(const DynamicSection& section, const ElfW(Rela) * relocations, size_t size) {
  if (relocations == nullptr) return false;
  for (size_t i = 0; i < size / sizeof *relocations; ++i) {
    const size_t symbol = ELF64_R_SYM(relocations[i].r_info);
    if (symbol == 0) continue;
    const std::string_view name = section.strings + section.symbols[symbol].st_name;
    if (std::ranges::find(kTellsOfThreadEnds, name) != std::end(kTellsOfThreadEnds)) return true;
  }
  return false;
}

// Stops at the first module that refers to one of the names.
int FindInModule(dl_phdr_info* info, size_t, void*) {
  // Not in the page that the kernel gives every process, nor in the loader: neither is relocated by
  // name, and the addresses of the former are relative.
  if (info->dlpi_addr == _r_debug.r_ldbase) return 0;
  if (std::string_view(info->dlpi_name).find("vdso") != std::string_view::npos) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    const uint64_t begin = info->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD && (header.p_flags & PF_X) != 0 && IsEngineCode(begin)) return 0;
  }
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type != PT_DYNAMIC) continue;
    const DynamicSection section =
        Read(reinterpret_cast<const ElfW(Dyn)*>(info->dlpi_addr + header.p_vaddr));
    if (section.symbols == nullptr || section.strings == nullptr) return 0;
    return static_cast<int>(
        AnyTells(section, section.relocations, section.relocations_size) ||
        AnyTells(section, section.call_relocations, section.call_relocations_size));
  }
  return 0;
}

}  // namespace

bool ProgramCanSeeThreadEnds() { return dl_iterate_phdr(FindInModule, nullptr) != 0; }

}  // namespace mc::sched
