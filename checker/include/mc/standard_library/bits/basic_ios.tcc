/* mc-c++ lets this header be found before that of the same name which belongs to libstdc++:
 * see templates_of_program.h. */
#ifndef MC_STANDARD_LIBRARY_BITS_BASIC_IOS_TCC_
#define MC_STANDARD_LIBRARY_BITS_BASIC_IOS_TCC_

#pragma push_macro("_GLIBCXX_EXTERN_TEMPLATE")
#include "templates_of_program.h"
#include_next <bits/basic_ios.tcc>
#pragma pop_macro("_GLIBCXX_EXTERN_TEMPLATE")

#endif  // MC_STANDARD_LIBRARY_BITS_BASIC_IOS_TCC_
