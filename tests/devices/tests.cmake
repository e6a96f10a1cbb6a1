# Devices: the second core of the AN521, and failing hooks. Included by tests/CMakeLists.txt.
set(devices ${CMAKE_CURRENT_LIST_DIR})

add_test(NAME devices.second_core COMMAND ${Python3_EXECUTABLE} ${devices}/second_core.py
         --work ${CMAKE_BINARY_DIR}/devices)
set_tests_properties(devices.second_core PROPERTIES LABELS quick TIMEOUT 300)
add_test(NAME devices.faults COMMAND ${Python3_EXECUTABLE} ${devices}/faults.py
         --work ${CMAKE_BINARY_DIR}/devices)
set_tests_properties(devices.faults PROPERTIES LABELS quick TIMEOUT 300)
