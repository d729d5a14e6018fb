#include "sched/interpose/buffer_access.h"

#include "sched/interpose/kernel_arguments.h"
#include "sched/scheduler.h"

namespace mc::sched {
namespace {

bool IsNothing(const void* place, size_t size) {
  return !g_program_running || place == nullptr || size == 0;
}

void Touch(const void* place, size_t size, uint8_t mode, uint64_t pc) {
  if (IsNothing(place, size)) return;
  EngineScope scope;
  g_scheduler.Access(reinterpret_cast<uintptr_t>(place), size, mode, 0, pc);
}

void HasTouched(const void* place, size_t size, uint8_t mode, uint64_t pc) {
  if (IsNothing(place, size)) return;
  EngineScope scope;
  const auto address = reinterpret_cast<uintptr_t>(place);
  g_scheduler.CheckAlive(address, size, mode, pc);
  g_scheduler.RecordMemory(address, size, mode, 0, pc, MemoryOrder::kRelaxed);
}

}  // namespace

void Reads(const void* place, size_t size, uint64_t pc) { Touch(place, size, kRead, pc); }
void Writes(void* place, size_t size, uint64_t pc) { Touch(place, size, kWrite, pc); }
void ReadsAndWrites(void* place, size_t size, uint64_t pc) { Touch(place, size, kReadWrite, pc); }

void WillWrite(const void* place, size_t size, uint64_t pc) {
  if (IsNothing(place, size)) return;
  EngineScope scope;
  g_scheduler.BeforeAccess(reinterpret_cast<uintptr_t>(place), 1, kWrite, 0, pc);
  OpenForKernel(place, size);
}
void HasWritten(const void* place, size_t size, uint64_t pc) {
  HasTouched(place, size, kWrite, pc);
}
void HasRead(const void* place, size_t size, uint64_t pc) { HasTouched(place, size, kRead, pc); }

size_t LengthOf(const char* text) {
  const volatile char* at = text;
  size_t length = 0;
  while (at[length] != 0) ++length;
  return length;
}
void ReadsString(const char* text, uint64_t pc) {
  if (g_program_running && text != nullptr) Reads(text, LengthOf(text) + 1, pc);
}

}  // namespace mc::sched
