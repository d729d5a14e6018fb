// Thread-specific data: pthread keys and C11 tss_t. The C library hands out the keys (its table is
// part of the snapshot); values and destructors are kept here.
#ifndef MC_SCHED_INTERPOSE_THREAD_SPECIFIC_H_
#define MC_SCHED_INTERPOSE_THREAD_SPECIFIC_H_

#include <pthread.h>

#include <cstdint>

namespace mc::sched {

// Return 0 or an errno value.
int CreateKey(pthread_key_t* key, void (*destructor)(void*), uint64_t pc);
int DeleteKey(pthread_key_t key, uint64_t pc);
int SetSpecific(pthread_key_t key, const void* value, uint64_t pc);
void* GetSpecific(pthread_key_t key, uint64_t pc);
// Does an access to this address stand for one to a key?
bool IsKeyPlace(uintptr_t address);

// A key was created outside a controlled execution.
void RememberKey(pthread_key_t key, void (*destructor)(void*));

// Runs the destructors of the calling thread's values, as program code (without an EngineScope).
void RunKeyDestructors();

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_THREAD_SPECIFIC_H_
