/* mc-c++ lets this header be found before that of the same name which belongs to libstdc++.
 *
 * Before C++20, libstdc++ declares that std::string and std::wstring are compiled in its library:
 * what their functions do to memory would not be seen. Its own setting for debugging leaves that
 * declaration out, so that they are compiled into the program. Streams stay in the library. */
#ifndef MC_STANDARD_LIBRARY_BITS_CXXCONFIG_H_
#define MC_STANDARD_LIBRARY_BITS_CXXCONFIG_H_

#include_next <bits/c++config.h>

#if defined(_GLIBCXX_EXTERN_TEMPLATE) && _GLIBCXX_EXTERN_TEMPLATE > 0
#undef _GLIBCXX_EXTERN_TEMPLATE
#define _GLIBCXX_EXTERN_TEMPLATE -1
#endif

#endif  // MC_STANDARD_LIBRARY_BITS_CXXCONFIG_H_
