// std::pmr: the resources that are not made for several threads at once. Their functions are
// compiled into the library; by the contract each of them changes the resource, and that is what is
// recorded. (The synchronised pool takes a lock, which is seen, and the resources over it are
// headers or the heap.)
#include "sched/interpose/standard_memory_resources.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory_resource>

#include "sched/interpose/export.h"
#include "sched/interpose/library_access.h"
#include "sched/interpose/real.h"

namespace mc::sched {
namespace {

template <typename Resource>
class Change : public AccessDuringCall {
 public:
  Change(const Resource* resource, uint64_t pc)
      : AccessDuringCall(ContentOf(resource), kContentSize<Resource>, kReadWrite, pc) {}
};

using Pool = std::pmr::unsynchronized_pool_resource;
using Monotonic = std::pmr::monotonic_buffer_resource;

using AllocateFunction = void* (*)(Monotonic*, size_t, size_t);
AllocateFunction g_monotonic_allocate = nullptr;

void* MonotonicAllocate(Monotonic* self, size_t size, size_t alignment) {
  const Change change(self, MC_CALLER_PC());
  return g_monotonic_allocate(self, size, alignment);
}

}  // namespace

void HookMemoryResources() {
  // Offset and type come first, then two destructors, then do_allocate.
  constexpr size_t kAllocate = 4;
  auto* const table = static_cast<AllocateFunction*>(
      dlsym(RTLD_DEFAULT, "_ZTVNSt3pmr25monotonic_buffer_resourceE"));
  if (table == nullptr) return;
  AllocateFunction* const place = table + kAllocate;
  const auto page_size = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  auto* const page = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(place) & ~(page_size - 1));
  if (mprotect(page, page_size, PROT_READ | PROT_WRITE) != 0) return;
  g_monotonic_allocate = *place;
  *place = &MonotonicAllocate;
  mprotect(page, page_size, PROT_READ);
}

}  // namespace mc::sched

using namespace mc::sched;  // NOLINT: the functions below are the library's

MC_EXPORT void* _ZNSt3pmr28unsynchronized_pool_resource11do_allocateEmm(Pool* self, size_t size,
                                                                        size_t alignment) {
  const Change change(self, MC_CALLER_PC());
  return Real().pool_allocate(self, size, alignment);
}
MC_EXPORT void _ZNSt3pmr28unsynchronized_pool_resource13do_deallocateEPvmm(Pool* self, void* block,
                                                                           size_t size,
                                                                           size_t alignment) {
  const Change change(self, MC_CALLER_PC());
  Real().pool_deallocate(self, block, size, alignment);
}
MC_EXPORT void _ZNSt3pmr28unsynchronized_pool_resource7releaseEv(Pool* self) {
  const Change change(self, MC_CALLER_PC());
  Real().pool_release(self);
}
MC_EXPORT void _ZNSt3pmr25monotonic_buffer_resource13_M_new_bufferEmm(Monotonic* self, size_t size,
                                                                      size_t alignment) {
  const Change change(self, MC_CALLER_PC());
  Real().monotonic_new_buffer(self, size, alignment);
}
MC_EXPORT void _ZNSt3pmr25monotonic_buffer_resource18_M_release_buffersEv(Monotonic* self) {
  const Change change(self, MC_CALLER_PC());
  Real().monotonic_release_buffers(self);
}
