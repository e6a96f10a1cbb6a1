# SPDX-License-Identifier: Apache-2.0
# The example from samples to label: included by tests/CMakeLists.txt.
e2e_test(speech.label full ${python} ${CMAKE_CURRENT_LIST_DIR}/run_speech.py --work ${work}/speech)
