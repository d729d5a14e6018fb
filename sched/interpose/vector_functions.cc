// readv, writev, sendmsg, recvmsg and their kin: system calls on several buffers at once. What is
// sent is read before the call, as it may be what another thread waits for; what came is written
// after it.
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cstdint>

#include "sched/interpose/buffer_access.h"
#include "sched/interpose/export.h"
#include "sched/interpose/library_call.h"
#include "sched/interpose/real_function.h"
#include "sched/interpose/system_call_point.h"

namespace mc::sched {
namespace {

void ReadsVectors(const iovec* vectors, size_t count, uint64_t pc) {
  Reads(vectors, count * sizeof *vectors, pc);
  for (size_t i = 0; i < count; ++i) Reads(vectors[i].iov_base, vectors[i].iov_len, pc);
}
// The first `total` bytes.
void HasFilled(const iovec* vectors, size_t count, ssize_t total, uint64_t pc) {
  RecordTouched({In(vectors, count * sizeof *vectors)}, pc);
  for (size_t i = 0, rest = total < 0 ? 0 : static_cast<size_t>(total); i < count; ++i) {
    const size_t size = std::min(rest, vectors[i].iov_len);
    RecordTouched({Out(vectors[i].iov_base, size)}, pc);
    rest -= size;
  }
}
void ReadsMessage(const msghdr* message, uint64_t pc) {
  Reads(message, sizeof *message, pc);
  Reads(message->msg_name, message->msg_namelen, pc);
  Reads(message->msg_control, message->msg_controllen, pc);
  ReadsVectors(message->msg_iov, message->msg_iovlen, pc);
}

}  // namespace
}  // namespace mc::sched

using namespace mc::sched;  // NOLINT: the functions below are the C library's

#define MC_SENDS(name, parameters, arguments)                           \
  MC_EXPORT ssize_t name parameters {                                   \
    MC_REAL_OF(name);                                                   \
    if (!g_program_running) return real arguments;                      \
    const uint64_t pc = MC_CALLER_PC();                                 \
    ReadsVectors(vectors, static_cast<size_t>(std::max(count, 0)), pc); \
    const SystemCallPoint point(pc);                                    \
    return real arguments;                                              \
  }
MC_SENDS(writev, (int file, const iovec* vectors, int count), (file, vectors, count))
MC_SENDS(pwritev, (int file, const iovec* vectors, int count, off_t at), (file, vectors, count, at))
MC_SENDS(pwritev64, (int file, const iovec* vectors, int count, off64_t at),
         (file, vectors, count, at))
MC_SENDS(pwritev2, (int file, const iovec* vectors, int count, off_t at, int flags),
         (file, vectors, count, at, flags))

#define MC_RECEIVES(name, parameters, arguments)                            \
  MC_EXPORT ssize_t name parameters {                                       \
    MC_REAL_OF(name);                                                       \
    if (!g_program_running) return real arguments;                          \
    const uint64_t pc = MC_CALLER_PC();                                     \
    BeforeLibraryCall(pc);                                                  \
    const SystemCallPoint point(pc);                                        \
    const ssize_t total = real arguments;                                   \
    HasFilled(vectors, static_cast<size_t>(std::max(count, 0)), total, pc); \
    return total;                                                           \
  }
MC_RECEIVES(readv, (int file, const iovec* vectors, int count), (file, vectors, count))
MC_RECEIVES(preadv, (int file, const iovec* vectors, int count, off_t at),
            (file, vectors, count, at))
MC_RECEIVES(preadv64, (int file, const iovec* vectors, int count, off64_t at),
            (file, vectors, count, at))
MC_RECEIVES(preadv2, (int file, const iovec* vectors, int count, off_t at, int flags),
            (file, vectors, count, at, flags))

MC_EXPORT ssize_t sendmsg(int socket, const msghdr* message, int flags) {
  MC_REAL_OF(sendmsg);
  if (!g_program_running) return real(socket, message, flags);
  const uint64_t pc = MC_CALLER_PC();
  ReadsMessage(message, pc);
  const SystemCallPoint point(pc);
  return real(socket, message, flags);
}
MC_EXPORT ssize_t recvmsg(int socket, msghdr* message, int flags) {
  MC_REAL_OF(recvmsg);
  if (!g_program_running) return real(socket, message, flags);
  const uint64_t pc = MC_CALLER_PC();
  BeforeLibraryCall(pc);
  const SystemCallPoint point(pc);
  const ssize_t total = real(socket, message, flags);
  RecordTouched({InOut(message), Out(message->msg_name, message->msg_namelen),
                 Out(message->msg_control, message->msg_controllen)},
                pc);
  HasFilled(message->msg_iov, message->msg_iovlen, total, pc);
  return total;
}
