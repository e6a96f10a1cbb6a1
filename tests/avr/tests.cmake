# SPDX-License-Identifier: Apache-2.0
# Models on AVR boards in simavr: included by tests/CMakeLists.txt behind e2e/tests.cmake.
set(avr ${CMAKE_CURRENT_LIST_DIR})
set(avr_work ${CMAKE_BINARY_DIR}/avr)

function(avr_test name label)
  add_test(NAME avr.${name} COMMAND ${python} ${avr}/${ARGN} --work ${avr_work}/${name})
  set_tests_properties(avr.${name} PROPERTIES LABELS ${label}
    SKIP_RETURN_CODE 77 ENVIRONMENT "AOTC=$<TARGET_FILE:aotc>;PYTHONDONTWRITEBYTECODE=1")
endfunction()

foreach(check tables errors tampered)
  avr_test(spaces.${check} quick spaces.py ${check})
endforeach()
avr_test(hello_world quick on_avr.py arduino_uno --models hello_world_int8,hello_world_float)
avr_test(digits full on_avr.py arduino_mega2560 --models digits_int8,gadget_int8,gru_steps_int8)
avr_test(ops.int8 full on_avr.py arduino_uno --ops int8)
avr_test(ops.f32 full on_avr.py arduino_mega2560 --ops f32)
avr_test(ops.int8.mega full on_avr.py arduino_mega2560 --ops int8 --every 4)
# What else changes the C, and other optimisers.
avr_test(ops.speed full on_avr.py arduino_uno --ops int8 --every 4 --flags=-O2 "--compile=-O speed")
avr_test(ops.size full on_avr.py arduino_uno --ops int8 --every 4 --flags=-O1
  "--compile=-O size --input preserve --output overwrite")
avr_test(ops.ram full on_avr.py arduino_uno --ops int8 --every 4 --flags=-O3
  "--compile=--constants ram")
avr_test(measure quick measure.py arduino_uno hello_world_int8
  --json ${CMAKE_BINARY_DIR}/avr_figures.json)
