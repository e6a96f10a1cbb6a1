# SPDX-License-Identifier: Apache-2.0
# Tests that look at what aotc writes, from the outside: included by tests/CMakeLists.txt.
set(e2e ${CMAKE_CURRENT_LIST_DIR})
set(work ${CMAKE_BINARY_DIR}/e2e)

# e2e_test(NAME quick|full command...)
function(e2e_test name label)
  add_test(NAME ${name} COMMAND ${ARGN})
  set_tests_properties(${name} PROPERTIES LABELS ${label}
    SKIP_RETURN_CODE 77 ENVIRONMENT "AOTC=$<TARGET_FILE:aotc>;PYTHONDONTWRITEBYTECODE=1")
endfunction()

e2e_test(check.layers quick ${CMAKE_SOURCE_DIR}/scripts/check-layers)
pytest_test(check.compile_flags quick test_compile_flags.py)
e2e_test(check.licences quick ${CMAKE_SOURCE_DIR}/scripts/check-licences)
e2e_test(check.prose quick ${CMAKE_SOURCE_DIR}/scripts/check-prose)
e2e_test(check.selection quick ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/selection.py check ${CMAKE_BINARY_DIR})
e2e_test(check.verdicts quick ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/verdicts_test.py)
e2e_test(check.lanes quick ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/selection_test.py)
pytest_test(emitted.licences quick test_licences.py)
pytest_test(emitted.names quick test_names.py)

# --- Operator cases as C --------------------------------------------------------------------------
foreach(entry host O2 cortex_m4 cortex_m55 rv32imac packed.thumb1.conv_2d packed.thumb1.fully_connected packed.thumb2.conv_2d
        packed.thumb2.fully_connected packed.rv32.conv_2d packed.rv32.fully_connected aligned.cortex_m55 speed.conv_2d
        vectors.128 vectors.256)
  pytest_test(cases.${entry} full test_emitted_cases.py -k cases.${entry}-)
  set_tests_properties(cases.${entry} PROPERTIES FIXTURES_REQUIRED cases)
endforeach()
pytest_test(cases.pairs full ../oracle/test_pairs.py)
set_tests_properties(cases.pairs PROPERTIES FIXTURES_REQUIRED cases)

# --- Whole models ---------------------------------------------------------------------------------
foreach(entry own.gcc own.clang shared.gcc shared.clang ops.gcc ops.clang ops.cortex_m4 ops.rv32imac keras.gcc keras.cortex_m4
        planes.gcc planes.clang planes.cortex_m4 weights.clang weights.rv32imac int16.gcc int16.clang int16.cortex_m4 int16.rv32imac
        vectors.cortex_m55 vectors.ram.cortex_m55
        int4.cortex_m4 aligned.m3 aligned.m4 aligned.m7 aligned.m4_speed aligned.rv32 own.preserve.gcc own.preserve.cortex_m4
        own.overwrite.gcc own.overwrite.cortex_m4 ops.overwrite.gcc)
  pytest_test(models.${entry} full test_models.py -k models.${entry}-)
endforeach()
pytest_test(models.int4.gcc full test_models.py -k "models.int4.gcc- or int4_constants")
pytest_test(models.together full test_together.py)
pytest_test(models.weights_file full test_weights.py)
pytest_test(models.unrolled full test_unrolled.py)

# The calling conventions: the same bytes, and what the packed ones cost.
foreach(check bytes cost)
  pytest_test(conventions.${check}.own full test_conventions.py -k "${check} and (digits or gadget)")
  pytest_test(conventions.${check}.shared full test_conventions.py -k "${check} and not digits and not gadget")
endforeach()
foreach(what application pools)
  pytest_test(tvm_interface.${what} full test_tvm_interface.py -k test_${what})
endforeach()

# Models on boards, as a user makes them; also what test_figures.py reads.
set(layer_tests "")
foreach(entry kws vww resnet ad strww micro_speech hello_world_int8 gadget_int8 digits_int8 all.kws all.gadget_int8 all.digits_int8
        ad_f32 hello_world_float digits_f32 gadget_f32 vww_f32 resnet_f32)
  pytest_test(layers.${entry} full test_layers.py -k layers.${entry}-)
  list(APPEND layer_tests layers.${entry})
endforeach()
pytest_test(models.figures full test_figures.py)
set_tests_properties(models.figures PROPERTIES DEPENDS "${layer_tests}")

# --- Properties of the output and of the commands -------------------------------------------------
pytest_test(digits.accuracy_host quick test_digits.py -k host)
pytest_test(digits.accuracy_board quick test_digits.py -k qemu)
pytest_test(digits.commands quick test_digits.py::test_commands)
foreach(check strict tidy hostile deterministic workspace arguments arithmetic without_gnuc kernels fast_math)
  set(name emitted.${check})
  if(check STREQUAL hostile)
    set(name emitted.hostile_names)
  endif()
  pytest_test(${name} full test_emitted_c.py -k test_${check})
endforeach()
pytest_test(emitted.reading full test_reading.py)
e2e_test(emitted.misra full ${python} ${e2e}/misra.py check --some --work ${work}/misra)
e2e_test(emitted.columns full ${python} ${e2e}/modes.py columns --work ${work}/columns)
e2e_test(emitted.schedules full ${python} ${e2e}/schedules.py --models depthwise_column_int8,digits_int8
  --cpus host,cortex-m4f --every 12 --run 4 --work ${work}/schedules)
pytest_test(models.sparse full test_sparse.py)
pytest_test(models.float_vectors full test_float_vectors.py)
pytest_test(emitted.runs full test_run_matrix.py)
pytest_test(float_rule.flips.own full test_float_rule.py -k "flips and (digits or gadget)")
pytest_test(float_rule.flips.shared full test_float_rule.py -k "flips and not digits and not gadget")
pytest_test(float_rule.near_zero full test_float_rule.py::test_near_zero)
add_executable(cost_of ${e2e}/cost_of.c)
e2e_test(compile.cost full ${python} ${e2e}/compile_cost.py --launcher $<TARGET_FILE:cost_of>
  --out ${CMAKE_BINARY_DIR}/compile_cost.json)
# Boards and templates around a hand-written model.
e2e_test(boards full ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/boards/run_boards.py --quick)
# Where a compiler's cache (CCACHE_BASEDIR) knows sources again that boards share.
file(MAKE_DIRECTORY ${work}/boards_by_hand)
set_property(TEST boards APPEND PROPERTY ENVIRONMENT "TMPDIR=${work}/boards_by_hand")
add_test(NAME docs.reliability COMMAND ${Python3_EXECUTABLE}
  ${CMAKE_CURRENT_SOURCE_DIR}/reliability/lanes.py check)
set_tests_properties(docs.reliability PROPERTIES LABELS quick)
# What the documentation shows.
foreach(check excerpts slugs links symbols pictures usage)
  pytest_test(docs.${check} quick test_docs.py -k test_${check})
endforeach()
pytest_test(docs.readme quick test_docs.py -k "test_commands and readme or test_lines")
foreach(guide from-keras how-do-i from-tflm cli boards speech analyze state streaming together weights from-scikit-learn from-pytorch
        make-it-fit)
  pytest_test(docs.${guide} full test_docs.py -k "test_commands and ${guide}")
endforeach()
