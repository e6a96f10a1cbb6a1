# SPDX-License-Identifier: Apache-2.0
# What the tests with sanitizers run of the compiler, counted by Clang: the last of them fails below scripts/coverage's
# floor. Only in builds with AOTC_COUNT, as CI's.

# Tests that this folder has up to here write their counts, and end before they are looked at.
function(aotc_count_tests)
  if(NOT AOTC_COUNTED)
    return()
  endif()
  get_property(tests DIRECTORY PROPERTY TESTS)
  set_property(TEST ${tests} APPEND PROPERTY ENVIRONMENT "LLVM_PROFILE_FILE=${CMAKE_BINARY_DIR}/profiles/%4m.profraw")
  set_property(GLOBAL APPEND PROPERTY AOTC_COUNTED_TESTS ${tests})
endfunction()

function(aotc_coverage_test)
  if(NOT AOTC_COUNTED)
    return()
  endif()
  set(programs "")
  foreach(target unit_tests run_cases random_graphs aotc-opt mutate_models mutate_graphs mutate_onnx tflite_fuzz mlf_fuzz graph_fuzz
          text_fuzz onnx_fuzz aotc-analyze operator_sources_test toy_core_test toy_frontend_test)
    if(TARGET ${target})
      list(APPEND programs $<TARGET_FILE:${target}>)
    endif()
  endforeach()
  add_test(NAME ${name_prefix}coverage COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/scripts/coverage
    --compiler ${CMAKE_BINARY_DIR}/profiles ${programs})
  get_property(tests GLOBAL PROPERTY AOTC_COUNTED_TESTS)
  set_tests_properties(${name_prefix}coverage PROPERTIES DEPENDS "${tests}" LABELS full)
endfunction()
