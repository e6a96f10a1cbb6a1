# SPDX-License-Identifier: Apache-2.0
# Stands in for Zephyr's CMake package: the target `app` and the functions for modules, with the same
# names and scopes. STAND_IN is the folder with stand_in.h, STAND_IN_LAYOUT is old or new,
# STAND_IN_CONFIG the folder with .config and autoconf.h, STAND_IN_PROGRAM says whether the result is
# a program, which runs here, or a library for a board.
project(stand_in C)
set(CMAKE_C_STANDARD 99)

# Zephyr makes CMake variables of the configuration.
file(STRINGS ${STAND_IN_CONFIG}/.config lines REGEX "^CONFIG_")
foreach(line IN LISTS lines)
  string(REGEX MATCH "^([^=]+)=\"?([^\"]*)\"?$" found "${line}")
  set(${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
endforeach()

add_library(stand_in_interface INTERFACE)
target_include_directories(stand_in_interface SYSTEM INTERFACE
  ${STAND_IN} ${STAND_IN}/include/${STAND_IN_LAYOUT})
target_compile_options(stand_in_interface INTERFACE
  -ffreestanding -imacros ${STAND_IN_CONFIG}/autoconf.h -Os -Wall -Wextra -Werror)

if(STAND_IN_PROGRAM)
  add_executable(app ${STAND_IN}/stand_in.c)
else()
  add_library(app STATIC)
endif()
target_link_libraries(app PRIVATE stand_in_interface)
if(CONFIG_REQUIRES_FULL_LIBC)
  target_link_libraries(app PRIVATE m)
endif()

function(zephyr_include_directories)
  foreach(folder IN LISTS ARGN)
    get_filename_component(folder ${folder} ABSOLUTE)
    target_include_directories(stand_in_interface INTERFACE ${folder})
  endforeach()
endfunction()
macro(zephyr_library_named name)
  set(ZEPHYR_CURRENT_LIBRARY ${name})
  add_library(${name} STATIC)
  target_link_libraries(${name} PRIVATE stand_in_interface)
  target_link_libraries(app PRIVATE ${name})
endmacro()
function(zephyr_library_sources)
  target_sources(${ZEPHYR_CURRENT_LIBRARY} PRIVATE ${ARGN})
endfunction()
function(zephyr_library_compile_definitions)
  target_compile_definitions(${ZEPHYR_CURRENT_LIBRARY} PRIVATE ${ARGN})
endfunction()
# Where the linker script would include them.
function(zephyr_linker_sources place)
  foreach(file IN LISTS ARGN)
    file(READ ${file} text)
    file(APPEND ${CMAKE_BINARY_DIR}/linker_sources.txt "${place}: ${text}")
  endforeach()
endfunction()

foreach(module IN LISTS ZEPHYR_MODULES)
  get_filename_component(name ${module} NAME)
  add_subdirectory(${module} modules/${name})
endforeach()
