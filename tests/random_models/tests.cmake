# SPDX-License-Identifier: Apache-2.0
# Random models against LiteRT: included by tests/CMakeLists.txt.
add_executable(check_models ${CMAKE_CURRENT_LIST_DIR}/check_models.cpp
               random_graphs/targets.cpp random_graphs/batches.cpp)
target_link_libraries(check_models PRIVATE aotc_codegen aotc_frontends CLI11::CLI11 Threads::Threads)
target_compile_definitions(check_models PRIVATE AOTC_SOURCE_DIR="${CMAKE_SOURCE_DIR}")

if(AOTC_SANITIZE)
  return()
endif()

set(random_models ${python} ${CMAKE_CURRENT_LIST_DIR}/lane.py --program $<TARGET_FILE:check_models>
    --cc "${random_graphs_cc}")
add_test(NAME random_models
         COMMAND ${random_models} --count 800 --jobs 2 --work ${CMAKE_BINARY_DIR}/random_models)
set_tests_properties(random_models PROPERTIES LABELS full)
add_test(NAME random_models.any_type
         COMMAND ${random_models} --any-type --count 200 --jobs 2 --work ${CMAKE_BINARY_DIR}/random_models_any_type)
set_tests_properties(random_models.any_type PROPERTIES LABELS full)
pytest_test(random_models.can_fail full test_random_models_can_fail.py)
add_test(NAME random_models.documents
         COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/lane.py --documents)
set_tests_properties(random_models.documents PROPERTIES LABELS quick)
pytest_test(random_models.edges full test_edges.py)
