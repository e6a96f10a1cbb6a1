# SPDX-License-Identifier: Apache-2.0
# Steps of writing output that fail, or where aotc is killed: included by tests/CMakeLists.txt.
set(faults ${CMAKE_CURRENT_LIST_DIR})

add_test(NAME faults COMMAND ${python} ${faults}/output_faults.py --aotc $<TARGET_FILE:aotc>
         --work ${CMAKE_BINARY_DIR}/faults)
set_tests_properties(faults PROPERTIES LABELS full TIMEOUT 1200)
add_test(NAME faults.inputs COMMAND ${python} ${faults}/hostile_inputs.py --aotc $<TARGET_FILE:aotc>
         --work ${CMAKE_BINARY_DIR}/faults_inputs)
set_tests_properties(faults.inputs PROPERTIES LABELS full TIMEOUT 300)
