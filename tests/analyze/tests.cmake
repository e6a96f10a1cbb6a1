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
  pytest_test(analyze.stack quick test_stack.py::test_core)
  pytest_test(analyze.firmware full test_stack.py::test_firmware)
  pytest_test(analyze.levels full test_stack.py::test_levels)
  foreach(case mlperf zephyr)
    pytest_test(analyze.${case} full test_firmware_stacks.py::test_${case})
  endforeach()
  pytest_test(analyze.cycles quick test_cycles.py)
endif()
if(NOT TARGET aotc-analyze)
  return()
endif()
add_executable(decoders_test ${CMAKE_CURRENT_LIST_DIR}/decoders_test.cpp
               ${CMAKE_SOURCE_DIR}/compiler/tools/aotc-analyze/llvm_decoder.cpp
               ${CMAKE_SOURCE_DIR}/compiler/tools/aotc-analyze/llvm_machine.cpp)
target_include_directories(decoders_test PRIVATE ${CMAKE_SOURCE_DIR}/compiler/tools/aotc-analyze)
target_include_directories(decoders_test SYSTEM PRIVATE $<TARGET_PROPERTY:aotc-analyze,INCLUDE_DIRECTORIES>)
target_link_libraries(decoders_test PRIVATE aotc_machine LLVM)
if(NOT AOTC_SANITIZE)
  pytest_test(analyze.sources full test_sources.py)
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
  pytest_test(${name_prefix}analyze.${check} ${label} test_analyze.py::test_${check} --aotc=${aotc})
endforeach()
if(AOTC_SANITIZE)
  # A crash of Clang, which some sources provoke, is to be one here, too.
  set_property(TEST ${name_prefix}analyze.hostile APPEND PROPERTY ENVIRONMENT ASAN_OPTIONS=abort_on_error=1)
  # How long an instrumented program takes says nothing.
  set_tests_properties(${name_prefix}analyze.start PROPERTIES DISABLED TRUE)
endif()
