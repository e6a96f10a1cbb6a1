# SPDX-License-Identifier: Apache-2.0
# Microkernels in an emulator: included by tests/CMakeLists.txt.
set(kernel_cases cases.cpp cases_dsp.cpp cases_depthwise.cpp cases_elementwise.cpp cases_generated.cpp cases_svdf.cpp
    cases_riscv.cpp cases_trees.cpp cases_triples.cpp)
list(TRANSFORM kernel_cases PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
add_executable(emit_kernels ${CMAKE_CURRENT_LIST_DIR}/emit_kernels.cpp ${kernel_cases})
target_link_libraries(emit_kernels PRIVATE aotc_codegen aotc_frontends fmt::fmt)
foreach(variant gcc_O2 gcc_O0 clang_O2)
  pytest_test(kernels.${variant} full test_kernels.py -k ${variant})
endforeach()

# Where LLVM is, as for aotc-analyze.
if(TARGET aotc-analyze)
  add_executable(assemble_kernels ${CMAKE_CURRENT_LIST_DIR}/assemble_kernels.cpp ${CMAKE_CURRENT_LIST_DIR}/../proof/machine_code.cpp
                 ${kernel_cases})
  target_link_libraries(assemble_kernels PRIVATE random_graph_makers aotc_codegen aotc_frontends fmt::fmt LLVM)
  target_include_directories(assemble_kernels SYSTEM PRIVATE
                             $<TARGET_PROPERTY:aotc-analyze,INCLUDE_DIRECTORIES>)
  add_test(NAME kernels.assemble COMMAND assemble_kernels)
  set_tests_properties(kernels.assemble PROPERTIES LABELS quick)
endif()
