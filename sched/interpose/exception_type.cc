#include "sched/interpose/exception_type.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <unwind.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <typeinfo>
#include <vector>

#include "sched/scheduler.h"

namespace mc::sched {

namespace {

// What never returns to a program, and calls std::terminate for it where there is no handler.
constexpr const char* kThrowers[] = {"__cxa_throw",
                                     "__cxa_rethrow",
                                     "_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE",
                                     "__gxx_personality_v0",
                                     "__cxa_call_terminate",
                                     "__cxa_call_unexpected"};

// Clang's code where an exception leaves a function that is noexcept goes to a function of its own
// that only begins to catch and terminates: two calls at its beginning.
bool IsTerminationByClang(uint64_t pc, uint64_t function) {
  constexpr uint64_t kLongest = 40, kCall = 5;  // bytes
  constexpr unsigned char kCallCode = 0xe8;
  if (function == 0 || pc - function > kLongest || pc - function <= 2 * kCall) return false;
  const auto* const end = reinterpret_cast<const unsigned char*>(pc);
  return *(end - kCall) == kCallCode && *(end - 2 * kCall) == kCallCode;
}

}  // namespace

std::string CurrentExceptionType() {
  const std::type_info* type = abi::__cxa_current_exception_type();
  if (type == nullptr) return "";
  int status = 0;
  char* demangled = abi::__cxa_demangle(type->name(), nullptr, nullptr, &status);
  std::string text = status == 0 && demangled != nullptr ? demangled : type->name();
  // The buffer may come from either heap: it dies with the execution or is tiny.
  try {
    std::rethrow_exception(std::current_exception());
  } catch (const std::exception& e) {
    text += ": ";
    text += e.what();
  } catch (...) {
  }
  return text;
}

bool NoHandlerWasFound() {
  std::vector<uint64_t> throwers, stack;
  for (const char* const name : kThrowers) {
    if (void* const thrower = dlsym(RTLD_NEXT, name)) {
      throwers.push_back(reinterpret_cast<uintptr_t>(thrower));
    }
  }
  if (throwers.empty()) return true;  // linked into the program: nothing tells
  CaptureStack(&stack);
  return std::ranges::any_of(stack, [&](uint64_t pc) {
    const auto function =
        reinterpret_cast<uintptr_t>(_Unwind_FindEnclosingFunction(reinterpret_cast<void*>(pc)));
    return std::ranges::find(throwers, function) != throwers.end() ||
           IsTerminationByClang(pc, function);
  });
}

}  // namespace mc::sched
