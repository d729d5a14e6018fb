# find_package(mc): the function mc_add_harness (see mcHarness.cmake), the program mc as ${MC_EXECUTABLE},
# and mc::headers for programs that include <mc/mc.h> but are not run under mc.
get_filename_component(mc_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(MC_TOOLS_DIR "${mc_prefix}/bin")
set(MC_EXECUTABLE "${MC_TOOLS_DIR}/mc")

if(NOT TARGET mc::headers)
  add_library(mc::headers INTERFACE IMPORTED)
  set_target_properties(mc::headers PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${mc_prefix}/include")
endif()
unset(mc_prefix)

include("${CMAKE_CURRENT_LIST_DIR}/mcHarness.cmake")
