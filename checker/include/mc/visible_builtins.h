/* Included by mc-c++ and mc-cc before everything else.
 *
 * The standard library's headers copy, fill and compare memory with __builtin_memcpy and the like,
 * which the compilers expand into plain instructions when the size is small and known: accesses
 * that mc would not see. Here these names lead to the functions themselves, under names of which
 * the compilers know nothing. */
#ifndef MC_VISIBLE_BUILTINS_H_
#define MC_VISIBLE_BUILTINS_H_

#ifndef __ASSEMBLER__

#pragma GCC system_header /* variadic macros are no part of C++98, nor of C89 */

#ifdef __cplusplus
extern "C" {
#endif

void* __mc_memcpy(void*, const void*, __SIZE_TYPE__) __asm__("memcpy") __attribute__((__nothrow__));
void* __mc_memmove(void*, const void*, __SIZE_TYPE__) __asm__("memmove")
    __attribute__((__nothrow__));
void* __mc_memset(void*, int, __SIZE_TYPE__) __asm__("memset") __attribute__((__nothrow__));
int __mc_memcmp(const void*, const void*, __SIZE_TYPE__) __asm__("memcmp")
    __attribute__((__nothrow__));

#ifndef __OPTIMIZE__
/* Tells the runtime that part of the program is not optimised. */
extern char mc_program_is_not_optimised
    __attribute__((__weak__, __used__, __visibility__("default")));
char mc_program_is_not_optimised = 1;
#endif

#ifdef __cplusplus
}
#endif

#define __builtin_memcpy(...) __mc_memcpy(__VA_ARGS__)
#define __builtin_memmove(...) __mc_memmove(__VA_ARGS__)
#define __builtin_memset(...) __mc_memset(__VA_ARGS__)
#define __builtin_memcmp(...) __mc_memcmp(__VA_ARGS__)

#endif /* __ASSEMBLER__ */

#endif /* MC_VISIBLE_BUILTINS_H_ */
