// The exceptions of the C++ library that carry a message: std::logic_error, std::runtime_error and
// what derives from them. Copies share the text of the message and count its users, as strings of
// the old kind do; all of that is compiled into the library.
//
// Who drops the last copy frees the text. The accesses to the count, which the hooks make, order
// that after what the others did, and tell the search that who is last depends on the order.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <string>

#include "sched/interpose/export.h"
#include "sched/interpose/library_access.h"
#include "sched/interpose/real_function.h"

namespace mc::sched {
namespace {

// std::logic_error and std::runtime_error, and how a string of the old kind begins.
struct MessageException {
  void* virtual_functions;
  const char* message;
};
using OldString = const char*;
// A text is preceded by its length, its capacity and the number of its users but one.
constexpr size_t kHeaderSize = 3 * sizeof(size_t);

// All empty texts are one, which is not counted.
const char* EmptyText() {
  static const char* known;
  if (known == nullptr) {
    known = static_cast<const char*>(dlsym(RTLD_DEFAULT, "_ZNSs4_Rep20_S_empty_rep_storageE")) +
            kHeaderSize;
  }
  return known;
}

void CountUsers(const char* text, uint64_t pc) {
  if (!g_program_running || text == EmptyText()) return;
  AccessByLibrary(text - sizeof(size_t), sizeof(int), kReadWrite, pc, kAtomic,
                  MemoryOrder::kAcqRel);
}

void TouchMessage(const MessageException* exception, uint8_t mode, uint64_t pc) {
  AccessByLibrary(&exception->message, sizeof exception->message, mode, pc);
}

void Copy(MessageException* self, const MessageException* other, uint64_t pc) {
  TouchMessage(other, kRead, pc);
  CountUsers(other->message, pc);
  TouchMessage(self, kWrite, pc);
}
void Move(MessageException* self, MessageException* other, uint64_t pc) {
  TouchMessage(other, kReadWrite, pc);
  TouchMessage(self, kWrite, pc);
}
void Assign(MessageException* self, const MessageException* other, uint64_t pc) {
  TouchMessage(other, kRead, pc);
  TouchMessage(self, kReadWrite, pc);
  if (self->message == other->message) return;
  CountUsers(other->message, pc);
  CountUsers(self->message, pc);
}
void Swap(MessageException* self, MessageException* other, uint64_t pc) {
  TouchMessage(other, kReadWrite, pc);
  TouchMessage(self, kReadWrite, pc);
}
void Destroy(MessageException* self, uint64_t pc) {
  TouchMessage(self, kReadWrite, pc);
  CountUsers(self->message, pc);
}
void Construct(MessageException* self, const char* text, uint64_t pc) {
  if (!g_program_running) return;
  AccessByLibrary(text, strlen(text) + 1, kRead, pc);
  TouchMessage(self, kWrite, pc);
}
void Construct(MessageException* self, const std::string* text, uint64_t pc) {
  AccessByLibrary(text, 2 * sizeof(size_t), kRead, pc);  // where the text is, and how long
  AccessByLibrary(text->data(), text->size(), kRead, pc);
  TouchMessage(self, kWrite, pc);
}
void Construct(MessageException* self, const OldString* text, uint64_t pc) {
  AccessByLibrary(text, sizeof *text, kRead, pc);
  CountUsers(*text, pc);
  TouchMessage(self, kWrite, pc);
}

// What a std::filesystem::filesystem_error adds is shared by copies too, as by shared pointers:
// copies are made by the program, but dropped in the library.
struct FilesystemError {
  char system_error[32];
  void* shared;
  struct {
    void* virtual_functions;
    int users;
  } * control;
};

void DropShared(const FilesystemError* self, uint64_t pc) {
  AccessByLibrary(&self->shared, 2 * sizeof(void*), kReadWrite, pc);
  if (self->control == nullptr) return;
  AccessByLibrary(&self->control->users, sizeof(int), kReadWrite, pc, kAtomic,
                  MemoryOrder::kAcqRel);
}

}  // namespace
}  // namespace mc::sched

using namespace mc::sched;  // NOLINT: the functions below are the library's

// symbol(self, argument), which does to the message what `action` says.
#define MC_ON_MESSAGE(symbol, action, Argument)                     \
  MC_EXPORT void* symbol(MessageException* self, Argument* other) { \
    static void* (*known)(MessageException*, Argument*);            \
    action(self, other, MC_CALLER_PC());                            \
    return Find(&known, #symbol)(self, other);                      \
  }
// A constructor or destructor, under the two names it has.
#define MC_CONSTRUCTORS(Class, code, action, Argument)    \
  MC_ON_MESSAGE(_ZNSt##Class##C1##code, action, Argument) \
  MC_ON_MESSAGE(_ZNSt##Class##C2##code, action, Argument)
#define MC_DESTRUCTOR(symbol)                     \
  MC_EXPORT void symbol(MessageException* self) { \
    static void (*known)(MessageException*);      \
    Destroy(self, MC_CALLER_PC());                \
    Find(&known, #symbol)(self);                  \
  }
#define MC_MESSAGE_EXCEPTION(Class)                                                          \
  MC_CONSTRUCTORS(Class, EPKc, Construct, const char)                                        \
  MC_CONSTRUCTORS(Class, ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE, Construct, \
                  const std::string)                                                         \
  MC_CONSTRUCTORS(Class, ERKSs, Construct, const OldString)                                  \
  MC_CONSTRUCTORS(Class, ERKS_, Copy, const MessageException)                                \
  MC_CONSTRUCTORS(Class, EOS_, Move, MessageException)                                       \
  MC_ON_MESSAGE(_ZNSt##Class##aSERKS_, Assign, const MessageException)                       \
  MC_ON_MESSAGE(_ZNSt##Class##aSEOS_, Swap, MessageException)                                \
  MC_DESTRUCTOR(_ZNSt##Class##D1Ev)                                                          \
  MC_DESTRUCTOR(_ZNSt##Class##D2Ev)
MC_MESSAGE_EXCEPTION(11logic_error)
MC_MESSAGE_EXCEPTION(13runtime_error)

#define MC_WHAT(symbol)                                        \
  MC_EXPORT const char* symbol(const MessageException* self) { \
    static const char* (*known)(const MessageException*);      \
    TouchMessage(self, kRead, MC_CALLER_PC());                 \
    return Find(&known, #symbol)(self);                        \
  }
MC_WHAT(_ZNKSt11logic_error4whatEv)
MC_WHAT(_ZNKSt13runtime_error4whatEv)
MC_WHAT(_ZNKSt12future_error4whatEv)
MC_WHAT(_ZNKSt8ios_base7failureB5cxx114whatEv)

#define MC_FILESYSTEM_ERROR_DESTRUCTOR(symbol)   \
  MC_EXPORT void symbol(FilesystemError* self) { \
    static void (*known)(FilesystemError*);      \
    DropShared(self, MC_CALLER_PC());            \
    Find(&known, #symbol)(self);                 \
  }
MC_FILESYSTEM_ERROR_DESTRUCTOR(_ZNSt10filesystem7__cxx1116filesystem_errorD1Ev)
MC_FILESYSTEM_ERROR_DESTRUCTOR(_ZNSt10filesystem7__cxx1116filesystem_errorD2Ev)
