/* mc-c++ lets this header be found before that of the same name which belongs to libstdc++.
 *
 * What a string stream holds is asked for by functions that become part of the program here, where
 * they are seen. Those that a stream calls to write and read stay in the library if the program is
 * optimised: mc knows of a stream's functions as a whole. */
#ifndef MC_STANDARD_LIBRARY_BITS_SSTREAM_TCC_
#define MC_STANDARD_LIBRARY_BITS_SSTREAM_TCC_

#pragma push_macro("_GLIBCXX_EXTERN_TEMPLATE")
#undef _GLIBCXX_EXTERN_TEMPLATE
#define _GLIBCXX_EXTERN_TEMPLATE 0
#include_next <bits/sstream.tcc>
#pragma pop_macro("_GLIBCXX_EXTERN_TEMPLATE")

#if defined(__OPTIMIZE__) && _GLIBCXX_EXTERN_TEMPLATE

#define MC_LEAVE_TO_LIBRARY(Character)                                                            \
  extern template basic_stringbuf<Character>::int_type basic_stringbuf<Character>::underflow();   \
  extern template basic_stringbuf<Character>::int_type basic_stringbuf<Character>::pbackfail(     \
      int_type);                                                                                  \
  extern template basic_stringbuf<Character>::int_type basic_stringbuf<Character>::overflow(      \
      int_type);                                                                                  \
  extern template basic_stringbuf<Character>::pos_type basic_stringbuf<Character>::seekoff(       \
      off_type, ios_base::seekdir, ios_base::openmode);                                           \
  extern template basic_stringbuf<Character>::pos_type basic_stringbuf<Character>::seekpos(       \
      pos_type, ios_base::openmode);                                                              \
  extern template void basic_stringbuf<Character>::_M_sync(char_type*, __size_type, __size_type); \
  extern template void basic_stringbuf<Character>::_M_pbump(char_type*, char_type*, off_type);

namespace std {
MC_LEAVE_TO_LIBRARY(char)
#ifdef _GLIBCXX_USE_WCHAR_T
MC_LEAVE_TO_LIBRARY(wchar_t)
#endif
}  // namespace std
#undef MC_LEAVE_TO_LIBRARY

#endif

#endif  // MC_STANDARD_LIBRARY_BITS_SSTREAM_TCC_
