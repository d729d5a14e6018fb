// Whether a file stream of the C++ library is open: what opens and closes its buffer changes it.
// (What reads and writes a stream: standard_streams.cc.)
#include <fstream>

#include "sched/interpose/export.h"
#include "sched/interpose/library_access.h"
#include "sched/interpose/real_function.h"

using namespace mc::sched;  // NOLINT: the functions below are the library's

#define MC_FILE_BUFFER(prefix, Character)                                                     \
  MC_EXPORT void* prefix##4openEPKcSt13_Ios_Openmode(std::basic_filebuf<Character> * self,    \
                                                     const char* path, int mode) {            \
    static void* (*known)(void*, const char*, int);                                           \
    const auto real = Find(&known, #prefix "4openEPKcSt13_Ios_Openmode");                     \
    AccessByLibrary(ContentOf(self), kContentSize<std::basic_filebuf<Character>>, kReadWrite, \
                    MC_CALLER_PC());                                                          \
    return real(self, path, mode);                                                            \
  }                                                                                           \
  MC_EXPORT void* prefix##5closeEv(std::basic_filebuf<Character> * self) {                    \
    static void* (*known)(void*);                                                             \
    const auto real = Find(&known, #prefix "5closeEv");                                       \
    AccessByLibrary(ContentOf(self), kContentSize<std::basic_filebuf<Character>>, kReadWrite, \
                    MC_CALLER_PC());                                                          \
    return real(self);                                                                        \
  }
MC_FILE_BUFFER(_ZNSt13basic_filebufIcSt11char_traitsIcEE, char)
MC_FILE_BUFFER(_ZNSt13basic_filebufIwSt11char_traitsIwEE, wchar_t)

// Asked by is_open() of all of them.
MC_EXPORT bool _ZNKSt12__basic_fileIcE7is_openEv(const std::__basic_file<char>* self) {
  static bool (*known)(const void*);
  const auto real = Find(&known, "_ZNKSt12__basic_fileIcE7is_openEv");
  AccessByLibrary(self, sizeof *self, kRead, MC_CALLER_PC());
  return real(self);
}
