#include "sched/interpose/thread_specific.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>

#include "sched/interpose/hook.h"
#include "sched/interpose/program_caller.h"
#include "sched/interpose/real.h"
#include "sched/interpose/shared_state.h"

namespace mc::sched {

namespace {

constexpr uint32_t kMaxKeys = PTHREAD_KEYS_MAX;
constexpr int kDestructorRounds = PTHREAD_DESTRUCTOR_ITERATIONS;

// Written when a key is created; keys are handed out anew in every execution, so what an execution
// leaves here is overwritten before it is used again.
void (*g_destructors[kMaxKeys])(void*);

// Using a key reads it, creating and deleting it writes it, as if its destructor were a variable of
// the program: who uses a key that is deleted meanwhile has a race.
void RecordKey(pthread_key_t key, uint8_t mode, uint64_t pc) {
  const auto place = reinterpret_cast<uintptr_t>(&g_destructors[key]);
  g_scheduler.RecordMemory(place, sizeof g_destructors[key], mode, 0, pc, MemoryOrder::kRelaxed);
}
void BeforeUseOfKey(pthread_key_t key, uint64_t pc) {
  pc = ProgramCaller(pc);
  if (IsEngineCode(pc)) return;  // a key of the C++ library, which it does not delete
  const auto place = reinterpret_cast<uintptr_t>(&g_destructors[key]);
  g_scheduler.Access(place, sizeof g_destructors[key], kRead, 0, pc);
}
// The C library's own lock: whoever gets a number comes after who gave it back.
void RecordReuse(pthread_key_t key, uint64_t pc) {
  g_scheduler.RecordCell(KeyCell(key), kReadWrite, kValueRelevant | kAcquire | kRelease, pc);
}

// Has the C library handed it out? It says so where a value is set, here to what it is.
bool IsTaken(pthread_key_t key) {
  return Real().pthread_setspecific(key, Real().pthread_getspecific(key)) == 0;
}

// Which keys are taken is state that all threads share: creations are ordered.
Cell KeyTableCell() { return SharedStateCell(SharedState::kKeyTable); }

// Stands for a value that was lost with its key: the thread looks at the key at its end all the
// same.
char g_lost_value;

void ForgetValues(pthread_key_t key) {
  for (uint32_t id = 0; id < g_scheduler.thread_limit(); ++id) {
    Thread& thread = g_scheduler.ThreadById(static_cast<ThreadId>(id));
    if (key < thread.specific.size() && thread.specific[key] != nullptr) {
      thread.specific[key] = &g_lost_value;
    }
  }
}
void* ValueOf(const Thread& thread, pthread_key_t key) {
  void* const value = thread.specific[key];
  return value == &g_lost_value ? nullptr : value;
}

// Takes the next value that has a destructor out of the calling thread's table, from *key on.
// Others may delete keys, or make them, between all that the thread did before and that.
bool TakeValue(uint32_t* key, void** value) {
  EngineScope scope;
  std::vector<void*>& values = g_scheduler.current().specific;
  for (; *key < values.size(); ++*key) {
    if (values[*key] == nullptr) continue;
    BeforeOperation(kPpThread, 0, OperationDetail::kKey);
    g_scheduler.RecordCell(KeyCell(*key), kRead, kValueRelevant, 0);
    if (ValueOf(g_scheduler.current(), *key) == nullptr || g_destructors[*key] == nullptr) continue;
    *value = values[*key];
    values[*key] = nullptr;
    return true;
  }
  return false;
}

}  // namespace

int CreateKey(pthread_key_t* key, void (*destructor)(void*), uint64_t pc) {
  BeforeOperation(0, pc, OperationDetail::kKey);
  g_scheduler.RecordCell(KeyTableCell(), kReadWrite, kValueRelevant, pc);
  pthread_key_t created;
  const int result = Real().pthread_key_create(&created, nullptr);
  if (result == 0) {
    RecordReuse(created, pc);
    RecordKey(created, kWrite, pc);
    if (g_destructors[created] != destructor) {
      g_destructors[created] = destructor;
      g_scheduler.DropCheckpoints();
    }
    ForgetValues(created);
    g_scheduler.RecordMemory(reinterpret_cast<uintptr_t>(key), sizeof *key, kWrite, 0, pc,
                             MemoryOrder::kRelaxed);
    *key = created;
  }
  g_scheduler.Progress();
  AfterOperation(0);
  return result;
}

int DeleteKey(pthread_key_t key, uint64_t pc) {
  BeforeOperation(0, pc, OperationDetail::kKey);
  g_scheduler.RecordCell(KeyTableCell(), kReadWrite, kValueRelevant, pc);
  const int result = Real().pthread_key_delete(key);
  if (result == 0) {
    RecordKey(key, kWrite, pc);
    RecordReuse(key, pc);
    ForgetValues(key);
  }
  g_scheduler.Progress();
  AfterOperation(0);
  return result;
}

int SetSpecific(pthread_key_t key, const void* value, uint64_t pc) {
  if (key >= kMaxKeys) return EINVAL;
  BeforeUseOfKey(key, pc);
  if (!IsTaken(key)) return EINVAL;
  std::vector<void*>& values = g_scheduler.current().specific;
  if (key >= values.size()) {
    // Values that were set before the execution began are still in the C library's table.
    const size_t known = values.size();
    values.resize(key + 1);
    for (size_t i = known; i < values.size(); ++i) {
      values[i] = g_scheduler.current().id == 0
                      ? Real().pthread_getspecific(static_cast<pthread_key_t>(i))
                      : nullptr;
    }
  }
  values[key] = const_cast<void*>(value);
  g_scheduler.Progress();
  return 0;
}

void* GetSpecific(pthread_key_t key, uint64_t pc) {
  if (key >= kMaxKeys) return nullptr;
  BeforeUseOfKey(key, pc);
  const Thread& thread = g_scheduler.current();
  if (key < thread.specific.size()) return ValueOf(thread, key);
  return thread.id == 0 ? Real().pthread_getspecific(key) : nullptr;
}

bool IsKeyPlace(uintptr_t address) {
  return address - reinterpret_cast<uintptr_t>(g_destructors) < sizeof g_destructors;
}

void RememberKey(pthread_key_t key, void (*destructor)(void*)) {
  if (key < kMaxKeys) g_destructors[key] = destructor;
}

void RunKeyDestructors() {
  for (int round = 0; round < kDestructorRounds; ++round) {
    bool any = false;
    uint32_t key = 0;
    void* value;
    while (TakeValue(&key, &value)) {
      any = true;
      g_destructors[key](value);
      ++key;  // what it sets again is for the next round
    }
    if (!any) return;
  }
}

}  // namespace mc::sched

using namespace mc::sched;

MC_HOOK int pthread_key_create(pthread_key_t* key, void (*destructor)(void*)) {
  if (!g_scheduler.program_running()) {
    const int result = Real().pthread_key_create(key, destructor);
    if (result == 0) RememberKey(*key, destructor);
    return result;
  }
  EngineScope scope;
  return CreateKey(key, destructor, MC_CALLER_PC());
}

MC_HOOK int __pthread_key_create(pthread_key_t* key, void (*destructor)(void*)) {
  return pthread_key_create(key, destructor);
}

MC_HOOK int pthread_key_delete(pthread_key_t key) {
  if (!g_scheduler.program_running()) return Real().pthread_key_delete(key);
  EngineScope scope;
  return DeleteKey(key, MC_CALLER_PC());
}

MC_HOOK int pthread_setspecific(pthread_key_t key, const void* value) {
  if (!g_scheduler.program_running()) return Real().pthread_setspecific(key, value);
  EngineScope scope;
  return SetSpecific(key, value, MC_CALLER_PC());
}

MC_HOOK void* pthread_getspecific(pthread_key_t key) {
  if (!g_scheduler.program_running()) return Real().pthread_getspecific(key);
  EngineScope scope;
  return GetSpecific(key, MC_CALLER_PC());
}
