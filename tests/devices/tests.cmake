# SPDX-License-Identifier: Apache-2.0
# Devices: the second core of the AN521, and failing hooks. Included by tests/CMakeLists.txt.
set(devices ${CMAKE_CURRENT_LIST_DIR})

add_test(NAME devices.second_core COMMAND ${Python3_EXECUTABLE} ${devices}/second_core.py
         --work ${CMAKE_BINARY_DIR}/devices)
set_tests_properties(devices.second_core PROPERTIES LABELS quick)
add_test(NAME devices.faults COMMAND ${Python3_EXECUTABLE} ${devices}/faults.py
         --work ${CMAKE_BINARY_DIR}/devices)
set_tests_properties(devices.faults PROPERTIES LABELS quick)
add_test(NAME devices.names COMMAND ${Python3_EXECUTABLE} ${devices}/names.py
         $<TARGET_FILE:aotc> ${CMAKE_BINARY_DIR}/devices/names)
set_tests_properties(devices.names PROPERTIES LABELS quick)
# Models that aotc compiled for two devices.
foreach(what faults transfer digits_int8 gru_steps_int8 resnet)
  set(label full)
  if(what STREQUAL "faults")
    set(label quick)
  endif()
  e2e_test(devices.compiled.${what} ${label} ${python} ${devices}/compiled.py ${what}
    --work ${CMAKE_BINARY_DIR}/devices)
endforeach()
