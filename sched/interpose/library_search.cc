// Sorting, searching and patterns in the C library: what each function touches (library_call.h).
// What functions are given to compare elements with reads them itself, and is seen.
#include <glob.h>
#include <regex.h>
#include <search.h>
#include <wordexp.h>

#include "sched/interpose/hidden_variables.h"
#include "sched/interpose/library_call.h"

namespace mc::sched {
namespace {

using Compare = int (*)(const void*, const void*);

// The node that a tree's root, or a list, begins with.
struct Link {
  Link* next;
  Link* previous;
};

size_t MatchBytes(int result, size_t count, int flags) {
  return result == 0 && (flags & REG_NOSUB) == 0 ? count * sizeof(regmatch_t) : 0;
}

}  // namespace
}  // namespace mc::sched

using namespace mc::sched;  // NOLINT: for the tables below

// clang-format off

// ---- Tables and trees: that one is looked at or changed counts, not where

MC_TOUCHES(void*, lfind,
           (const void* key, const void* base, size_t* count, size_t width, Compare compare),
           (key, base, count, width, compare), In(count))
MC_TOUCHES(void*, lsearch,
           (const void* key, void* base, size_t* count, size_t width, Compare compare),
           (key, base, count, width, compare), InOut(count), In(key, width),
           Out(result, result == static_cast<char*>(base) + (*count - 1) * width ? width : 0))
MC_TOUCHES(void*, tsearch, (const void* key, void** root, Compare compare), (key, root, compare),
           InOut(root))
MC_TOUCHES(void*, tfind, (const void* key, void* const* root, Compare compare),
           (key, root, compare), In(root))
MC_TOUCHES(void*, tdelete, (const void* key, void** root, Compare compare), (key, root, compare),
           InOut(root))
MC_TOUCHES(void, twalk, (const void* root, void (*visit)(const void*, VISIT, int)), (root, visit),
           In(root, sizeof(void*)))
MC_TOUCHES(void, twalk_r, (const void* root, void (*visit)(const void*, VISIT, void*), void* of),
           (root, visit, of), In(root, sizeof(void*)))
MC_TOUCHES(int, hcreate, (size_t size), (size), Out(&g_search_table, 1))
MC_TOUCHES(void, hdestroy, (), (), Out(&g_search_table, 1))
MC_TOUCHES(ENTRY*, hsearch, (ENTRY entry, ACTION action), (entry, action),
           action == FIND ? In(&g_search_table, 1) : InOut(&g_search_table, 1), Text(entry.key))
MC_TOUCHES(int, hcreate_r, (size_t size, hsearch_data* table), (size, table), InOut(table))
MC_TOUCHES(void, hdestroy_r, (hsearch_data* table), (table), InOut(table))
MC_TOUCHES(int, hsearch_r, (ENTRY entry, ACTION action, ENTRY** to, hsearch_data* table),
           (entry, action, to, table), action == FIND ? In(table) : InOut(table), Text(entry.key),
           Out(to))
MC_TOUCHES(void, insque, (Link* one, Link* after), (one, after), Out(one),
           after == nullptr ? Out(one, 0) : InOut(&after->next),
           one->next == nullptr ? Out(one, 0) : Out(&one->next->previous))
MC_TOUCHES(void, remque, (Link* one), (one), In(one),
           one->next == nullptr ? Out(one, 0) : Out(&one->next->previous),
           one->previous == nullptr ? Out(one, 0) : Out(&one->previous->next))

// ---- Patterns

MC_TOUCHES(int, regcomp, (regex_t* to, const char* pattern, int flags), (to, pattern, flags),
           Out(to), Text(pattern))
MC_TOUCHES(int, regexec,
           (const regex_t* pattern, const char* text, size_t count, regmatch_t* to, int flags),
           (pattern, text, count, to, flags), In(pattern), Text(text),
           Out(to, MatchBytes(result, count, pattern->no_sub ? REG_NOSUB : 0)))
MC_TOUCHES(size_t, regerror, (int error, const regex_t* pattern, char* to, size_t size),
           (error, pattern, to, size), In(pattern), Out(to, std::min(result, size)))
MC_TOUCHES(void, regfree, (regex_t* pattern), (pattern), InOut(pattern))
MC_TOUCHES(int, glob,
           (const char* pattern, int flags, int (*on_error)(const char*, int), glob_t* to),
           (pattern, flags, on_error, to), Text(pattern), InOut(to))
MC_TOUCHES(int, glob64,
           (const char* pattern, int flags, int (*on_error)(const char*, int), glob_t* to),
           (pattern, flags, on_error, to), Text(pattern), InOut(to))
MC_TOUCHES(void, globfree, (glob_t* from), (from), InOut(from))
MC_TOUCHES(void, globfree64, (glob_t* from), (from), InOut(from))
MC_TOUCHES(int, wordexp, (const char* text, wordexp_t* to, int flags), (text, to, flags),
           Text(text), InOut(to))
MC_TOUCHES(void, wordfree, (wordexp_t* from), (from), InOut(from))
