# SPDX-License-Identifier: Apache-2.0
# What the tests of the C runtime run of it: they are linked once more with the runtime compiled for
# counting and without sanitizers, whose checks would count as branches. scripts/coverage --crt runs
# them and holds lines and branches against its floors. The RPC server is not among it: its tests need
# the compiler's end of the line.
set(counted_programs "")
function(add_counted name)
  get_target_property(definitions ${name} COMPILE_DEFINITIONS)
  if(NOT definitions)
    set(definitions "")
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/crt/src/*.c)
  add_library(${name}_counted OBJECT ${sources})
  set_target_properties(${name}_counted PROPERTIES C_STANDARD 99 C_EXTENSIONS OFF)
  target_compile_options(${name}_counted PRIVATE -O0 --coverage -fno-sanitize=all)
  target_compile_definitions(${name}_counted PRIVATE ${definitions})
  target_include_directories(${name}_counted PRIVATE ${CMAKE_SOURCE_DIR}/crt/include)
  add_executable(${name}_coverage $<TARGET_OBJECTS:${name}_counted>
                 "$<FILTER:$<TARGET_OBJECTS:${name}>,EXCLUDE,/crt/src/>")
  target_link_libraries(${name}_coverage PRIVATE $<TARGET_PROPERTY:${name},LINK_LIBRARIES>)
  target_link_options(${name}_coverage PRIVATE -fsanitize=address,undefined --coverage)
  set(counted_programs ${counted_programs} $<TARGET_FILE:${name}_coverage> PARENT_SCOPE)
endfunction()
foreach(name crt_default_test crt_static_workspace_test crt_unchecked_test crt_small_test crt_debug_test)
  add_counted(${name})
endforeach()
add_test(NAME crt_coverage COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/scripts/coverage --crt
         ${CMAKE_BINARY_DIR} ${counted_programs})
set_tests_properties(crt_coverage PROPERTIES LABELS full)
