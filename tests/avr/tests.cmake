# SPDX-License-Identifier: Apache-2.0
# Models on AVR boards in simavr: included by tests/CMakeLists.txt behind e2e/tests.cmake.
pytest_test(avr.spaces.tables quick test_spaces.py::test_tables)
pytest_test(avr.spaces.errors quick test_spaces.py -k "not tables and not tampered")
pytest_test(avr.spaces.tampered quick test_spaces.py::test_tampered)
foreach(lane hello_world digits ops.int8 ops.f32 ops.int8.mega ops.speed ops.size ops.ram)
  set(label full)
  if(lane STREQUAL "hello_world")
    set(label quick)
  endif()
  pytest_test(avr.${lane} ${label} test_avr.py -k ${lane}-)
endforeach()
pytest_test(avr.measure quick test_measure.py)
