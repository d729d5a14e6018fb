// EngineScope: engine code runs while one lives.
//
// Hooks are entered from program code. Inside, allocations must go to the engine's heap and the
// engine's own calls of interposed functions must do nothing, so every hook opens a scope first.
// When a hook switches fibers, the other fiber returns to its program through its own scope.
#ifndef MC_SCHED_ENGINE_SCOPE_H_
#define MC_SCHED_ENGINE_SCOPE_H_

namespace mc::sched {

// True while code of the program under test runs in a controlled execution.
extern bool g_program_running;

class EngineScope {
 public:
  EngineScope() { g_program_running = false; }
  ~EngineScope() { g_program_running = true; }
  EngineScope(const EngineScope&) = delete;
  EngineScope& operator=(const EngineScope&) = delete;
};

// The reverse: program code called from inside a hook (destructors, exit handlers, once routines).
class ProgramScope {
 public:
  ProgramScope() { g_program_running = true; }
  ~ProgramScope() { g_program_running = false; }
  ProgramScope(const ProgramScope&) = delete;
  ProgramScope& operator=(const ProgramScope&) = delete;
};

}  // namespace mc::sched

#endif  // MC_SCHED_ENGINE_SCOPE_H_
