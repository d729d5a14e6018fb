// The libraries by which the C library looks up users, groups, hosts and services (nsswitch.conf).
#ifndef MC_SCHED_INTERPOSE_NAME_SERVICES_H_
#define MC_SCHED_INTERPOSE_NAME_SERVICES_H_

namespace mc::sched {

// To be called before each function that looks up such a name. The first time, it has the C library
// load these libraries, outside of the program: they stay loaded for good, as the loader's own
// state does, so what the C library keeps of them must be there in every execution.
void LoadNameServices();

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_NAME_SERVICES_H_
