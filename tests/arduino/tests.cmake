# SPDX-License-Identifier: Apache-2.0
# Arduino and PlatformIO projects: included by tests/CMakeLists.txt behind e2e/tests.cmake.
foreach(what uno mega damaged cli)
  pytest_test(arduino.${what} full test_arduino_boards.py -k test_${what})
endforeach()
pytest_test(arduino.rules full test_arduino_rules.py)
foreach(what host tools)
  set(name arduino.${what})
  if(what STREQUAL "tools")
    set(name platformio.tools)
  endif()
  pytest_test(${name} full test_platformio.py -k test_${what})
endforeach()
