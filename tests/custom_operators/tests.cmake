# SPDX-License-Identifier: Apache-2.0
# Custom operators that a user gives as C, which aotc-analyze reads: included by tests/CMakeLists.txt behind e2e/tests.cmake.
if(TARGET aotc-analyze)
  pytest_test(custom_operators.equal full test_custom_operators.py -k "not refused and not missing and not no_source")
  pytest_test(custom_operators.refused full test_custom_operators.py -k "refused or missing or no_source")
endif()
