# SPDX-License-Identifier: Apache-2.0
# A core with kernels as one folder: included by tests/CMakeLists.txt.
add_executable(toy_core_test ${CMAKE_CURRENT_LIST_DIR}/toy_core_test.cpp ${CMAKE_CURRENT_LIST_DIR}/toy/toy.cpp)
target_include_directories(toy_core_test PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/tools)
target_link_libraries(toy_core_test PRIVATE aotc_codegen GTest::gtest_main)
add_test(NAME ${name_prefix}toy_core COMMAND toy_core_test)
set_tests_properties(${name_prefix}toy_core PROPERTIES LABELS quick)
