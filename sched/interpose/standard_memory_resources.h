// Memory resources of the C++ library (std::pmr): standard_memory_resources.cc.
#ifndef MC_SCHED_INTERPOSE_STANDARD_MEMORY_RESOURCES_H_
#define MC_SCHED_INTERPOSE_STANDARD_MEMORY_RESOURCES_H_

namespace mc::sched {

// Puts hooks where no symbol leads: into the table of virtual functions of
// std::pmr::monotonic_buffer_resource. To be called before main.
void HookMemoryResources();

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_STANDARD_MEMORY_RESOURCES_H_
