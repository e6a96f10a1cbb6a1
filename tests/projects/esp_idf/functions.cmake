# SPDX-License-Identifier: Apache-2.0
# Stands in for the functions of ESP-IDF and CMake's that a component calls, in script mode: each
# prints what it was told, a line NAME=VALUE for every value.
function(say name)
  foreach(value IN LISTS ARGN)
    message(STATUS "${name}=${value}")
  endforeach()
endfunction()

function(idf_component_register)
  cmake_parse_arguments(ARG "" "" "SRCS;INCLUDE_DIRS;PRIV_INCLUDE_DIRS;REQUIRES;PRIV_REQUIRES;LDFRAGMENTS" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "idf_component_register: unknown ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  foreach(field SRCS INCLUDE_DIRS PRIV_INCLUDE_DIRS REQUIRES PRIV_REQUIRES LDFRAGMENTS)
    say(${field} ${ARG_${field}})
  endforeach()
endfunction()

function(check_target target)
  if(NOT target STREQUAL COMPONENT_LIB)
    message(FATAL_ERROR "the target ${target} is not the component")
  endif()
endfunction()

function(target_compile_definitions target scope)
  check_target(${target})
  say(${scope} ${ARGN})
endfunction()

function(target_compile_options target scope)
  check_target(${target})
  say(${scope} ${ARGN})
endfunction()
