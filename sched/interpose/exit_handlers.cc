// atexit, static destructors, quick_exit handlers.
#include "sched/exit_handlers.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <vector>

#include "sched/c_library.h"
#include "sched/interpose/export.h"
#include "sched/interpose/hook.h"
#include "sched/interpose/shared_state.h"
#include "sched/scheduler.h"

namespace mc::sched {
namespace {

// `initial` handlers were registered before the entry, `added` ones in the running execution. The
// two are kept apart because the first kind's memory belongs to the snapshot.
struct HandlerList {
  std::vector<ExitHandler> initial, added;

  // Last registered first. A handler may register further ones: they run next.
  void Run() {
    size_t left = initial.size();
    while (!added.empty() || left > 0) {
      ExitHandler handler;
      if (!added.empty()) {
        handler = added.back();
        added.pop_back();
      } else {
        handler = initial[--left];
      }
      if (handler.of_program) handler.function(handler.argument);
    }
  }
  bool HasProgramHandlers() const {
    for (const ExitHandler& h : initial) {
      if (h.of_program) return true;
    }
    return !added.empty();
  }
};

struct Lists {
  HandlerList at_exit, at_quick_exit;
  bool hooked = false;  // the C library calls us at a real exit
};

// Static constructors of any file may register handlers before this file's own would have run.
Lists& TheLists() {
  alignas(Lists) static unsigned char memory[sizeof(Lists)];
  static Lists* lists = nullptr;
  if (lists == nullptr) lists = new (memory) Lists;
  return *lists;
}

struct ProgramImage {
  uintptr_t begin = ~uintptr_t{0}, end = 0;
  uintptr_t fini_array = 0;
  size_t fini_count = 0;
};

int DescribeFirstModule(dl_phdr_info* info, size_t, void* argument) {
  auto* image = static_cast<ProgramImage*>(argument);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& h = info->dlpi_phdr[i];
    const uintptr_t at = info->dlpi_addr + h.p_vaddr;
    if (h.p_type == PT_LOAD) {
      image->begin = at < image->begin ? at : image->begin;
      image->end = at + h.p_memsz > image->end ? at + h.p_memsz : image->end;
    }
    if (h.p_type != PT_DYNAMIC) continue;
    for (auto* d = reinterpret_cast<const ElfW(Dyn)*>(at); d->d_tag != DT_NULL; ++d) {
      if (d->d_tag == DT_FINI_ARRAY) image->fini_array = info->dlpi_addr + d->d_un.d_ptr;
      if (d->d_tag == DT_FINI_ARRAYSZ) image->fini_count = d->d_un.d_val / sizeof(void*);
    }
  }
  return 1;
}

const ProgramImage& TheProgram() {
  static ProgramImage image;
  if (image.end == 0) dl_iterate_phdr(DescribeFirstModule, &image);
  return image;
}

void RunAtRealExit(void*) {
  HandlerList& list = TheLists().at_exit;
  while (!list.initial.empty()) {
    const ExitHandler handler = list.initial.back();
    list.initial.pop_back();
    handler.function(handler.argument);
  }
}

void HookRealExit(Lists& lists) {
  if (lists.hooked) return;
  lists.hooked = true;
  using RegisterFunction = int (*)(void (*)(void*), void*, void*);
  const auto real = reinterpret_cast<RegisterFunction>(dlsym(RTLD_NEXT, "__cxa_atexit"));
  real(&RunAtRealExit, nullptr, nullptr);
}

bool IsProgramCode(void (*function)(void*)) {
  const auto address = reinterpret_cast<uintptr_t>(function);
  return address >= TheProgram().begin && address < TheProgram().end;
}

// Which handler runs first depends on which was registered first.
void Register(HandlerList& list, void (*function)(void*), void* argument, uint64_t pc) {
  if (g_program_running) {
    EngineScope scope;
    if (!IsCLibraryCode(pc)) BeforeOperation(kPpLock, pc, OperationDetail::kSystemCall);
    g_scheduler.RecordCell(SharedStateCell(SharedState::kExitHandlers), kReadWrite,
                           kValueRelevant | kAcquire | kRelease, pc);
    list.added.push_back({function, argument, true});
    g_scheduler.Progress();
    AfterOperation(kPpUnlock);
  } else {
    HookRealExit(TheLists());
    list.initial.push_back({function, argument, IsProgramCode(function)});
  }
}

// The first entry is the compiler's own (it unregisters the module), the others are the program's.
bool HasFiniFunctions() { return TheProgram().fini_count > 1; }

void RunFiniFunctions() {
  auto* const* functions = reinterpret_cast<void (**)()>(TheProgram().fini_array);
  for (size_t i = TheProgram().fini_count; i-- > 1;) functions[i]();
}

}  // namespace

void ResetExitHandlers() {
  TheLists().at_exit.added.clear();
  TheLists().at_quick_exit.added.clear();
}

void SaveExitHandlers(AddedExitHandlers* out) {
  out->at_exit = TheLists().at_exit.added;
  out->at_quick_exit = TheLists().at_quick_exit.added;
}

void RestoreExitHandlers(const AddedExitHandlers& from) {
  TheLists().at_exit.added = from.at_exit;
  TheLists().at_quick_exit.added = from.at_quick_exit;
}

bool HasExitHandlers() { return TheLists().at_exit.HasProgramHandlers() || HasFiniFunctions(); }

void RunExitHandlers() {
  TheLists().at_exit.Run();
  if (HasFiniFunctions()) RunFiniFunctions();
}

void RunQuickExitHandlers() { TheLists().at_quick_exit.Run(); }

}  // namespace mc::sched

using mc::sched::TheLists;

// atexit and at_quick_exit are a part of every program that call these two.
MC_EXPORT int __cxa_atexit(void (*function)(void*), void* argument, void*) {
  Register(TheLists().at_exit, function, argument, MC_CALLER_PC());
  return 0;
}
MC_EXPORT int __cxa_at_quick_exit(void (*function)(void*), void*) {
  Register(TheLists().at_quick_exit, function, nullptr, MC_CALLER_PC());
  return 0;
}
// Called when a library is unloaded, and by every module's last fini function: nothing to do.
MC_EXPORT void __cxa_finalize(void*) {}
