#include "sched/interpose/thread_specific.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>

#include "sched/interpose/hook.h"
#include "sched/interpose/real.h"
#include "sched/interpose/shared_state.h"

namespace mc::sched {

namespace {

constexpr uint32_t kMaxKeys = PTHREAD_KEYS_MAX;
constexpr int kDestructorRounds = PTHREAD_DESTRUCTOR_ITERATIONS;

// Written when a key is created; keys are handed out anew in every execution, so what an execution
// leaves here is overwritten before it is used again.
void (*g_destructors[kMaxKeys])(void*);

// Which keys are taken is state that all threads share: creations are ordered.
Cell KeyTableCell() { return SharedStateCell(SharedState::kKeyTable); }

void ForgetValues(pthread_key_t key) {
  for (uint32_t id = 0; id < g_scheduler.thread_limit(); ++id) {
    Thread& thread = g_scheduler.ThreadById(static_cast<ThreadId>(id));
    if (key < thread.specific.size()) thread.specific[key] = nullptr;
  }
}

// Takes the next value that has a destructor out of the calling thread's table, from *key on.
bool TakeValue(uint32_t* key, void** value) {
  EngineScope scope;
  std::vector<void*>& values = g_scheduler.current().specific;
  for (; *key < values.size(); ++*key) {
    if (values[*key] == nullptr || g_destructors[*key] == nullptr) continue;
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
  if (result == 0) ForgetValues(key);
  g_scheduler.Progress();
  AfterOperation(0);
  return result;
}

int SetSpecific(pthread_key_t key, const void* value) {
  if (key >= kMaxKeys) return EINVAL;
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

void* GetSpecific(pthread_key_t key) {
  const Thread& thread = g_scheduler.current();
  if (key < thread.specific.size()) return thread.specific[key];
  return thread.id == 0 && key < kMaxKeys ? Real().pthread_getspecific(key) : nullptr;
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
  return SetSpecific(key, value);
}

MC_HOOK void* pthread_getspecific(pthread_key_t key) {
  if (!g_scheduler.program_running()) return Real().pthread_getspecific(key);
  EngineScope scope;
  return GetSpecific(key);
}
