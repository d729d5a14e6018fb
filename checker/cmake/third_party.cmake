# Where the libraries of others come from.

function(mc_find_library variable)
  find_library(${variable} NAMES ${ARGN})
  if(NOT ${variable})
    message(FATAL_ERROR "No ${ARGN} found: tools/setup installs what mc is built from.")
  endif()
endfunction()

function(mc_find_header variable header)
  find_path(${variable} ${header})
  if(NOT ${variable})
    message(FATAL_ERROR "No ${header} found: tools/setup installs what mc is built from.")
  endif()
endfunction()

find_package(Threads REQUIRED)
find_package(absl REQUIRED)
find_package(nlohmann_json REQUIRED)

# mc_third_party_engine: what sched, dpor and racedet may use: Boost.Context, from its archive. They end
# up in the runtime, which must not bring along a shared library that the program under test may use
# as well; and Debian's archives of Abseil cannot become part of a shared library (no -fPIC).
mc_find_library(MC_BOOST_CONTEXT libboost_context.a)
mc_find_header(MC_BOOST_INCLUDE_DIR boost/context/detail/fcontext.hpp)
add_library(mc_third_party_engine INTERFACE)
target_include_directories(mc_third_party_engine SYSTEM INTERFACE ${MC_BOOST_INCLUDE_DIR})
target_link_libraries(mc_third_party_engine INTERFACE ${MC_BOOST_CONTEXT})

# mc_third_party_checker: what the supervisor uses.
mc_find_header(MC_LIBDW_INCLUDE_DIR elfutils/libdwfl.h)
mc_find_library(MC_LIBDW dw)
mc_find_library(MC_LIBELF elf)
add_library(mc_third_party_checker INTERFACE)
target_include_directories(mc_third_party_checker SYSTEM INTERFACE ${MC_LIBDW_INCLUDE_DIR})
target_link_libraries(mc_third_party_checker INTERFACE
  nlohmann_json::nlohmann_json ${MC_LIBDW} ${MC_LIBELF} Threads::Threads
  absl::flags absl::flags_parse absl::flags_usage absl::strings absl::str_format absl::status
  absl::statusor absl::time absl::flat_hash_map absl::flat_hash_set absl::btree
  absl::inlined_vector absl::span)
