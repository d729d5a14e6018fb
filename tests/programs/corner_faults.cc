// Atomic accesses, and locks, in memory that another thread takes away or gives back: in some
// orders they fault, in others not, and all of them are run. corners.txt says what mc must make of
// each.
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "mc/mc.h"

namespace {

constexpr size_t kPage = 4096;
constexpr int kAllowed = PROT_READ | PROT_WRITE;

std::atomic<int>* page;
std::atomic<int> phase{0};

void MapPage(int protection = kAllowed) {
  page = static_cast<std::atomic<int>*>(
      mmap(nullptr, kPage, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}
void Protect(int protection) { mprotect(page, kPage, protection); }
void Unmap() { munmap(page, kPage); }
void ForbidAll() { Protect(PROT_NONE); }
void ForbidWriting() { Protect(PROT_READ); }
void ForbidForAWhile() {
  Protect(PROT_NONE);
  phase = 2;
  Protect(kAllowed);
}

void OnFault(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigaction(SIGSEGV, &action, nullptr);
}
void Abort(int) { abort(); }
void Exit(int) { exit(0); }
void ExitAtOnce(int) { _exit(0); }
void Allow(int) { Protect(kAllowed); }
sigjmp_buf place;
void Leave(int) { siglongjmp(place, 1); }

void Load() { page->load(); }
void Store() { page->store(7); }
void Add() { page->fetch_add(1); }
void Exchange() {
  int expected = 0;
  page->compare_exchange_strong(expected, 5);
}

// The access does not fault if it comes before the memory is taken. It is a failure if that is in
// phase `wanted`.
template <typename Access, typename Take>
void TakenFrom(Access access, Take take, int wanted) {
  std::thread other([=] {
    const int seen = phase;
    access();
    if (seen == wanted) mc_fail("the access was made");
  });
  phase = 1;
  take();
  other.join();
}

}  // namespace

// ---- Without a handler

MC_TEST(LoadJustBeforeUnmap) {
  MapPage();
  TakenFrom(Load, Unmap, 1);
}
MC_TEST(StoreJustBeforeForbidden) {
  MapPage();
  TakenFrom(Store, ForbidWriting, 1);
}
MC_TEST(AddJustBeforeForbidden) {
  MapPage();
  TakenFrom(Add, ForbidAll, 1);
}
MC_TEST(ExchangeJustBeforeForbidden) {
  MapPage();
  TakenFrom(Exchange, ForbidWriting, 1);
}
MC_TEST(LoadAllowedAgain) {
  MapPage();
  TakenFrom(Load, ForbidForAWhile, 2);
}
MC_TEST(StoreAllowedAgain) {
  MapPage();
  TakenFrom(Store, ForbidForAWhile, 0);
}
// As the processor does it, also one that would not write.
MC_TEST(FailingExchangeNeedsWriting) {
  MapPage(PROT_READ);
  int expected = 1;
  page->compare_exchange_strong(expected, 2);
}

// ---- With a handler that ends the program, or leaves

MC_TEST(LoadElseAbort) {
  MapPage();
  OnFault(Abort);
  TakenFrom(Load, Unmap, 0);
}
MC_TEST(StoreElseAbort) {
  MapPage();
  OnFault(Abort);
  TakenFrom(Store, ForbidWriting, 1);
}
MC_TEST(AddElseExit) {
  MapPage();
  OnFault(Exit);
  TakenFrom(Add, Unmap, 0);
}
MC_TEST(ExchangeElseExitAtOnce) {
  MapPage();
  OnFault(ExitAtOnce);
  TakenFrom(Exchange, ForbidAll, 0);
}
MC_TEST(StoreElseLeave) {
  MapPage();
  OnFault(Leave);
  TakenFrom([] { sigsetjmp(place, 1) == 0 ? Store() : std::this_thread::yield(); }, ForbidForAWhile,
            2);
}
// Nothing but a preemption right before the memory is taken shows the access that is made.
template <typename Access, typename Take>
void OnlyInPhaseOne(Access access, Take take) {
  MapPage();
  OnFault(ExitAtOnce);
  std::thread other([=] {
    if (phase == 0) return;
    access();
    mc_fail("the access was made");
  });
  phase = 1;
  take();
  other.join();
}
MC_TEST(LoadInBetween) { OnlyInPhaseOne(Load, Unmap); }
MC_TEST(StoreInBetween) { OnlyInPhaseOne(Store, ForbidWriting); }

// ---- With a handler that gives the memory back

// The access is made as a whole after the handler, with what others have written meanwhile.
MC_TEST(AddsAreRepeatedAsAWhole) {
  MapPage(PROT_READ);
  OnFault(Allow);
  std::thread other(Add);
  Add();
  other.join();
  mc_assert(*page == 2);
}
MC_TEST(OneExchangeIsMade) {
  MapPage(PROT_READ);
  OnFault(Allow);
  const auto exchange = [](bool* made) {
    int expected = 0;
    *made = page->compare_exchange_strong(expected, 1);
  };
  bool first = false, second = false;
  std::thread other(exchange, &first);
  exchange(&second);
  other.join();
  mc_assert(first != second);
}

// ---- Synchronisation objects in the memory

namespace {

struct Objects {
  pthread_mutex_t mutex;
  sem_t semaphore;
  pthread_rwlock_t lock;
};
Objects* objects;

void MapObjects() {
  MapPage();
  objects = reinterpret_cast<Objects*>(page);
  pthread_mutex_init(&objects->mutex, nullptr);
  sem_init(&objects->semaphore, 0, 1);
  pthread_rwlock_init(&objects->lock, nullptr);
}
void Lock() {
  pthread_mutex_lock(&objects->mutex);
  pthread_mutex_unlock(&objects->mutex);
}
void TryToLock() {
  if (pthread_mutex_trylock(&objects->mutex) == 0) pthread_mutex_unlock(&objects->mutex);
}
void WaitAndPost() {
  sem_wait(&objects->semaphore);
  sem_post(&objects->semaphore);
}
void LockForWriting() {
  pthread_rwlock_wrlock(&objects->lock);
  pthread_rwlock_unlock(&objects->lock);
}

}  // namespace

MC_TEST(MutexBeforeUnmap) {
  MapObjects();
  TakenFrom(Lock, Unmap, 0);
}
MC_TEST(MutexJustBeforeUnmap) {
  MapObjects();
  TakenFrom(Lock, Unmap, 1);
}
MC_TEST(MutexAllowedAgain) {
  MapObjects();
  TakenFrom(Lock, ForbidForAWhile, 0);
}
MC_TEST(TriedMutexAllowedAgain) {
  MapObjects();
  TakenFrom(TryToLock, ForbidForAWhile, 0);
}
MC_TEST(SemaphoreAllowedAgain) {
  MapObjects();
  TakenFrom(WaitAndPost, ForbidForAWhile, 0);
}
MC_TEST(ReadWriteLockAllowedAgain) {
  MapObjects();
  TakenFrom(LockForWriting, ForbidForAWhile, 0);
}
// It is the waiting thread that faults, not the one that runs when somebody looks whether it can go
// on; and the other one goes on.
MC_TEST(UnmappedWhileAnotherWaits) {
  MapObjects();
  pthread_mutex_lock(&objects->mutex);
  std::thread other([] {
    phase = 1;
    Lock();
  });
  if (phase == 1) {  // it waits, or is about to
    Unmap();
    phase = 2;
    mc_fail("main has gone on");
  }
  pthread_mutex_unlock(&objects->mutex);
  other.join();
}

// The kernel's writes do not fault: the call fails.
bool MakePipe() { return pipe(reinterpret_cast<int*>(page)) == 0; }
bool AskForFile() { return stat("/", reinterpret_cast<struct stat*>(page)) == 0; }
bool AskForFolder() { return getcwd(reinterpret_cast<char*>(page), kPage) != nullptr; }
int ends[2];
bool ReadPipe() { return read(ends[0], page, 3) == 3; }

// `call` comes before or after the memory may be written. It is a failure if it does what is
// `wanted`.
void WriteByKernel(bool (*call)(), bool wanted) {
  MapPage(PROT_NONE);
  bool works = false;
  std::thread other([] { Protect(kAllowed); });
  works = call();
  other.join();
  if (works == wanted) mc_fail("it did");
}
void WriteFromPipe(bool wanted) {
  if (pipe(ends) != 0 || write(ends[1], "abc", 3) != 3) return;
  WriteByKernel(ReadPipe, wanted);
  close(ends[0]);
  close(ends[1]);
}
MC_TEST(PipeMade) { WriteByKernel(MakePipe, true); }
MC_TEST(PipeRefused) { WriteByKernel(MakePipe, false); }
MC_TEST(FileAskedFor) { WriteByKernel(AskForFile, true); }
MC_TEST(FileRefused) { WriteByKernel(AskForFile, false); }
MC_TEST(FolderAskedFor) { WriteByKernel(AskForFolder, true); }
MC_TEST(FolderRefused) { WriteByKernel(AskForFolder, false); }
MC_TEST(PipeRead) { WriteFromPipe(true); }
MC_TEST(PipeReadRefused) { WriteFromPipe(false); }
