// Functions of the C library on addresses and names of hosts: what each touches (library_call.h).
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/ether.h>
#include <sys/socket.h>

#include "sched/interpose/library_call.h"
#include "sched/interpose/name_services.h"

namespace mc::sched {
namespace {

size_t AddressBytes(int family) { return family == AF_INET ? sizeof(in_addr) : sizeof(in6_addr); }

}  // namespace
}  // namespace mc::sched

using namespace mc::sched;  // NOLINT: for the tables below

// clang-format off

MC_TOUCHES(int, inet_pton, (int family, const char* text, void* to), (family, text, to), Text(text),
           Out(to, result == 1 ? AddressBytes(family) : 0))
MC_TOUCHES(const char*, inet_ntop, (int family, const void* from, char* to, socklen_t size),
           (family, from, to, size),
           result == nullptr ? In(from, 0) : In(from, AddressBytes(family)),
           result == nullptr ? Out(to, 0) : OutText(to))
MC_TOUCHES(in_addr_t, inet_addr, (const char* text), (text), Text(text))
MC_TOUCHES(in_addr_t, inet_network, (const char* text), (text), Text(text))
MC_TOUCHES(int, inet_aton, (const char* text, in_addr* to), (text, to), Text(text),
           Out(to, result != 0 ? sizeof *to : 0))
MC_TOUCHES(char*, inet_ntoa, (in_addr address), (address), OutText(result))
MC_TOUCHES(char*, ether_ntoa, (const ether_addr* address), (address), In(address), OutText(result))
MC_TOUCHES(char*, ether_ntoa_r, (const ether_addr* address, char* to), (address, to), In(address),
           OutText(result))
MC_TOUCHES(ether_addr*, ether_aton, (const char* text), (text), Text(text), Out(result))
MC_TOUCHES(ether_addr*, ether_aton_r, (const char* text, ether_addr* to), (text, to), Text(text),
           Out(result))
MC_TOUCHES(int, getifaddrs, (ifaddrs** to), (to), Out(to, result == 0 ? sizeof *to : 0))
MC_TOUCHES(unsigned, if_nametoindex, (const char* name), (name), Text(name))
MC_TOUCHES(char*, if_indextoname, (unsigned index, char* to), (index, to), OutText(result))
MC_LIBRARY_FUNCTION(int, getaddrinfo,
           (const char* host, const char* service, const addrinfo* hints, addrinfo** to),
           (host, service, hints, to), LoadNameServices(), Text(host), Text(service), In(hints),
           Out(to, result == 0 ? sizeof *to : 0))
MC_TOUCHES(int, getnameinfo,
           (const sockaddr* from, socklen_t size, char* host, socklen_t host_size, char* service,
                             socklen_t service_size, int flags),
           (from, size, host, host_size, service, service_size, flags), In(from, size),
           result == 0 && host_size != 0 ? OutText(host) : Out(host, 0),
           result == 0 && service_size != 0 ? OutText(service) : Out(service, 0))
#define MC_LOOK_UP_HOST(name, type, parameters, arguments, ...) \
  MC_LIBRARY_FUNCTION(type*, name, parameters, arguments, LoadNameServices(), Out(result), \
                      __VA_ARGS__)
MC_LOOK_UP_HOST(gethostbyname, hostent, (const char* name), (name), Text(name))
MC_LOOK_UP_HOST(gethostbyname2, hostent, (const char* name, int family), (name, family), Text(name))
MC_LOOK_UP_HOST(gethostbyaddr, hostent, (const void* address, socklen_t size, int family),
           (address, size, family), In(address, size))
MC_LOOK_UP_HOST(getservbyname, servent, (const char* name, const char* protocol), (name, protocol),
           Text(name), Text(protocol))
MC_LOOK_UP_HOST(getservbyport, servent, (int port, const char* protocol), (port, protocol),
           Text(protocol))
MC_LOOK_UP_HOST(getprotobyname, protoent, (const char* name), (name), Text(name))
