#include "sched/interpose/hook.h"

#include <cstdio>
#include <utility>

namespace mc::sched {

namespace {

std::string HexOf(const volatile void* address) {
  char text[24];
  const int length =
      snprintf(text, sizeof text, "0x%llx",
               static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(address)));
  return std::string(text, static_cast<size_t>(length));
}

}  // namespace

void RecordLookAtObject(const volatile void* object, uint64_t pc) {
  MicroAccess look;
  look.begin = reinterpret_cast<uintptr_t>(object);
  look.pc = pc;
  look.size = 1;
  look.flags = kValueRelevant | kObjectBytes | kBlockingTest;
  look.mode = kRead;
  g_scheduler.Record(look);
}

void TouchObject(const volatile void* object, size_t size, uint8_t mode, uint64_t pc) {
  const uintptr_t address = reinterpret_cast<uintptr_t>(object);
  if (ProgramHeap::Contains(address) && g_scheduler.heap().IsBadAccess(address, size))
      [[unlikely]] {
    const AddressDescription found =
        g_scheduler.heap().Describe(ProgramHeap::FirstBadAddress(address, size));
    const bool overrun = found.verdict == AddressVerdict::kHeapOverrun;
    g_scheduler.ReportBug(
        overrun ? BugKind::kHeapOverrun : BugKind::kUseAfterFree,
        "operation on the synchronisation object " + HexOf(object) +
            (overrun ? ", which reaches beyond its heap block" : ", whose memory has been freed"),
        pc);
  }
  g_scheduler.BeforeAccessToThread(address, size, kRead, pc);
  g_scheduler.NoteObjectChange(object, size);
  g_scheduler.RecordObject(object, size, mode, pc);
}

std::string NameOfOwner(uint32_t owner) {
  return owner == 0 ? std::string("no thread") : "thread " + std::to_string(owner - 1);
}

std::string NameOfObject(const char* kind, const volatile void* object) {
  return std::string(kind) + " " + HexOf(object);
}

int Misuse(std::string message, uint64_t pc, int error) {
  g_scheduler.ReportBug(BugKind::kSyncMisuse, std::move(message), pc);
  return error;
}

void Unsupported(const std::string& what) {
  g_scheduler.HarnessError("the harness uses " + what +
                           ", which mc does not support. Replace it in the test, or leave this "
                           "part out of it.");
}

void RememberHeld(Thread& thread, const volatile void* object, uint64_t pc, bool robust) {
  thread.held.push_back({reinterpret_cast<uintptr_t>(object), pc, robust});
}

void ForgetHeld(Thread& thread, const volatile void* object) {
  const uintptr_t address = reinterpret_cast<uintptr_t>(object);
  for (size_t i = thread.held.size(); i-- > 0;) {
    if (thread.held[i].object != address) continue;
    thread.held.erase(thread.held.begin() + static_cast<std::ptrdiff_t>(i));
    return;
  }
}

}  // namespace mc::sched
