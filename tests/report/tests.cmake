# SPDX-License-Identifier: Apache-2.0
# `aotc report` as a page and in other forms: included by tests/CMakeLists.txt.
foreach(part report browser)
  add_test(NAME report.${part}
           COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/run_${part}.py --aotc $<TARGET_FILE:aotc>
                   --work ${CMAKE_BINARY_DIR}/report/${part})
  set_tests_properties(report.${part} PROPERTIES LABELS quick SKIP_RETURN_CODE 77)
endforeach()
set_tests_properties(report.browser PROPERTIES LABELS full)
add_test(NAME report.data COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/run_data.py --aotc $<TARGET_FILE:aotc>
         --work ${CMAKE_BINARY_DIR}/report/data)
set_tests_properties(report.data PROPERTIES LABELS quick)
add_test(NAME report.build COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/run_build.py --aotc $<TARGET_FILE:aotc>
         --work ${CMAKE_BINARY_DIR}/report/build)
set_tests_properties(report.build PROPERTIES LABELS full)
