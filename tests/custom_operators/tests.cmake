# SPDX-License-Identifier: Apache-2.0
# Custom operators that a user gives as C, which aotc-analyze reads: included by tests/CMakeLists.txt.
if(TARGET aotc-analyze)
  set(custom ${CMAKE_CURRENT_LIST_DIR}/run_custom.py)
  e2e_test(custom_operators.equal full ${python} ${custom} equal --work ${work}/custom_equal)
  e2e_test(custom_operators.refused full ${python} ${custom} refused --work ${work}/custom_refused)
endif()
