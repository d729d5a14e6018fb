#include "sched/interpose/exception_type.h"

#include <cxxabi.h>

#include <exception>
#include <typeinfo>

namespace mc::sched {

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

}  // namespace mc::sched
