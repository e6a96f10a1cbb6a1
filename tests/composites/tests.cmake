# SPDX-License-Identifier: Apache-2.0
# STABLEHLO_COMPOSITE: included by tests/CMakeLists.txt.
e2e_test(composites full ${python} ${CMAKE_CURRENT_LIST_DIR}/run_composites.py --work ${work}/composites)
