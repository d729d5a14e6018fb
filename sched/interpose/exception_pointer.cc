// std::exception_ptr and the end of a catch block. The C++ library counts the references to an
// exception object with atomic operations of its own, which no instrumentation shows; promises and
// futures hand exceptions from thread to thread. So the hooks make the access for it.
#include <cxxabi.h>

#include "sched/interpose/hook.h"
#include "sched/interpose/real.h"

namespace mc::sched {

namespace {

// What is needed of libstdc++'s unwind-cxx.h (64-bit): the header that lies before an exception
// object, and that of a dependent exception, which std::rethrow_exception throws in its place.
struct ExceptionHeader {
  void* type_or_primary;  // dependent exceptions: the object that is rethrown
  void* destructor;
  void* handlers[2];
  ExceptionHeader* next;
  int handler_count;
  int switch_value;
  void* catch_data[4];
  uint64_t exception_class;  // the last byte is 1 for a dependent exception
  void* unwinder_data[3];
};
static_assert(sizeof(ExceptionHeader) == 112);

constexpr uintptr_t kCountBeforeObject = 128;  // of __cxa_refcounted_exception

void CountReferences(void* object, uint64_t pc) {
  if (object == nullptr) return;
  EngineScope scope;
  g_scheduler.Access(reinterpret_cast<uintptr_t>(object) - kCountBeforeObject, sizeof(int),
                     kReadWrite, kAtomic, pc, MemoryOrder::kAcqRel);
}

// The object whose handling the end of a catch block ends, or nullptr.
void* ObjectOfEndingCatch() {
  struct Globals {
    ExceptionHeader* caught;
  };
  ExceptionHeader* header = reinterpret_cast<Globals*>(abi::__cxa_get_globals())->caught;
  if (header == nullptr || header->handler_count != 1) return nullptr;
  constexpr uint64_t kGnuCxx = 0x474e5543432b2b;  // "GNUCC++", in all but the last byte
  if (header->exception_class >> 8 != kGnuCxx) return nullptr;
  const bool dependent = (header->exception_class & 0xff) == 1;
  return dependent ? header->type_or_primary : header + 1;
}

}  // namespace

}  // namespace mc::sched

using namespace mc::sched;

MC_HOOK void _ZNSt15__exception_ptr13exception_ptr9_M_addrefEv(void** self) {
  if (g_scheduler.program_running()) CountReferences(*self, MC_CALLER_PC());
  Real().exception_ptr_addref(self);
}

MC_HOOK void _ZNSt15__exception_ptr13exception_ptr10_M_releaseEv(void** self) {
  if (g_scheduler.program_running()) CountReferences(*self, MC_CALLER_PC());
  Real().exception_ptr_release(self);
}

MC_HOOK void __cxa_end_catch() {
  if (g_scheduler.program_running()) CountReferences(ObjectOfEndingCatch(), MC_CALLER_PC());
  Real().__cxa_end_catch();
}
