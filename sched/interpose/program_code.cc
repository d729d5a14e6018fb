#include "sched/interpose/program_code.h"

#include <link.h>

#include <algorithm>

namespace mc::sched {
namespace {

struct Range {
  uint64_t begin = 0, end = 0;
  bool Contains(uint64_t pc) const { return begin <= pc && pc < end; }
};
Range g_loader;

int AddLoader(dl_phdr_info* info, size_t, void*) {
  if (info->dlpi_addr != _r_debug.r_ldbase) return 0;
  g_loader.begin = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD) continue;
    g_loader.end =
        std::max<uint64_t>(g_loader.end, info->dlpi_addr + header.p_vaddr + header.p_memsz);
  }
  return 1;
}

__attribute__((constructor)) void FindModules() { dl_iterate_phdr(AddLoader, nullptr); }

}  // namespace

bool IsLoaderCode(uint64_t pc) { return g_loader.Contains(pc); }

}  // namespace mc::sched
