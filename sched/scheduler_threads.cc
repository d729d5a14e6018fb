// The part of the Scheduler that keeps its threads: slots, made ahead and handed out by name.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>

#include "sched/scheduler.h"

namespace mc::sched {

namespace {

// A name as one word, never 0.
uint64_t SharedName(ThreadId creator, uint32_t ordinal) {
  return uint64_t{1} << 63 | uint64_t{creator} << 32 | ordinal;
}
ThreadId CreatorOf(uint64_t name) { return static_cast<ThreadId>(name >> 32); }
uint32_t OrdinalOf(uint64_t name) { return static_cast<uint32_t>(name); }

}  // namespace

// As many as that, or as the system gives.
void Scheduler::MakeSlots(size_t count) {
  if (program_begun_) snapshot_.BeginLibraryChange();
  DropCheckpoints();  // the C library has more threads now
  for (; count > 0 && slots_.size() < kMaxThreads; --count) {
    Slot slot;
    slot_error_ = 0;
    if (!MakeSlot(static_cast<uint32_t>(slots_.size()), &slot)) {
      slot_error_ = errno;
      break;
    }
    slots_.push_back(slot);
  }
  if (program_begun_) snapshot_.EndLibraryChange();
}

std::string Scheduler::WhyNoMoreThreads() const {
  if (slots_.size() == kMaxThreads) {
    return "the program has more than " + std::to_string(kMaxThreads) +
           " threads in all its executions together, which is what mc can tell apart. Let the test "
           "make fewer";
  }
  const std::string text = "the program makes a thread, and the system gives no more than the " +
                           std::to_string(slots_.size()) + " that mc has (" +
                           strerror(slot_error_) + "). ";
  return text + (slot_error_ == ENOMEM
                     ? "Allow more address space or memory (ulimit -v, the container's limit), or "
                       "let the test make fewer"
                     : "Allow more (ulimit -u, the pids limit of the container or of systemd), or "
                       "let the test make fewer");
}

Thread& Scheduler::MakeThread(ThreadId creator, uint32_t ordinal) {
  if (creator != kNoThread && ordinal < threads_[creator]->children.size()) {
    return *threads_[threads_[creator]->children[ordinal]];
  }
  if (shared_names_ == nullptr) return AddThread(creator, ordinal);
  // In the first free place, unless another process was there before.
  const uint64_t name = SharedName(creator, ordinal);
  while (threads_.size() < kMaxThreads) {
    uint64_t entered = 0;
    shared_names_[threads_.size()].compare_exchange_strong(entered, name);
    if (entered == 0) entered = name;
    Thread& thread = AddThread(CreatorOf(entered), OrdinalOf(entered));
    if (entered == name || &thread == &engine_) return thread;
  }
  return engine_;
}

void Scheduler::ShareNames(std::atomic<uint64_t>* names) {
  shared_names_ = names;
  for (const Thread* thread : threads_) {
    names[thread->id].store(SharedName(thread->creator, thread->ordinal));
  }
}

// The name must be new.
Thread& Scheduler::AddThread(ThreadId creator, uint32_t ordinal) {
  const auto id = static_cast<ThreadId>(threads_.size());
  auto* thread = new Thread;
  thread->id = id;
  thread->creator = creator;
  thread->ordinal = ordinal;
  if (id == slots_.size()) MakeSlots(std::max(slots_.size(), size_t{1}));
  if (id == slots_.size()) {
    delete thread;
    return engine_;  // the caller sees a thread that is not a program thread: no resources
  }
  const Slot& slot = slots_[id];
  thread->thread_pointer = slot.thread_pointer;
  thread->stack_low = slot.stack_low;
  thread->stack_high = slot.stack_high;
  thread->spin.Reset(slot.stack_high);
  threads_.push_back(thread);
  if (creator != kNoThread) threads_[creator]->children.push_back(id);
  return *thread;
}

std::string Scheduler::NameOfThread(ThreadId id) const {
  const Thread& t = *threads_[id];
  if (t.creator == kNoThread) return "0";
  return NameOfThread(t.creator) + "." + std::to_string(t.ordinal);
}

void Scheduler::PrepareNames(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    ThreadId id = 0;
    const char* at = strchr(name.c_str(), '.');
    while (at != nullptr) {
      const uint32_t ordinal = static_cast<uint32_t>(strtoul(at + 1, nullptr, 10));
      if (ordinal > threads_[id]->children.size()) break;  // not a name this process can have
      Thread& child = MakeThread(id, ordinal);
      if (&child == &engine_) return;
      id = child.id;
      at = strchr(at + 1, '.');
    }
  }
}

void Scheduler::ResetThread(Thread& thread) {
  static_cast<ThreadState&>(thread) = new_thread_;
  if (!thread.AllEmpty()) static_cast<ThreadLists&>(thread) = no_lists_;  // they keep their memory
  thread.spin.Reset(thread.stack_high);
}

void Scheduler::ResetThreads() {
  for (uint32_t id = 0; id < thread_limit_; ++id) {
    Thread& t = *threads_[id];
    if (!t.exists) continue;
    ResetSlotTls(slots_[id]);
    ResetThread(t);
  }
}

}  // namespace mc::sched
