# SPDX-License-Identifier: Apache-2.0
# Arduino and PlatformIO projects: included by tests/CMakeLists.txt behind e2e/tests.cmake.
function(arduino_test name label)
  add_test(NAME ${name} COMMAND ${python} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${ARGN}
    --work ${CMAKE_BINARY_DIR}/arduino/${name})
  set_tests_properties(${name} PROPERTIES LABELS ${label}
    SKIP_RETURN_CODE 77 ENVIRONMENT "AOTC=$<TARGET_FILE:aotc>;PYTHONDONTWRITEBYTECODE=1")
endfunction()

foreach(what uno mega damaged cli)
  arduino_test(arduino.${what} full boards.py ${what})
endforeach()
arduino_test(arduino.rules full rules.py)
arduino_test(arduino.host full platformio.py host)
arduino_test(platformio.tools full platformio.py tools)
