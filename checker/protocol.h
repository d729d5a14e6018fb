// The conversation between the supervisor and the harness process.
//
// The supervisor (mc, or the process mc::Check runs in) starts the harness with an open stream
// socket (MC_CONTROL_FD), a shared memory file (MC_SHARED_FD, a SharedState), address randomisation
// off and standard input from /dev/null. At its entry (main, or the n-th mc::Check) the harness
// turns into a *zygote*: it says hello and forks one *worker* at a time. A worker keeps the
// searches (one per job, so that a suspended one costs only its tree) and runs executions. When it
// dies the zygote says so and can fork another: what the supervisor already heard is never lost.
//
// From the zygote:
//   hello version= abi= build_id= pid= executable= tests=a;b;c modules=PATH,BASE,END;... entry=
//   worker-started pid=
//   worker-died pid= status= (a wait status) rss= (the most memory it took, in kilobytes)
//   error message= errno=     (the harness cannot be used; it exits)
// To the zygote:  fork    quit
//
// To the worker:
//   job id= strategy= classes=(PreemptionPointClass bits) ranges=BEGIN,END;... test= seed=
//       race=limited-hb|hb heap=thread|recycle|fresh exit=wait|immediate overruns=0|1 spurious=0|1
//       fair=0|1
//       max_steps= output=0|1 (let the program's output through) disabled=REFINEMENT;...
//       schedule=STEP;STEP;... (strategy=replay; of strategy=recorded KEPT/STEP;STEP;...|KEPT/...:
//       several, each with as many steps of the one before) narrate=0|1 tree=0|1 (stream explored
//       executions) sites=0xPC;... (what `all` preempts before, as a restart told; for
//       strategy=replay) threads=NAME;... (thread names in slot order, see ThreadName)
//       final_states=0|1 traces=0|1 no_detection=0|1 policy=stay|lowest|highest|random
//       mutate=NAME (test builds)
//       workers= (processes that may share the search) eager=0|1 (at once, for tests)
//       memory= (bytes one may use, 0: no limit) requests= (of these, for what searches have still
//       to do) spill= (folder for what there is no memory for)
//       executions= (of a sampling strategy: how many; of strategy=law-check: pairs of events)
//       record=0|1 (stream what is recorded of executions, for a certificate)
//       full_barriers=0|1 (as a restart told) preemptions= (strategy=bounded: at most so many; else
//       0, 1, 2, ... in turn) depth= (strategy=pct) delays= (strategy=delay)
//   run id= executions= milliseconds= stop_on_bug=0|1     as far as the limits allow; then paused
//   or complete drop id= quit
//   save id=     between runs: asks for the state of the job's search
//   state id= part=    between job and the first run: goes on with a search that another process
//        saved; the pieces of a saved one in their order, and sites= as its last restart told
// Also SharedState.stop_requested stops a run after the current execution.
//
// From the worker:
//   progress id= executions= blocked= transitions= estimate= seconds=  (at most 5 a second; all
//            since the job began) alone= (why workers= was of no use) handlers_waited=1 (exit
//            handlers, in any execution so far, for threads that ran when the program ended)
//            left_out=0|1 (by a bound) preemptions_covered= (all with up to so many were run)
//            chance= (of a sample: that one execution shows a bug of the kind it looks for)
//            spilled= (how many waiting requests this worker has put into a file) spill_problem=
//            (why it could not) helpers_rss= (the most memory a process that shared a search took,
//            in kilobytes)
//   race id= a=PC b=PC a_kind= b_kind= (read|write|atomic read|...|free|allocate|sync)
//   status=suspected|confirmed|malloc-recycle
//        unordered=0|1 object= (what the address is: "global+0x..", "heap block of 24 bytes
//        allocated at PC", "stack of T1") address= a_thread= b_thread= a_stack= b_stack= schedule=
//        preemptions=   whenever a pair is new or changes status
//   failed-access id= a=PC (which was not made) b=PC (what it conflicts with) a_atomic= b_atomic=
//        each pair once
//   bug id= kind= message= thread= pc= stack=PC,PC,... schedule=STEP;... threads=NAME;...
//        preemptions= details= (further lines of text) executions= (how many had run) strategy= (of
//        a portfolio: the part that found it)
//   execution id= steps=STEP;... outcome=ok|bug|blocked    only with tree=1
//   step id= position= thread= name= what= pc= object= accesses=CELL,SIZE,MODE,PC;... clock=  only
//   with narrate=1 log thread= position= text=                            mc_log, only with
//   narrate=1 restart id= reason= full_barriers=0|1 sites=0xPC;...     the job's counts start again
//   (a new shared access under `all`, a barrier with more users than it counts, or a loop that
//   seems endless, with loop=PC loop_stack=PC,PC,...); bugs and candidates stay. Bounded loops are
//   among the sites: 0xPC+0xDEPTH+0xOBJECT traces id= records= (certificate/trace_code.h, as text)
//   count= (of traces so far)    only with record=1 final id= hash= outcome=   only with
//   final_states=1: each distinct final state once; with
//         traces=1 (for tests) each Mazurkiewicz trace, too, with outcome=trace
//   diverged id= run= (which execution, from 0) step= message= thread= expected= found= (what it
//   was to do at that step, and what
//            it did, as far as that is known) standing= (a line for each thread) threads=
//            lasting= (names of system calls whose effect cannot be put back)
//   state id= part=    after save, in any number of pieces; then
//   saved id= empty=0|1 (the search cannot be saved: it would have to begin again)
//   paused id= reason=executions|time|stop|bug             + the fields of progress
//   complete id=                                           + the fields of progress
//            of a replay, both with lasting=
//   error id= message=
//
// A STEP is THREAD[:CHOICE.CHOICE...][@PC[/WHAT]], e.g. "3:1.0@4198742/lock": which thread runs,
// the choices it makes in that block, where it was about to do what. Only THREAD and CHOICEs count.
// A ThreadName is "0" for main, else CREATOR_NAME.ORDINAL, e.g. "0.2.1". Thread slot k has the k-th
// name.
#ifndef MC_CHECKER_PROTOCOL_H_
#define MC_CHECKER_PROTOCOL_H_

#include <atomic>
#include <cstdint>

#include "sched/last_words.h"

namespace mc::checker {

inline constexpr const char kControlFdVariable[] = "MC_CONTROL_FD";
inline constexpr const char kSharedFdVariable[] = "MC_SHARED_FD";
// Variables that begin so only fill the environment up: wherever mc is started, the program's
// arguments lie at the same addresses. They are gone before main.
inline constexpr const char kPaddingPrefix[] = "MC_PADDING_";
inline constexpr const char kEntryVariable[] = "MC_ENTRY";  // "main" or "check:N"
inline constexpr const char kProtocolVersion[] = "2";
// The version of mc and of its runtime library: they must be the same.
inline constexpr const char kVersion[] = "0.1.0";

// With this status a worker ends that finds its socket closed though nobody told it to quit.
inline constexpr int kLostChannelStatus = 113;

// In memory shared by supervisor and worker: what is left when the worker dies or hangs.
struct SharedState {
  static constexpr uint32_t kMaxSteps = 1 << 22;
  std::atomic<uint32_t> stop_requested;
  std::atomic<uint32_t> job;         // the job that runs, 0 if none
  std::atomic<uint64_t> executions;  // of that job
  std::atomic<uint64_t>
      transitions;              // heartbeat: rises with every block and, now and then, within one
  std::atomic<uint32_t> steps;  // the current schedule: entries used in `step`
  std::atomic<uint32_t> in_program;  // 1 while program code runs
  sched::LastWords last_words;
  // Thread id of the step, or 0x8000 | choice value for a choice the step before it made.
  uint16_t step[kMaxSteps];
};

}  // namespace mc::checker

#endif  // MC_CHECKER_PROTOCOL_H_
