# SPDX-License-Identifier: Apache-2.0
# The recorded figures of scripts/bench: included by tests/CMakeLists.txt.
set(bench ${CMAKE_SOURCE_DIR}/scripts/bench)

add_test(NAME bench.unit
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/bench/bench_test.py)
set_tests_properties(bench.unit PROPERTIES LABELS quick ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1")

# bench_check(NAME MODELS TARGETS): fails when a figure is more than 1 % worse than recorded.
function(bench_check name models targets)
  add_test(NAME bench.${name} COMMAND ${bench} --check --level all --models ${models} --targets ${targets}
    --jobs 2 --aotc $<TARGET_FILE:aotc> --work ${CMAKE_BINARY_DIR}/bench_${name})
  set_tests_properties(bench.${name} PROPERTIES LABELS full SKIP_RETURN_CODE 77)
endfunction()
bench_check(shipped digits_int8 m0,m3,m4,m7,m33,m55,rv32imac)
bench_check(shared kws,resnet,ad,strww m3,m4,rv32imac)
bench_check(other kws,vww,resnet,ad,strww,micro_speech m7,m33)
bench_check(more vww,micro_speech m4)

# Dynamic range beside int8: instructions of fully connected layers, at most 1.2 times as many.
add_test(NAME bench.levels
  COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/bench/levels.py --aotc $<TARGET_FILE:aotc>)
set_tests_properties(bench.levels PROPERTIES LABELS full SKIP_RETURN_CODE 77)
add_test(NAME bench.dynamic_range
  COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/bench/dynamic_range.py --aotc $<TARGET_FILE:aotc>)
set_tests_properties(bench.dynamic_range PROPERTIES LABELS full SKIP_RETURN_CODE 77)
add_test(NAME bench.svdf
  COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/bench/svdf.py --aotc $<TARGET_FILE:aotc>)
set_tests_properties(bench.svdf PROPERTIES LABELS full SKIP_RETURN_CODE 77)
