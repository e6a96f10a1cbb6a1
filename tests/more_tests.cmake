# SPDX-License-Identifier: Apache-2.0
# Random graphs, the command line, and golden emitted C.

# What makes graphs, for kernels.assemble, too.
set(graph_makers generator graph_maker graph_operators graph_bits graph_layouts graph_movers graph_products
    graph_recurrent graph_states graph_signal graph_trees graph_windows control_maker unrolled_maker rows_maker)
list(TRANSFORM graph_makers PREPEND ${CMAKE_CURRENT_LIST_DIR}/random_graphs/)
list(TRANSFORM graph_makers APPEND .cpp)
add_library(random_graph_makers STATIC EXCLUDE_FROM_ALL ${graph_makers})
target_link_libraries(random_graph_makers PUBLIC aotc_frontends)
add_executable(random_graphs random_graphs/random_graphs.cpp random_graphs/trial.cpp random_graphs/memory_check.cpp
               random_graphs/device_check.cpp random_graphs/targets.cpp random_graphs/batches.cpp)
find_package(Threads REQUIRED)
target_link_libraries(random_graphs PRIVATE random_graph_makers source_dir aotc_codegen aotc_frontends aotc_options
                      Threads::Threads)
if(AOTC_SANITIZE)
  target_compile_options(random_graph_makers PRIVATE -O0)
  target_compile_options(random_graphs PRIVATE -O0)
endif()
set(random_graphs_cc "gcc -O1")
# Sanitizers see most where nothing is optimised away, and gcc takes half of the time.
set(random_graphs_sanitized "gcc -O0 -fsanitize=address,undefined -fno-sanitize-recover=all")
if(CCACHE)
  set(random_graphs_cc "${CCACHE} ${random_graphs_cc}")
endif()
add_test(NAME ${name_prefix}random_graphs
         COMMAND random_graphs --count 200 --work ${CMAKE_BINARY_DIR}/random_graphs
                 --cc "${random_graphs_cc}")
set_tests_properties(${name_prefix}random_graphs PROPERTIES LABELS quick)
add_test(NAME ${name_prefix}random_graphs.control
         COMMAND random_graphs --control --count 100 --work ${CMAKE_BINARY_DIR}/random_graphs_control
                 --cc "${random_graphs_sanitized}")
add_test(NAME ${name_prefix}random_graphs.rows
         COMMAND random_graphs --rows --count 40 --work ${CMAKE_BINARY_DIR}/random_graphs_rows
                 --cc "${random_graphs_cc}")
# Windows wider than their images among them: clang refuses conditions that nothing fulfils.
add_test(NAME ${name_prefix}random_graphs.rows.clang
         COMMAND random_graphs --rows --first 705 --count 8 --work ${CMAKE_BINARY_DIR}/random_graphs_rows_clang
                 --cc "clang-19 -O1")
# What the long lane found: a graph, and the seed whose options it failed with.
add_test(NAME ${name_prefix}random_graphs.found
         COMMAND random_graphs --graph ${CMAKE_CURRENT_SOURCE_DIR}/random_graphs/rest_in_turns.air --first 302187
                 --work ${CMAKE_BINARY_DIR}/random_graphs_found)
set_tests_properties(${name_prefix}random_graphs.rows ${name_prefix}random_graphs.rows.clang ${name_prefix}random_graphs.found PROPERTIES LABELS quick)

if(AOTC_SANITIZE)
  return()
endif()

pytest_test(cli quick cli/test_cli.py)
foreach(part help messages manual schema scripts)
  pytest_test(cli.${part} quick cli/test_${part}.py)
endforeach()
pytest_test(cli.boards full cli/test_cli_boards.py)
pytest_test(cli.budget full cli/test_budget.py)

pytest_test(golden quick golden/test_golden.py)
