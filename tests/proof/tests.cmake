# SPDX-License-Identifier: Apache-2.0
# Proofs of kernels (docs/soundness.md): included by tests/CMakeLists.txt.
if(TARGET aotc-analyze)
  file(GLOB proof_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.cpp)
  add_executable(prove_kernels ${proof_sources} ${kernel_cases})
  target_link_libraries(prove_kernels PRIVATE aotc_codegen aotc_frontends fmt::fmt LLVM)
  target_include_directories(prove_kernels SYSTEM PRIVATE $<TARGET_PROPERTY:aotc-analyze,INCLUDE_DIRECTORIES>)
  # CPU seconds: sample 12, all 72, values 16, rules 21, mutants 41.
  add_test(NAME proof.sample COMMAND prove_kernels --every 12 --mutants 20)
  add_test(NAME proof.all COMMAND prove_kernels)
  add_test(NAME proof.values COMMAND prove_kernels --values)
  add_test(NAME proof.rules COMMAND prove_kernels --rules)
  add_test(NAME proof.mutants COMMAND prove_kernels --every 5 --mutants 60)
endif()
