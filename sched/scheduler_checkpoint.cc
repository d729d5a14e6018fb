// The part of the Scheduler that makes checkpoints and goes back to them.
#include "sched/exit_handlers.h"
#include "sched/scheduler.h"
#include "sched/system_call_watch.h"

namespace mc::sched {

bool Scheduler::MakeCheckpoint(Checkpoint* out) {
  if (!options_.checkpoints || !g_system_calls_seen || g_system_call_made ||
      !result_.bugs.empty() || !result_.log.empty())
    return false;
  out->memory.Clear();
  out->page_count = snapshot_.page_count();
  if (snapshot_.page_bytes() > CheckpointStack::kMaxBytes) return false;
  snapshot_.Save(&out->memory);
  if (out->threads.size() < thread_limit_) out->threads.resize(thread_limit_);
  for (uint32_t id = 0; id < thread_limit_; ++id) {
    if (!SaveThread(*threads_[id], &out->threads[id], &out->memory)) return false;
    if (out->memory.size() > CheckpointStack::kMaxBytes) return false;
  }
  if (!heap_.Save(CheckpointStack::kMaxBytes, &out->heap)) return false;
  SaveExitHandlers(&out->exit_handlers);
  out->position = next_position_;
  out->scheduler = *this;
  out->exit_status = result_.exit_status;
  out->barrier_overcrowded = result_.barrier_overcrowded;
  out->needs_full_footprints = result_.needs_full_footprints;
  return true;
}

bool Scheduler::SaveThread(const Thread& thread, Checkpoint::SavedThread* out,
                           MemoryCopy* memory) const {
  static_cast<ThreadStanding&>(out->state) = thread;
  const bool empty = thread.AllEmpty();
  if (!empty || !out->lists_are_empty) out->lists = thread;
  out->lists_are_empty = empty;
  if (!thread.exists || out->had_ended()) return true;
  out->state = thread;
  out->spin_is_idle = thread.spin.IsIdle();
  if (out->spin_is_idle) {
    out->spin = thread.spin.counters();
  } else {
    out->spin_memory = thread.spin.memory();
  }
  thread.spin.stack().Save(&out->stack);
  if (!thread.started || thread.status != ThreadStatus::kRunnable) return true;
  const auto stack = reinterpret_cast<uintptr_t>(thread.context);
  memory->Add(thread.context, thread.stack_high - stack);
  memory->Add(reinterpret_cast<const void*>(thread.thread_pointer - SlotTlsSize()), SlotTlsSize());
  const TextsOfThread texts = FindTextsOfThread(thread.thread_pointer);
  if (texts.error != nullptr) memory->Add(texts.error, sizeof *texts.error);
  if (texts.signal != nullptr) memory->Add(texts.signal, sizeof *texts.signal);
  return true;
}

void Scheduler::ReturnTo(const Checkpoint& from) {
  for (uint32_t id = 0; id < thread_limit_; ++id) {
    Thread& t = *threads_[id];
    const bool exists = id < from.scheduler.thread_limit_ && from.threads[id].state.exists;
    if (t.exists && (!exists || !from.threads[id].state.started)) ResetSlotTls(slots_[id]);
    if (exists) {
      const Checkpoint::SavedThread& saved = from.threads[id];
      if (!saved.lists_are_empty || !t.AllEmpty()) static_cast<ThreadLists&>(t) = saved.lists;
      if (saved.had_ended()) {  // and still has: the rest of it is as it was
        static_cast<ThreadStanding&>(t) = saved.state;
        continue;
      }
      static_cast<ThreadState&>(t) = saved.state;
      if (saved.spin_is_idle) {
        t.spin.RestoreIdle(saved.spin);
      } else {
        t.spin.Restore(saved.spin_memory);
      }
      t.spin.stack().Restore(saved.stack);
    } else if (t.exists) {
      ResetThread(t);
    }
  }
  static_cast<SchedulerState&>(*this) = from.scheduler;
  result_.exit_status = from.exit_status;
  result_.barrier_overcrowded = from.barrier_overcrowded;
  result_.needs_full_footprints = from.needs_full_footprints;
  snapshot_.RestoreSince(from.page_count);
  heap_.RestoreTo(from.heap);
  from.memory.PutBack();
  RestoreExitHandlers(from.exit_handlers);
  if (mirror_count_ != nullptr) mirror_count_->store(mirror_size_, std::memory_order_release);
}

void Scheduler::DropCheckpoints() { checkpoints_.Clear(); }

}  // namespace mc::sched
