# SPDX-License-Identifier: Apache-2.0
# Zephyr application and module, without a Zephyr tree: included by tests/CMakeLists.txt.
foreach(case structure kconfig run cross clock aotc_run)
  add_test(NAME zephyr.${case} COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/check.py ${case}
           --aotc $<TARGET_FILE:aotc> --work ${CMAKE_BINARY_DIR}/zephyr/${case})
  set_tests_properties(zephyr.${case} PROPERTIES LABELS full SKIP_RETURN_CODE 77
    ENVIRONMENT "AOTC=$<TARGET_FILE:aotc>;PYTHONDONTWRITEBYTECODE=1")
endforeach()
set_tests_properties(zephyr.structure zephyr.kconfig zephyr.clock PROPERTIES LABELS quick)
