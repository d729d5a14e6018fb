#include "sched/thread_register.h"

#include <asm/prctl.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace mc::sched {

namespace {

// The place where nothing lies. Fixed, so that it moves no other mapping. What compilers and the C
// library read by the register is at most the storage below it, and the thread's descriptor (a few
// kilobytes) above.
constexpr uintptr_t kNowhereBase = 0x70e000000000;
constexpr size_t kNowhereBelow = size_t{64} << 20;
constexpr size_t kNowhereAbove = size_t{1} << 20;

// A fault costs as much as about this many settings by a system call.
constexpr uint32_t kSettingsPerFault = 4;
constexpr uint32_t kLongestPeriod = 1 << 16;

// A debugger shows what thread-local variables hold by the register.
bool IsTraced() {
  const int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char text[4096];
  const ssize_t size = read(file, text, sizeof text - 1);
  close(file);
  text[std::max<ssize_t>(size, 0)] = 0;
  constexpr char kTracer[] = "\nTracerPid:";
  const char* const tracer = strstr(text, kTracer);
  return tracer != nullptr && atoi(tracer + sizeof kTracer - 1) != 0;
}

// 0 if something lies there. It stays reserved.
uintptr_t ReserveNowhere() {
  static bool reserved = false;
  void* const base = reinterpret_cast<void*>(kNowhereBase);
  reserved = reserved ||
             mmap(base, kNowhereBelow + kNowhereAbove, PROT_NONE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0) == base;
  return reserved ? kNowhereBase + kNowhereBelow : 0;
}

}  // namespace

ThreadRegister g_thread_register;

uintptr_t ReadThreadPointer() {
#if defined(__x86_64__)
  uintptr_t value;
  asm volatile("mov %%fs:0, %0" : "=r"(value));
  return value;
#else
  return reinterpret_cast<uintptr_t>(__builtin_thread_pointer());
#endif
}

void ThreadRegister::Choose(bool faults_come_here, size_t storage_size, std::string_view wanted) {
  constexpr unsigned long kInstructionAllowed = 2;  // HWCAP2_FSGSBASE
  way_ = Way::kSystemCall;
  register_ = running_ = ReadThreadPointer();
  if (wanted == "call") return;
  if (wanted != "demand" && (getauxval(AT_HWCAP2) & kInstructionAllowed) != 0) {
    way_ = Way::kInstruction;
    return;
  }
  if (!faults_come_here || storage_size > kNowhereBelow || IsTraced()) return;
  if (nowhere_ == 0) nowhere_ = ReserveNowhere();
  if (nowhere_ != 0) way_ = Way::kOnDemand;
}

void ThreadRegister::Set(uintptr_t value) {
  register_ = value;
#if defined(__x86_64__)
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(SYS_arch_prctl), "D"(ARCH_SET_FS), "S"(value)
               : "rcx", "r11", "memory");
#elif defined(__aarch64__)
  asm volatile("msr tpidr_el0, %0" : : "r"(value) : "memory");
#endif
}

void ThreadRegister::PointBySystemCall(uintptr_t thread_pointer, StorageUse* use) {
  running_ = thread_pointer;
  use_ = use;
  if (register_ == thread_pointer) return;
  if (way_ == Way::kSystemCall) {
    Set(thread_pointer);
  } else if (use->at_once > 0) {
    --use->at_once;
    Set(thread_pointer);
  } else {
    if (use->without <= kSettingsPerFault) ++use->without;
    if (register_ != nowhere_) Set(nowhere_);
  }
}

void ThreadRegister::PointNow() {
  if (way_ == Way::kOnDemand && register_ != running_) Set(running_);
}

bool ThreadRegister::OnFault(uintptr_t address) {
  if (way_ != Way::kOnDemand || register_ == running_) return false;
  if (address - kNowhereBase >= kNowhereBelow + kNowhereAbove) return false;
  if (use_ != nullptr) {
    const bool often = use_->without <= kSettingsPerFault;
    use_->last_period =
        often ? std::clamp(2 * use_->last_period, kSettingsPerFault, kLongestPeriod) : 0;
    use_->at_once = use_->last_period;
    use_->without = 0;
  }
  Set(running_);
  return true;
}

}  // namespace mc::sched
