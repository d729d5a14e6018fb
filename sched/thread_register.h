// ThreadRegister: the register that tells the code where the running thread's own storage lies
// (FS on x86-64), which is to point to the running fiber's whenever that code looks.
//
// To set it takes one instruction where processor and kernel let programs do it (FSGSBASE), else a
// system call, which can take longer than all the rest of a fiber switch: several microseconds in
// some virtual machines. But most blocks of most programs never look at thread-local storage. So
// where it would take a system call, the register is set on demand: it points to a place where
// there is no memory, the first access by it faults, and the handler (OnFault) points it to the
// running fiber's storage, where it stays until another fiber runs. All accesses by it are to
// memory, also to find out the pointer itself (fs:0); so none can be missed.
//
// A fault takes longer than some system calls. So each thread is watched: one that looks at its
// storage nearly each time it runs is given it at once, for a number of times that doubles as long
// as that goes on.
//
// Invariant: register_ is what the register holds, while the scheduler's OS thread runs. Either it
// is running_, or nobody has looked since running_ was last changed.
#ifndef MC_SCHED_THREAD_REGISTER_H_
#define MC_SCHED_THREAD_REGISTER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mc::sched {

// How often a thread looks at its storage. For the life of its slot.
struct StorageUse {
  uint32_t at_once = 0;      // so many times more the thread is given its storage at once
  uint32_t last_period = 0;  // what at_once was set to last
  uint32_t without = 0;      // how often it has run since without being given its storage
};

class ThreadRegister {
 public:
  enum class Way : uint8_t { kInstruction, kSystemCall, kOnDemand };

  // Chooses the way; called once, by the OS thread whose register it is. On demand only if
  // `faults_come_here`: all faults of this OS thread are shown to OnFault first, and no code that
  // it runs can keep them away. `storage_size`: bytes of storage below the thread pointer.
  // `wanted`: "instruction", "call" or "demand" if it is to be that way, where it can be had (for
  // tests).
  void Choose(bool faults_come_here, size_t storage_size, std::string_view wanted);
  Way way() const { return way_; }

  // The fiber that runs next has its storage at `thread_pointer`.
  void PointTo(uintptr_t thread_pointer, StorageUse* use) {
#if defined(__x86_64__)
    if (way_ == Way::kInstruction) {
      asm volatile("wrfsbase %0" : : "r"(thread_pointer) : "memory");
      return;
    }
#endif
    PointBySystemCall(thread_pointer, use);
  }

  // A fault of this OS thread (or, which makes no difference, of one that is just being created, if
  // PointNow was called before): true if it was for want of storage and the code can go on.
  bool OnFault(uintptr_t address);
  // Without waiting for a fault: before what must not be interrupted by one.
  void PointNow();

 private:
  void PointBySystemCall(uintptr_t thread_pointer, StorageUse* use);
  void Set(uintptr_t value);

  Way way_ = Way::kSystemCall;
  uintptr_t register_ = 0, running_ = 0;
  uintptr_t nowhere_ = 0;  // a thread pointer around which nothing lies
  StorageUse* use_ = nullptr;
};

extern ThreadRegister g_thread_register;

// Where the running code's storage lies.
uintptr_t ReadThreadPointer();

}  // namespace mc::sched

#endif  // MC_SCHED_THREAD_REGISTER_H_
