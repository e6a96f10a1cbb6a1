# SPDX-License-Identifier: Apache-2.0
# Random option sets on random models: included by tests/CMakeLists.txt.
if(AOTC_SANITIZE)
  return()
endif()
set(option_sets ${CMAKE_CURRENT_LIST_DIR})
add_test(NAME option_sets
         COMMAND ${python} ${option_sets}/lane.py --aotc $<TARGET_FILE:aotc> --count 300 --jobs 2 --work ${CMAKE_BINARY_DIR}/option_sets)
set_tests_properties(option_sets PROPERTIES LABELS full)
pytest_test(option_sets.can_fail full test_option_sets_can_fail.py)
