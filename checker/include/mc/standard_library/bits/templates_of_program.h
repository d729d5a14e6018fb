/* Streams are compiled in libstdc++; mc knows of what their functions do as a whole. But the small
 * functions that ask for a stream's state are inline: they become part of the program, where they
 * are seen, unless it is compiled without optimisation. Then the headers that include this one must
 * not leave them to the library. */
#ifndef __OPTIMIZE__
#undef _GLIBCXX_EXTERN_TEMPLATE
#define _GLIBCXX_EXTERN_TEMPLATE 0
#endif
