// What ThreadSanitizer offers programs that are compiled for it: dynamic annotations and the
// functions of <sanitizer/tsan_interface.h>. Such programs have to link here too.
//
// They tell a detector what it cannot see (an order, a lock of the program's own, a race that is
// meant to be). Here every access and every operation is seen, so there is nothing to be told: they
// do nothing, and a race that one of them would hide is reported.
#include <stddef.h>

#include "sched/interpose/export.h"

#define MC_ANNOTATION(name, ...) \
  MC_EXPORT void name(__VA_ARGS__) {}

using File = const char*;
using Address = void*;

MC_ANNOTATION(AnnotateHappensBefore, File, int, Address)
MC_ANNOTATION(AnnotateHappensAfter, File, int, Address)
MC_ANNOTATION(WTFAnnotateHappensBefore, File, int, Address)
MC_ANNOTATION(WTFAnnotateHappensAfter, File, int, Address)
MC_ANNOTATION(AnnotateCondVarSignal, File, int, Address)
MC_ANNOTATION(AnnotateCondVarSignalAll, File, int, Address)
MC_ANNOTATION(AnnotateCondVarWait, File, int, Address, Address)
MC_ANNOTATION(AnnotateMutexIsNotPHB, File, int, Address)
MC_ANNOTATION(AnnotateMutexIsUsedAsCondVar, File, int, Address)
MC_ANNOTATION(AnnotateRWLockCreate, File, int, Address)
MC_ANNOTATION(AnnotateRWLockCreateStatic, File, int, Address)
MC_ANNOTATION(AnnotateRWLockDestroy, File, int, Address)
MC_ANNOTATION(AnnotateRWLockAcquired, File, int, Address, long)
MC_ANNOTATION(AnnotateRWLockReleased, File, int, Address, long)
MC_ANNOTATION(AnnotateTraceMemory, File, int, Address)
MC_ANNOTATION(AnnotateFlushState, File, int)
MC_ANNOTATION(AnnotateNewMemory, File, int, Address, size_t)
MC_ANNOTATION(AnnotateNoOp, File, int, Address)
MC_ANNOTATION(AnnotateFlushExpectedRaces, File, int)
MC_ANNOTATION(AnnotateEnableRaceDetection, File, int, int)
MC_ANNOTATION(AnnotatePCQGet, File, int, Address)
MC_ANNOTATION(AnnotatePCQPut, File, int, Address)
MC_ANNOTATION(AnnotatePCQDestroy, File, int, Address)
MC_ANNOTATION(AnnotatePCQCreate, File, int, Address)
MC_ANNOTATION(AnnotateExpectRace, File, int, Address, File)
MC_ANNOTATION(AnnotateBenignRace, File, int, Address, File)
MC_ANNOTATION(AnnotateBenignRaceSized, File, int, Address, size_t, File)
MC_ANNOTATION(WTFAnnotateBenignRaceSized, File, int, Address, size_t, File)
MC_ANNOTATION(AnnotateIgnoreReadsBegin, File, int)
MC_ANNOTATION(AnnotateIgnoreReadsEnd, File, int)
MC_ANNOTATION(AnnotateIgnoreWritesBegin, File, int)
MC_ANNOTATION(AnnotateIgnoreWritesEnd, File, int)
MC_ANNOTATION(AnnotateIgnoreSyncBegin, File, int)
MC_ANNOTATION(AnnotateIgnoreSyncEnd, File, int)
MC_ANNOTATION(AnnotatePublishMemoryRange, File, int, Address, size_t)
MC_ANNOTATION(AnnotateUnpublishMemoryRange, File, int, Address, size_t)
MC_ANNOTATION(AnnotateThreadName, File, int, File)
MC_ANNOTATION(AnnotateMemoryIsInitialized, File, int, Address, size_t)
MC_ANNOTATION(AnnotateMemoryIsUninitialized, File, int, Address, size_t)
MC_EXPORT int RunningOnValgrind() { return 0; }

MC_ANNOTATION(__tsan_mutex_create, Address, unsigned)
MC_ANNOTATION(__tsan_mutex_destroy, Address, unsigned)
MC_ANNOTATION(__tsan_mutex_pre_lock, Address, unsigned)
MC_ANNOTATION(__tsan_mutex_post_lock, Address, unsigned, int)
MC_EXPORT int __tsan_mutex_pre_unlock(Address, unsigned) { return 1; }
MC_ANNOTATION(__tsan_mutex_post_unlock, Address, unsigned)
MC_ANNOTATION(__tsan_mutex_pre_signal, Address, unsigned)
MC_ANNOTATION(__tsan_mutex_post_signal, Address, unsigned)
MC_ANNOTATION(__tsan_mutex_pre_divert, Address, unsigned)
MC_ANNOTATION(__tsan_mutex_post_divert, Address, unsigned)
