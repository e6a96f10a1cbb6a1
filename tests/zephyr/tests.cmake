# SPDX-License-Identifier: Apache-2.0
# Zephyr application and module, without a Zephyr tree: included by tests/CMakeLists.txt.
foreach(case structure kconfig run cross clock aotc_run)
  set(label quick)
  if(case MATCHES "run|cross")
    set(label full)
  endif()
  pytest_test(zephyr.${case} ${label} test_zephyr.py -k test_${case})
endforeach()
