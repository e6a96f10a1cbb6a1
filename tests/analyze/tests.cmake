# SPDX-License-Identifier: Apache-2.0
# aotc-analyze, and what aotc does with its findings: included by tests/CMakeLists.txt. The build
# with sanitizers runs them too: the program under test is another one.
# Where Clang's package ends every configuration that asks for it, as where only some of its libraries are installed,
# -DAOTC_ANALYZE=OFF configures, tests included.
set(broken_clang ${CMAKE_BINARY_DIR}/broken_clang)
file(WRITE ${broken_clang}/ClangConfigVersion.cmake "set(PACKAGE_VERSION 19.1.7)\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n")
file(WRITE ${broken_clang}/ClangConfig.cmake "message(FATAL_ERROR \"Clang's libraries are absent\")\n")
add_test(NAME configure.without_clang
         COMMAND ${CMAKE_COMMAND} -S ${CMAKE_SOURCE_DIR} -B ${CMAKE_BINARY_DIR}/without_clang -G ${CMAKE_GENERATOR}
                 -DAOTC_TESTS=ON -DAOTC_ANALYZE=OFF -DClang_DIR=${broken_clang})
set_tests_properties(configure.without_clang PROPERTIES LABELS full)
if(NOT AOTC_SANITIZE)
  # What is not built is not said on the command line.
  set(analyzer "")
  if(TARGET aotc-analyze)
    set(analyzer --analyze $<TARGET_FILE:aotc-analyze>)
  endif()
  add_test(NAME analyze.stack
           COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/run_stack.py --aotc $<TARGET_FILE:aotc>
                   ${analyzer}
                   --work ${CMAKE_BINARY_DIR}/analyze/stack)
  set_tests_properties(analyze.stack PROPERTIES LABELS quick SKIP_RETURN_CODE 77)
  add_test(NAME analyze.firmware
           COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/run_stack.py --aotc $<TARGET_FILE:aotc>
                   --work ${CMAKE_BINARY_DIR}/analyze/firmware --firmware
                   ${CMAKE_SOURCE_DIR}/tests/models/digits/digits_int8.tflite=qemu_microbit,qemu_mps2_an386,qemu_riscv32
                   ${CMAKE_SOURCE_DIR}/tests/models/digits/digits_f32.tflite=qemu_microbit,qemu_mps3_an547
                   ${CMAKE_SOURCE_DIR}/tests/models/gadget/gadget_f32.tflite=qemu_mps2_an386)
  set_tests_properties(analyze.firmware PROPERTIES LABELS full SKIP_RETURN_CODE 77)
  # All models, boards and levels are a long lane (tests/reliability/lanes.py).
  add_test(NAME analyze.levels
           COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/run_stack.py --aotc $<TARGET_FILE:aotc>
                   --work ${CMAKE_BINARY_DIR}/analyze/levels --levels size,balanced,speed --firmware
                   ${CMAKE_SOURCE_DIR}/tests/models/digits/digits_int8.tflite=qemu_mps2_an385,qemu_mps2_an386,qemu_mps3_an547
                   ${CMAKE_SOURCE_DIR}/tests/models/digits/digits_f32.tflite=qemu_mps2_an386)
  set_tests_properties(analyze.levels PROPERTIES LABELS full SKIP_RETURN_CODE 77)
  foreach(case mlperf zephyr)
    add_test(NAME analyze.${case}
             COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/run_projects.py ${case} --aotc $<TARGET_FILE:aotc>
                     --work ${CMAKE_BINARY_DIR}/analyze/${case})
    set_tests_properties(analyze.${case} PROPERTIES LABELS full SKIP_RETURN_CODE 77)
  endforeach()
  add_test(NAME analyze.cycles
           COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/run_cycles.py --aotc $<TARGET_FILE:aotc>
                   ${analyzer} --work ${CMAKE_BINARY_DIR}/analyze/cycles)
  set_tests_properties(analyze.cycles PROPERTIES LABELS quick SKIP_RETURN_CODE 77)
endif()
if(NOT TARGET aotc-analyze)
  return()
endif()
if(NOT AOTC_SANITIZE)
  add_test(NAME analyze.sources
           COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/run_sources.py --aotc $<TARGET_FILE:aotc>
                   --analyze $<TARGET_FILE:aotc-analyze> --work ${CMAKE_BINARY_DIR}/analyze/sources)
  set_tests_properties(analyze.sources PROPERTIES LABELS full)
endif()
set(driver ${CMAKE_SOURCE_DIR}/compiler/driver)
set(aotc $<TARGET_FILE:aotc>)
if(AOTC_SANITIZE)
  set(aotc ${CMAKE_SOURCE_DIR}/build/release/compiler/aotc)
endif()
add_executable(operator_sources_test ${CMAKE_CURRENT_LIST_DIR}/operator_sources_test.cpp
               ${driver}/operator_sources.cpp ${driver}/operator_check.cpp ${driver}/analyzer.cpp
               ${driver}/temporary.cpp)
target_link_libraries(operator_sources_test PRIVATE aotc_support GTest::gtest_main)
add_dependencies(operator_sources_test aotc-analyze)
add_test(NAME ${name_prefix}analyze.operators COMMAND operator_sources_test)
set_tests_properties(${name_prefix}analyze.operators PROPERTIES LABELS quick
                     ENVIRONMENT "AOTC_ANALYZE=$<TARGET_FILE:aotc-analyze>")

foreach(check cases gcc tvm messages hostile start command)
  set(label quick)
  if(check MATCHES "hostile|start")
    set(label full)
  endif()
  add_test(NAME ${name_prefix}analyze.${check}
           COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/run_analyze.py ${check}
                   --analyze $<TARGET_FILE:aotc-analyze> --aotc ${aotc}
                   --work ${CMAKE_BINARY_DIR}/analyze/${check})
  set_tests_properties(${name_prefix}analyze.${check} PROPERTIES LABELS ${label}
                       SKIP_RETURN_CODE 77)
endforeach()
if(AOTC_SANITIZE)
  # A crash of Clang, which some sources provoke, is to be one here, too.
  set_tests_properties(${name_prefix}analyze.hostile PROPERTIES
                       ENVIRONMENT "ASAN_OPTIONS=abort_on_error=1")
  # How long an instrumented program takes says nothing.
  set_tests_properties(${name_prefix}analyze.start PROPERTIES DISABLED TRUE)
endif()
