#include "checker/agent/schedule_text.h"

#include <stdlib.h>

#include "checker/message.h"
#include "sched/operation_detail.h"

namespace mc::checker {
namespace {

using sched::Event;
using sched::MicroAccess;
using sched::OperationKind;
using sched::Trace;

std::string NameOfAccess(const MicroAccess& access) {
  if ((access.flags & sched::kFree) != 0) return "free";
  if ((access.flags & sched::kAllocation) != 0) return "allocate";
  std::string name = (access.flags & sched::kAtomic) != 0 ? "atomic " : "";
  switch (access.mode) {
    case sched::kRead:
      return name + "read";
    case sched::kWrite:
      return name + "write";
    default:
      return name + "read-modify-write";
  }
}

std::string NameOfOperation(const sched::Operation& operation) {
  const std::string_view detail = sched::NameOfOperationDetail(operation.detail);
  if (!detail.empty()) return std::string(detail);
  switch (operation.kind) {
    case OperationKind::kNone:
      return "";
    case OperationKind::kLock:
      return "lock";
    case OperationKind::kReacquire:
      return "re-acquire";
    case OperationKind::kTimedWaiter:
      return "time-out";
    case OperationKind::kWaiter:
      return "wait";
    case OperationKind::kSemaphoreWait:
      return "semaphore wait";
    case OperationKind::kReadLock:
      return "read lock";
    case OperationKind::kWriteLock:
      return "write lock";
    case OperationKind::kJoin:
      return "join";
    case OperationKind::kBarrierDepart:
      return "leave barrier";
    case OperationKind::kSpin:
      return "spin";
    case OperationKind::kDescheduled:
      return "deschedule";
    case OperationKind::kFutexReturn:
      return "return from wait";
    case OperationKind::kHandlerPhase:
      return "exit handlers";
    case OperationKind::kBoundedLoop:
    case OperationKind::kForcedRound:
      return "next round";
  }
  return "";
}

bool IsAccessToMemory(const MicroAccess& access) {
  return sched::KindOf(access.begin) == sched::CellKind::kMemory && access.size > 0 &&
         (access.flags & sched::kObjectBytes) == 0;
}

}  // namespace

std::string DescribeFirstOperation(const Trace& trace, const Event& event) {
  if ((event.flags & sched::kTimedOut) != 0) return "time-out";
  std::string name = NameOfOperation(event.operation);
  if (!name.empty()) return name;
  const auto accesses = trace.AccessesOf(event);
  for (size_t k = 0; k < accesses.size(); ++k) {
    const MicroAccess& access = accesses[k];
    switch (sched::KindOf(access.begin)) {
      case sched::CellKind::kThreadStart:
        return access.mode == sched::kRead ? "start" : "create thread";
      case sched::CellKind::kThreadExit:
        if (access.mode == sched::kWrite) return "end";
        // Memory of a thread is touched: that is there as long as the thread.
        if (k + 1 < accesses.size() && IsAccessToMemory(accesses[k + 1]) &&
            accesses[k + 1].pc == access.pc) {
          continue;
        }
        return "join";
      case sched::CellKind::kMemory:
        if (!IsAccessToMemory(access)) continue;
        return NameOfAccess(access);
      default:
        return access.mode == sched::kRead ? "test" : "synchronise";
    }
  }
  return event.index == 0 ? "start" : "local";
}

uint64_t FirstCodeAddress(const Trace& trace, const Event& event) {
  if (event.operation.pc != 0) return event.operation.pc;
  for (const MicroAccess& access : trace.AccessesOf(event)) {
    if (access.pc != 0) return access.pc;
  }
  return 0;
}

std::string EncodeSteps(const Trace& trace) {
  std::string text;
  for (const Event& event : trace.events) {
    if (!text.empty()) text += ';';
    text += std::to_string(event.thread);
    char separator = ':';
    for (const sched::Choice& choice : trace.ChoicesOf(event)) {
      text += separator;
      text += std::to_string(choice.value);
      separator = '.';
    }
    text += '@';
    text += std::to_string(FirstCodeAddress(trace, event));
    text += '/';
    text += DescribeFirstOperation(trace, event);
  }
  return text;
}

uint64_t CountPreemptions(const Trace& trace) {
  uint64_t count = 0;
  for (const Event& event : trace.events) count += (event.flags & sched::kWasPreemption) != 0;
  return count;
}

bool DecodeSteps(std::string_view text, std::vector<dpor::Step>* steps) {
  steps->clear();
  for (std::string_view part : Split(text, ';')) {
    const std::string decision(part.substr(0, part.find('@')));
    char* at = nullptr;
    const unsigned long thread = strtoul(decision.c_str(), &at, 10);
    if (at == decision.c_str() || thread >= sched::kMaxThreads) return false;
    dpor::Step step;
    step.thread = static_cast<sched::ThreadId>(thread);
    while (*at == ':' || *at == '.') {
      const char* begin = at + 1;
      step.choices.push_back(static_cast<uint32_t>(strtoul(begin, &at, 10)));
      if (at == begin) return false;
    }
    if (*at != 0) return false;
    steps->push_back(std::move(step));
  }
  return true;
}

}  // namespace mc::checker
