// dlopen and dlclose. A library that a program loads stays loaded for good: the loader's own state
// is not part of the snapshot, and its blocks come from the engine's heap. What the library's
// constructors leave, in its variables and in the blocks they allocate (library_heap.h), is how
// every execution finds it. Nothing is unloaded, so the destructors do not run.
#include "sched/interpose/shared_library.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include <algorithm>
#include <string>

#include "sched/interpose/hook.h"
#include "sched/library_heap.h"
#include "sched/scheduler.h"
#include "sched/system_call_watch.h"

namespace mc::sched {

namespace {

// Modules with thread-local storage, which would have to be reset for every thread.
int CountThreadStorage(dl_phdr_info* info, size_t, void* count) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type == PT_TLS) ++*static_cast<int*>(count);
  }
  return 0;
}
int ModulesWithThreadStorage() {
  int count = 0;
  dl_iterate_phdr(CountThreadStorage, &count);
  return count;
}

// The loader's code: [begin, end).
struct LoaderRange {
  uintptr_t begin = 0, end = 0;
};
int FindLoader(dl_phdr_info* info, size_t, void* argument) {
  auto& range = *static_cast<LoaderRange*>(argument);
  if (info->dlpi_addr != _r_debug.r_ldbase) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD) continue;
    range.begin = info->dlpi_addr;
    range.end = std::max(range.end, info->dlpi_addr + header.p_vaddr + header.p_memsz);
  }
  return 1;
}

void* RealOpen(const char* name, int flags) {
  using Function = void* (*)(const char*, int);
  static const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "dlopen"));
  if (!g_scheduler.InProgramThread()) return real(name, flags);
  BeginLibraryLoad();
  void* const handle = real(name, flags);
  EndLibraryLoad();
  return handle;
}

// Where the module that contains `caller` asks for libraries to be looked for (DT_RUNPATH); the
// loader thinks that the engine's library is the one that asks.
std::string SearchPathOf(const void* caller) {
  Dl_info info;
  link_map* map = nullptr;
  if (dladdr1(caller, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0) return "";
  const char* strings = nullptr;
  size_t offset = 0;
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_RUNPATH) offset = entry->d_un.d_val;
  }
  if (strings == nullptr || offset == 0) return "";
  std::string path = strings + offset;
  std::string origin = info.dli_fname;
  origin.resize(origin.rfind('/') == std::string::npos ? 0 : origin.rfind('/'));
  for (const std::string word : {"${ORIGIN}", "$ORIGIN"}) {
    for (size_t at; (at = path.find(word)) != std::string::npos;) {
      path.replace(at, word.size(), origin.empty() ? "." : origin);
    }
  }
  return path;
}

void* OpenFor(const void* caller, const char* name, int flags) {
  if (name != nullptr && strchr(name, '/') == nullptr) {
    const std::string path = SearchPathOf(caller);
    for (size_t begin = 0; begin < path.size();) {
      const size_t end = std::min(path.find(':', begin), path.size());
      const std::string file = path.substr(begin, end - begin) + "/" + name;
      if (void* handle = RealOpen(file.c_str(), flags)) return handle;
      begin = end + 1;
    }
  }
  return RealOpen(name, flags);
}

}  // namespace

void BeginLibraryLoad() {
  static const LoaderRange loader = [] {
    LoaderRange range;
    dl_iterate_phdr(FindLoader, &range);
    return range;
  }();
  BeginLoading(loader.begin, loader.end);
}
void EndLibraryLoad() {
  const uintptr_t blocks = EndLoading();
  g_scheduler.snapshot().AddRegion(blocks, LibraryHeapEnd(), false);
}

}  // namespace mc::sched

using namespace mc::sched;

MC_HOOK void* dlopen(const char* name, int flags) {
  const void* const caller = __builtin_return_address(0);
  if (!g_scheduler.program_running()) return OpenFor(caller, name, flags);
  EngineScope scope;
  g_system_call_made = true;  // no checkpoint knows what the loader has done
  const int before = ModulesWithThreadStorage();
  void* const handle = OpenFor(caller, name, flags | RTLD_NODELETE);
  g_scheduler.snapshot().TakeNew();
  if (handle == nullptr) return nullptr;
  if (ModulesWithThreadStorage() != before) {
    Unsupported("dlopen of a library with thread-local variables");
  }
  AddWritableData(&g_scheduler.snapshot());
  g_scheduler.snapshot().TakeNew();
  return handle;
}

MC_HOOK int dlclose(void* handle) {
  if (!g_scheduler.program_running()) {
    static const auto real = reinterpret_cast<int (*)(void*)>(dlsym(RTLD_NEXT, "dlclose"));
    return real(handle);
  }
  return 0;
}
