# SPDX-License-Identifier: Apache-2.0
# A format of models as one folder: included by tests/CMakeLists.txt.
add_executable(toy_frontend_test ${CMAKE_CURRENT_LIST_DIR}/toy_frontend_test.cpp
                                 ${CMAKE_CURRENT_LIST_DIR}/toy/toy.cpp)
target_include_directories(toy_frontend_test PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/tools)
target_link_libraries(toy_frontend_test PRIVATE aotc_codegen aotc_frontends GTest::gtest_main)
add_test(NAME ${name_prefix}toy_frontend COMMAND toy_frontend_test)
set_tests_properties(${name_prefix}toy_frontend PROPERTIES LABELS quick)
