# SPDX-License-Identifier: Apache-2.0
# Firmware that the runner of the MLPerf Tiny benchmark measures: included by tests/CMakeLists.txt.
foreach(case accuracy models performance lines hostile numbers project zephyr arduino)
  add_test(NAME mlperf.${case} COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/cases.py ${case}
           --aotc $<TARGET_FILE:aotc> --work ${CMAKE_BINARY_DIR}/mlperf/${case})
  set_tests_properties(mlperf.${case} PROPERTIES LABELS full SKIP_RETURN_CODE 77
    ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1")
endforeach()
foreach(case features board official script)
  add_test(NAME mlperf.stream_${case} COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/stream_cases.py ${case}
           --aotc $<TARGET_FILE:aotc> --work ${CMAKE_BINARY_DIR}/mlperf/stream_${case})
  set_tests_properties(mlperf.stream_${case} PROPERTIES LABELS full SKIP_RETURN_CODE 77
    ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1")
endforeach()
set_tests_properties(mlperf.numbers mlperf.project mlperf.zephyr PROPERTIES LABELS quick)
