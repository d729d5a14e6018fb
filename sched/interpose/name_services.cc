#include "sched/interpose/name_services.h"

#include <dlfcn.h>
#include <errno.h>
#include <pwd.h>

#include "sched/interpose/real_function.h"
#include "sched/interpose/shared_library.h"
#include "sched/scheduler.h"
#include "sched/system_call_watch.h"

namespace mc::sched {
namespace {

// Functions that begin to read a list, and that end it: they go to every library that has one.
struct List {
  const char *begin, *end;
};
constexpr List kLists[] = {
    {"setpwent", "endpwent"},     {"setgrent", "endgrent"},   {"sethostent", "endhostent"},
    {"setservent", "endservent"}, {"setnetent", "endnetent"}, {"setprotoent", "endprotoent"},
};

// Some take an argument: whether a connection stays open.
void Call(const char* name) {
  void* const function = dlsym(RTLD_NEXT, name);
  if (function != nullptr) reinterpret_cast<void (*)(int)>(function)(0);
}

// A name that no list has: all are asked, and prepare for being asked again.
void AskForUser() {
  static decltype(&::getpwnam_r) known;
  passwd user, *found = nullptr;
  char place[1024];
  Find(&known, "getpwnam_r")("?", &user, place, sizeof place, &found);
}

}  // namespace

void LoadNameServices() {
  static bool loaded = false;  // for good
  if (loaded || !g_program_running) return;
  loaded = true;
  EngineScope scope;
  const int saved_errno = errno;
  g_system_call_made = true;  // no checkpoint knows what the loader has done
  g_scheduler.snapshot().BeginLibraryChange();
  BeginLibraryLoad();
  for (const List& list : kLists) {
    Call(list.begin);
    Call(list.end);
  }
  AskForUser();
  g_scheduler.snapshot().EndLibraryChange();
  EndLibraryLoad();
  g_scheduler.snapshot().TakeNew();
  AddWritableData(&g_scheduler.snapshot());
  g_scheduler.snapshot().TakeNew();
  errno = saved_errno;
}

}  // namespace mc::sched
