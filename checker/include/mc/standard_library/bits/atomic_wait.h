/* mc-c++ lets this header be found before that of the same name which belongs to libstdc++.
 *
 * Before it waits, an atomic object, and with it a latch, barrier or semaphore, asks 16 times whether
 * it still has to. Under mc each of these times is one more place where another thread may come in
 * between, and that makes no difference: an answer of no changes nothing, so that a thread which
 * asks several times does what one does that asks only the last of these times. Here it asks once.
 *
 * The function below is preferred to that of the library because it has a constraint. */
#ifndef MC_STANDARD_LIBRARY_BITS_ATOMIC_WAIT_H_
#define MC_STANDARD_LIBRARY_BITS_ATOMIC_WAIT_H_

#include_next <bits/atomic_wait.h>

#if defined(__cpp_lib_atomic_wait) && defined(__cpp_concepts) && _GLIBCXX_RELEASE <= 14

namespace std _GLIBCXX_VISIBILITY(default) {
_GLIBCXX_BEGIN_NAMESPACE_VERSION
namespace __detail {

template <typename _Pred, typename _Spin = __default_spin_policy>
  requires true
bool __atomic_spin(_Pred& __pred, _Spin __spin = _Spin{}) noexcept {
  if (__pred()) return true;
  while (__spin()) {
    if (__pred()) return true;
  }
  return false;
}

}  // namespace __detail
_GLIBCXX_END_NAMESPACE_VERSION
}  // namespace std

#endif

#endif  // MC_STANDARD_LIBRARY_BITS_ATOMIC_WAIT_H_
