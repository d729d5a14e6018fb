#include "sched/c_library.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>

namespace mc::sched {

uint64_t g_c_library_begin = 0, g_c_library_size = 0;

namespace {

int AddModule(dl_phdr_info* info, size_t, void* address) {
  uint64_t end = info->dlpi_addr;
  bool is_it = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD) continue;
    const uint64_t begin = info->dlpi_addr + header.p_vaddr;
    const uint64_t inside = reinterpret_cast<uint64_t>(address) - begin;
    is_it |= inside < header.p_memsz;
    end = std::max(end, begin + header.p_memsz);
  }
  if (!is_it) return 0;
  g_c_library_begin = info->dlpi_addr;
  g_c_library_size = end - info->dlpi_addr;
  return 1;
}

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

__attribute__((constructor)) void FindLoader() { dl_iterate_phdr(AddLoader, nullptr); }

}  // namespace

bool IsLoaderCode(uint64_t pc) { return g_loader.Contains(pc); }

void FindCLibrary() {
  // By a function that nobody else defines.
  void* const address = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
  if (address != nullptr) dl_iterate_phdr(AddModule, address);
}

}  // namespace mc::sched
