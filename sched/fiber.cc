#include "sched/fiber.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "sched/engine_heap.h"
#include "sched/heap_layout.h"
#include "sched/real_thread.h"
#include "sched/stack_view.h"
#include "sched/system_call_watch.h"
#include "sched/thread_register.h"

namespace mc::sched {

namespace {

constexpr uintptr_t kPageMask = 4095;

size_t g_tls_size = 0;  // bytes of static TLS below the thread pointer

// Static TLS of every module loaded at start lies below the thread pointer (x86-64, variant II).
int AddTlsSize(dl_phdr_info* info, size_t, void*) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type != PT_TLS) continue;
    const size_t align = header.p_align == 0 ? 1 : header.p_align;
    g_tls_size = (g_tls_size + header.p_memsz + align - 1 + align) & ~(align - 1);
  }
  return 0;
}

// Where they are in the descriptor, from the thread pointer on; 0: nowhere.
size_t g_error_text = 0, g_signal_text = 0;

// The calling thread has just been given `text`. Makes as if it had not, but for the memory.
size_t FindAndForget(const char* text) {
  const auto* const size =
      static_cast<const uint32_t*>(dlsym(RTLD_DEFAULT, "_thread_db_sizeof_pthread"));
  const uintptr_t begin = ReadThreadPointer();
  for (size_t at = 0; size != nullptr && at + sizeof(uintptr_t) <= *size; at += sizeof(uintptr_t)) {
    auto* const place = reinterpret_cast<uintptr_t*>(begin + at);
    if (*place != reinterpret_cast<uintptr_t>(text)) continue;
    *place = 0;
    return at;
  }
  return 0;
}

void FindTexts() {
  constexpr int kUnknown = 9999;
  g_error_text = FindAndForget(strerror(kUnknown));
  g_signal_text = FindAndForget(strsignal(kUnknown));
}

struct ParkedThread {
  std::atomic<uint32_t> ready{0};
  uintptr_t thread_pointer = 0;
  std::atomic<uint32_t> never{0};
};

void* Park(void* argument) {
  auto* parked = static_cast<ParkedThread*>(argument);
  parked->thread_pointer = ReadThreadPointer();
  std::atomic<uint32_t>* never = &parked->never;
  parked->ready.store(1);
  syscall(SYS_futex, &parked->ready, 1 /*FUTEX_WAKE*/, 1, nullptr, nullptr, 0);
  // From here on this thread's storage belongs to the fiber: only raw system calls, no errno.
  for (;;) {
#if defined(__x86_64__)
    long result;
    register long timeout asm("r10") = 0;
    asm volatile("syscall"
                 : "=a"(result)
                 : "a"(SYS_futex), "D"(never), "S"(0L /*FUTEX_WAIT*/), "d"(0L), "r"(timeout)
                 : "rcx", "r11", "memory");
#else
    syscall(SYS_futex, never, 0, 0, nullptr, nullptr, 0);
#endif
  }
}

}  // namespace

void InitialiseFibers() {
  g_tls_size = 0;
  dl_iterate_phdr(AddTlsSize, nullptr);
  FindTexts();
  const char* const wanted = getenv("MC_THREAD_REGISTER");
  g_thread_register.Choose(g_system_calls_seen, g_tls_size, wanted == nullptr ? "" : wanted);
}

namespace {

// Takes back what was mapped for a slot there is no thread for: it may be asked for again.
bool GiveUp(void* memory, size_t size) {
  const int error = errno;
  munmap(memory, size);
  errno = error;
  return false;
}

// A real thread that lends its thread-local storage. False with errno on failure.
bool MakeThreadOfSlot(uint32_t index, Slot* slot) {
  const uintptr_t area = kSlotThreadBase + index * kSlotThreadStride;
  // Room for the TLS block, which the C library puts at the top of the stack it is given.
  const size_t size = (128 << 10) + ((g_tls_size + 4095) & ~size_t{4095});
  if (size > kSlotThreadStride) {
    errno = ENOMEM;
    return false;
  }
  void* const memory =
      mmap(reinterpret_cast<void*>(area), size, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (memory == MAP_FAILED) return false;
  auto* parked = new ParkedThread;
  if (!CreateRealThread(memory, size - CacheColour(index), Park, parked)) {
    delete parked;
    return GiveUp(memory, size);
  }
  while (parked->ready.load() == 0) {
    syscall(SYS_futex, &parked->ready, 0 /*FUTEX_WAIT*/, 0, nullptr, nullptr, 0);
  }
  slot->thread_pointer = parked->thread_pointer;
  return true;
}

}  // namespace

bool MakeSlot(uint32_t index, Slot* slot) {
  const uintptr_t area = kFiberStackBase + index * kFiberStackStride;
  slot->stack_high = area + kFiberStackStride - CacheColour(index);
  slot->stack_low = (slot->stack_high - kFiberStackSize) & ~kPageMask;
  const size_t stack_size = area + kFiberStackStride - slot->stack_low;
  void* stack = mmap(reinterpret_cast<void*>(slot->stack_low), stack_size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (stack == MAP_FAILED) return false;
  if (index == 0) {
    slot->thread_pointer = ReadThreadPointer();
  } else if (!MakeThreadOfSlot(index, slot)) {
    return GiveUp(stack, stack_size);
  }
  slot->initial_tls = static_cast<unsigned char*>(EngineAllocate(g_tls_size + 1));
  memcpy(slot->initial_tls, reinterpret_cast<void*>(slot->thread_pointer - g_tls_size), g_tls_size);
  const TextsOfThread texts = FindTextsOfThread(slot->thread_pointer);
  if (texts.error != nullptr) slot->initial_texts[0] = *texts.error;
  if (texts.signal != nullptr) slot->initial_texts[1] = *texts.signal;
  return true;
}

size_t SlotTlsSize() { return g_tls_size; }

TextsOfThread FindTextsOfThread(uintptr_t thread_pointer) {
  TextsOfThread texts;
  if (g_error_text != 0) texts.error = reinterpret_cast<uintptr_t*>(thread_pointer + g_error_text);
  if (g_signal_text != 0) {
    texts.signal = reinterpret_cast<uintptr_t*>(thread_pointer + g_signal_text);
  }
  return texts;
}

bool g_clean_stacks = false;

void ClearStack(uintptr_t stack_low, uintptr_t stack_high) {
  const size_t size = std::min<size_t>(stack_high - stack_low, StackView::kMaxSize);
  memset(reinterpret_cast<void*>(stack_high - size), 0, size);
}

bool GrowStack(Slot* slot, size_t size) {
  if (size <= slot->stack_high - slot->stack_low) return true;
  if (size > kMaxFiberStackSize) {
    errno = ENOMEM;
    return false;
  }
  void* const low = reinterpret_cast<void*>((slot->stack_high - size) & ~kPageMask);
  if (mmap(low, slot->stack_low - reinterpret_cast<uintptr_t>(low), PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0) != low) {
    return false;
  }
  slot->stack_low = reinterpret_cast<uintptr_t>(low);
  return true;
}

void ResetSlotTls(const Slot& slot) {
  memcpy(reinterpret_cast<void*>(slot.thread_pointer - g_tls_size), slot.initial_tls, g_tls_size);
  const TextsOfThread texts = FindTextsOfThread(slot.thread_pointer);
  if (texts.error != nullptr) *texts.error = slot.initial_texts[0];
  if (texts.signal != nullptr) *texts.signal = slot.initial_texts[1];
}

}  // namespace mc::sched
