// Functions of the C library that give back one entry of a list of the system after the other:
// users, groups, hosts, mounted file systems. Where they go on is kept for all threads, without a
// lock, and so is the result, unless the caller gives it a place (library_call.h).
#include <fstab.h>
#include <grp.h>
#include <mntent.h>
#include <netdb.h>
#include <pwd.h>
#include <utmp.h>
#include <utmpx.h>

#include "sched/interpose/hidden_variables.h"
#include "sched/interpose/library_call.h"
#include "sched/interpose/name_services.h"
#include "sched/interpose/stream_call.h"

namespace mc::sched {
namespace {

// What is written unless there was no other entry.
template <typename T>
Touch Found(int error, T* to) {
  return Out(to, error == 0 ? sizeof *to : 0);
}

}  // namespace
}  // namespace mc::sched

using namespace mc::sched;  // NOLINT: for the tables below

// clang-format off

#define MC_LOOKS_UP(type, name, parameters, arguments, ...) \
  MC_LIBRARY_FUNCTION(type, name, parameters, arguments, \
                      LoadNameServices(); const SystemCallPoint point(pc), __VA_ARGS__)

#define MC_NEXT(name, type, next) MC_LOOKS_UP(type*, name, (), (), InOut(&next), Out(result))
#define MC_NEXT_R(name, type, next) \
  MC_LOOKS_UP(int, name, (type* to, char* place, size_t size, type** found), \
                 (to, place, size, found), InOut(&next), Out(found), Found(result, to), \
                 Out(place, result == 0 ? size : 0))
#define MC_REWIND(name, next) MC_LOOKS_UP(void, name, (), (), InOut(&next))
#define MC_OPEN(name, next) MC_LOOKS_UP(void, name, (int stays), (stays), InOut(&next))

MC_REWIND(setpwent, g_next_user)
MC_REWIND(endpwent, g_next_user)
MC_NEXT(getpwent, passwd, g_next_user)
MC_NEXT_R(getpwent_r, passwd, g_next_user)
MC_REWIND(setgrent, g_next_group)
MC_REWIND(endgrent, g_next_group)
MC_NEXT(getgrent, group, g_next_group)
MC_NEXT_R(getgrent_r, group, g_next_group)

MC_OPEN(sethostent, g_next_host)
MC_REWIND(endhostent, g_next_host)
MC_NEXT(gethostent, hostent, g_next_host)
MC_OPEN(setnetent, g_next_network)
MC_REWIND(endnetent, g_next_network)
MC_NEXT(getnetent, netent, g_next_network)
MC_OPEN(setprotoent, g_next_protocol)
MC_REWIND(endprotoent, g_next_protocol)
MC_NEXT(getprotoent, protoent, g_next_protocol)
MC_NEXT_R(getprotoent_r, protoent, g_next_protocol)
MC_OPEN(setservent, g_next_service)
MC_REWIND(endservent, g_next_service)
MC_NEXT(getservent, servent, g_next_service)
MC_NEXT_R(getservent_r, servent, g_next_service)
MC_LOOKS_UP(protoent*, getprotobynumber, (int number), (number), Out(result))
MC_LOOKS_UP(netent*, getnetbyname, (const char* name), (name), Text(name), Out(result))

MC_REWIND(setutent, g_next_session)
MC_REWIND(endutent, g_next_session)
MC_NEXT(getutent, utmp, g_next_session)
MC_REWIND(setutxent, g_next_session)
MC_REWIND(endutxent, g_next_session)
MC_NEXT(getutxent, utmpx, g_next_session)

MC_ASKS_KERNEL(int, setfsent, (), (), InOut(&g_next_file_system))
MC_REWIND(endfsent, g_next_file_system)
MC_NEXT(getfsent, fstab, g_next_file_system)
MC_ASKS_KERNEL(fstab*, getfsspec, (const char* name), (name), Text(name),
               InOut(&g_next_file_system), Out(result))
MC_ASKS_KERNEL(fstab*, getfsfile, (const char* name), (name), Text(name),
               InOut(&g_next_file_system), Out(result))

// From a file, which is locked meanwhile.
#define MC_FROM_FILE(type, name, parameters, arguments, ...)                              \
  MC_LIBRARY_FUNCTION(type, name, parameters, arguments, const StreamCall call(file, pc), \
                      __VA_ARGS__)
MC_ASKS_KERNEL(FILE*, setmntent, (const char* path, const char* mode), (path, mode), Text(path),
               Text(mode))
MC_FROM_FILE(int, endmntent, (FILE* file), (file))
MC_FROM_FILE(mntent*, getmntent, (FILE* file), (file), Out(result))
MC_FROM_FILE(mntent*, getmntent_r, (FILE* file, mntent* to, char* place, int size),
             (file, to, place, size), Out(result),
             Out(place, result != nullptr && size > 0 ? static_cast<size_t>(size) : 0))
MC_FROM_FILE(passwd*, fgetpwent, (FILE* file), (file), Out(result))
MC_FROM_FILE(group*, fgetgrent, (FILE* file), (file), Out(result))
