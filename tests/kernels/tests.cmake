# SPDX-License-Identifier: Apache-2.0
# Microkernels in an emulator: included by tests/CMakeLists.txt.
add_executable(emit_kernels ${CMAKE_CURRENT_LIST_DIR}/emit_kernels.cpp
               ${CMAKE_CURRENT_LIST_DIR}/cases_dsp.cpp ${CMAKE_CURRENT_LIST_DIR}/cases_depthwise.cpp
               ${CMAKE_CURRENT_LIST_DIR}/cases_elementwise.cpp ${CMAKE_CURRENT_LIST_DIR}/cases_svdf.cpp
               ${CMAKE_CURRENT_LIST_DIR}/cases_trees.cpp ${CMAKE_CURRENT_LIST_DIR}/cases_triples.cpp)
target_link_libraries(emit_kernels PRIVATE aotc_codegen aotc_frontends fmt::fmt)
foreach(variant gcc_O2 gcc_O0 clang_O2)
  pytest_test(kernels.${variant} full test_kernels.py -k ${variant})
endforeach()
