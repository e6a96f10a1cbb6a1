# SPDX-License-Identifier: Apache-2.0
# The recorded figures of scripts/bench: included by tests/CMakeLists.txt.
set(bench ${CMAKE_SOURCE_DIR}/scripts/bench)

pytest_test(bench.unit quick bench/test_bench.py)

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
# Takes eight CPU minutes.
add_test(NAME bench.forms COMMAND ${python} ${bench} --forms --aotc $<TARGET_FILE:aotc>
  --work ${CMAKE_BINARY_DIR}/bench_forms)
set_tests_properties(bench.forms PROPERTIES LABELS full SKIP_RETURN_CODE 77)

pytest_test(bench.levels full bench/test_levels.py)
# Dynamic range beside int8: instructions of fully connected layers, at most 1.2 times as many.
pytest_test(bench.dynamic_range full bench/test_dynamic_range.py)
pytest_test(bench.svdf full bench/test_svdf.py)
# Estimated instructions beside counted ones: three models in scripts/test, all others in scripts/test --all, with those
# that no cost was chosen with.
pytest_test(bench.estimates full bench/test_estimates.py::test_few)
pytest_test(bench.estimates.all full bench/test_estimates.py::test_more)
pytest_test(bench.estimates.held_out full bench/test_estimates.py::test_held_out)
