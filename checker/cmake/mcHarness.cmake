# Targets that run under mc. Needs MC_TOOLS_DIR, the folder of mc-c++ and mc-cc.
#
#   mc_add_harness(NAME sources...)
#       An executable that mc can run. It is compiled with -O1, assertions on; what
#       target_compile_options adds (-O0, say) comes later and wins.
#   mc_instrument(TARGET)
#       Makes a library of yours part of what mc sees: its accesses to memory become events.
#       (Code that is not instrumented runs, but mc cannot interleave within it.)
#
# The compiler stays the project's own. mc-c++ stands in front of it and adds its options, so that
# they are written down in one place.

set(MC_HARNESS_TOOLS_DIR "${MC_TOOLS_DIR}" CACHE INTERNAL "")

function(mc_instrument target)
  foreach(language_and_wrapper "CXX;mc-c++" "C;mc-cc")
    list(GET language_and_wrapper 0 language)
    list(GET language_and_wrapper 1 wrapper)
    set_target_properties(${target} PROPERTIES
      ${language}_COMPILER_LAUNCHER "${MC_HARNESS_TOOLS_DIR}/${wrapper};--mc-compiler"
      ${language}_LINKER_LAUNCHER "${MC_HARNESS_TOOLS_DIR}/${wrapper};--mc-compiler")
  endforeach()
  target_compile_options(${target} PRIVATE -O1 -UNDEBUG)
endfunction()

function(mc_add_harness name)
  if(NOT ARGN)
    message(FATAL_ERROR "mc_add_harness(${name}): no source files")
  endif()
  add_executable(${name} ${ARGN})
  mc_instrument(${name})
  # Within mc's own build the runtime has to be there before a harness can be linked with it.
  if(TARGET mc_runtime)
    add_dependencies(${name} mc_runtime mc_main)
  endif()
endfunction()
