# SPDX-License-Identifier: Apache-2.0
# What TensorFlow Lite Micro runs: included by tests/CMakeLists.txt. scripts/test --long has all models.
add_test(NAME tflm.gate
         COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/gate.py --program $<TARGET_FILE:check_models> --sample 60
                 --work ${CMAKE_BINARY_DIR}/tflm_gate)
set_tests_properties(tflm.gate PROPERTIES LABELS full FIXTURES_REQUIRED cases)
