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
e2e_test(check.compile_flags quick ${Python3_EXECUTABLE} ${e2e}/compile_flags.py ${CMAKE_BINARY_DIR})
e2e_test(check.licences quick ${CMAKE_SOURCE_DIR}/scripts/check-licences)
e2e_test(check.selection quick ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/selection.py check ${CMAKE_BINARY_DIR})
e2e_test(check.verdicts quick ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/verdicts_test.py)
e2e_test(check.lanes quick ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/selection_test.py)
e2e_test(emitted.licences quick ${python} ${e2e}/licences.py --work ${work}/licences)
e2e_test(emitted.names quick ${python} ${e2e}/names.py --work ${work}/names)

# --- Operator cases as C --------------------------------------------------------------------------
foreach(target host O2 cortex_m4 cortex_m55 rv32imac)
  set(every 1)
  set(targets ${target})
  if(target STREQUAL "host")
    set(targets gcc clang)
  elseif(target STREQUAL "O2")
    set(targets gcc_O2 clang_O2)
    set(every 32)
  endif()
  if(target MATCHES "^(cortex_m|rv32)")
    set(every 5)
  endif()
  e2e_test(cases.${target} full ${python} ${e2e}/emitted_cases.py ${targets}
    --run-cases $<TARGET_FILE:run_cases> --cases ${cases} --out ${work}/cases_${target}
    --every ${every})
  set_tests_properties(cases.${target} PROPERTIES FIXTURES_REQUIRED cases)
endforeach()

foreach(target thumb1 thumb2 rv32)
  foreach(op conv_2d fully_connected)
    e2e_test(cases.packed.${target}.${op} full ${python} ${e2e}/emitted_cases.py ${target} --run-cases $<TARGET_FILE:run_cases>
      --cases ${cases} --out ${work}/cases_${target}_${op} --every 3 --op ${op})
    set_tests_properties(cases.packed.${target}.${op} PROPERTIES FIXTURES_REQUIRED cases)
  endforeach()
endforeach()

# On a core with vectors that traps accesses at addresses that are no multiple of their size.
e2e_test(cases.aligned.cortex_m55 full ${python} ${e2e}/emitted_cases.py cortex_m55_traps --run-cases $<TARGET_FILE:run_cases>
  --cases ${cases} --out ${work}/cases_aligned_m55 --every 40)
set_tests_properties(cases.aligned.cortex_m55 PROPERTIES FIXTURES_REQUIRED cases)

# What -O speed takes on a core with DSP instructions.
e2e_test(cases.speed.conv_2d full ${python} ${e2e}/emitted_cases.py cortex_m4_speed --run-cases $<TARGET_FILE:run_cases>
  --cases ${cases} --out ${work}/cases_speed --every 3 --op conv_2d)
set_tests_properties(cases.speed.conv_2d PROPERTIES FIXTURES_REQUIRED cases)

e2e_test(cases.pairs full ${python} ${e2e}/../oracle/pairs.py ${cases}/index.json)
set_tests_properties(cases.pairs PROPERTIES FIXTURES_REQUIRED cases)

# --- Whole models ---------------------------------------------------------------------------------
set(shared_int8 kws vww resnet ad strww micro_speech hello_world_int8)
set(shared_float vww_f32 resnet_f32 ad_f32 hello_world_float)
set(own digits_int8 gadget_int8 digits_f32 gadget_f32)
set(boards qemu_microbit qemu_mps2_an385 qemu_mps2_an386 qemu_mps2_an500 qemu_mps2_an505
    qemu_mps3_an547 qemu_riscv32)
list(JOIN own "," own_list)
string(REPLACE ";" "," shared_list "${shared_int8};${shared_float}")

# Keras models with an open batch.
set(keras flatten reshape conv1d lstm_unrolled gru_steps)
list(TRANSFORM keras APPEND "_int8" OUTPUT_VARIABLE keras_int8)
list(TRANSFORM keras APPEND "_f32" OUTPUT_VARIABLE keras_f32)
string(REPLACE ";" "," keras_list
  "${keras_int8};${keras_f32};lstm_turns_int8;gru_turns_int8;weights_dynamic;weights_float16")
foreach(target gcc cortex_m4)
  e2e_test(models.keras.${target} full ${python} ${e2e}/bundle.py ${target}
    --work ${work}/keras_${target} --models ${keras_list})
endforeach()
e2e_test(models.together full ${python} ${e2e}/together.py --work ${work}/together)
e2e_test(models.weights_file full ${python} ${e2e}/weights.py --work ${work}/weights)
e2e_test(models.unrolled full ${python} ${e2e}/unrolled.py --work ${work}/unrolled)
# Weights of int8 or float16 under float activations.
foreach(target clang rv32imac)
  e2e_test(models.weights.${target} full ${python} ${e2e}/bundle.py ${target}
    --work ${work}/weights_${target} --models weights_dynamic,weights_float16)
endforeach()

# int16 activations and int8 weights.
foreach(target gcc clang cortex_m4 rv32imac)
  e2e_test(models.int16.${target} full ${python} ${e2e}/bundle.py ${target}
    --work ${work}/int16_${target} --models glance_int16,glance_int8,flatten_int16,conv1d_int16)
endforeach()

# Weights of 4 bits, made of int8 models.
foreach(target gcc cortex_m4)
  e2e_test(models.int4.${target} full ${python} ${e2e}/int4_models.py ${target} --work ${work}/int4_${target})
endforeach()

foreach(target gcc clang)
  e2e_test(models.own.${target} full ${python} ${e2e}/bundle.py ${target}
    --work ${work}/own_${target} --models ${own_list} --samples 20)
  e2e_test(models.shared.${target} full ${python} ${e2e}/bundle.py ${target}
    --work ${work}/shared_${target} --models ${shared_list})
  e2e_test(models.ops.${target} full ${python} ${e2e}/bundle.py ${target}
    --work ${work}/ops_${target} --ops --optimize=-O1)
endforeach()
# Cores that trap accesses at addresses that are no multiple of their size, with kernels in assembly.
foreach(core m3:cortex-m3 m4:cortex-m4f m7:cortex-m7f)
  string(REPLACE ":" ";" core ${core})
  list(POP_FRONT core short)
  e2e_test(models.aligned.${short} full ${python} ${e2e}/bundle.py cortex_${short}_traps --cpu ${core}
    --work ${work}/aligned_${short} --models digits_int8,gadget_int8,kws,glance_int16 --samples 1)
endforeach()
e2e_test(models.aligned.m4_speed full ${python} ${e2e}/bundle.py cortex_m4_traps --cpu cortex-m4f --level speed
  --work ${work}/aligned_m4_speed --models digits_int8,gadget_int8,vww --samples 1)
e2e_test(models.aligned.rv32 full ${python} ${e2e}/bundle.py rv32imac --cpu rv32imac --aligned
  --work ${work}/aligned_rv32 --models digits_int8,gadget_int8,kws --samples 1)
# The other ways of sharing memory with the caller: by default inputs lie in the arena, outputs not.
foreach(target gcc cortex_m4)
  e2e_test(models.own.preserve.${target} full ${python} ${e2e}/bundle.py ${target}
    --work ${work}/own_preserve_${target} --models ${own_list} --input preserve)
  e2e_test(models.own.overwrite.${target} full ${python} ${e2e}/bundle.py ${target}
    --work ${work}/own_overwrite_${target} --models ${own_list} --output overwrite)
endforeach()
e2e_test(models.ops.overwrite.gcc full ${python} ${e2e}/bundle.py gcc
  --work ${work}/ops_overwrite_gcc --ops --every 3 --output overwrite --optimize=-O1)
foreach(target cortex_m4 rv32imac)
  e2e_test(models.ops.${target} full ${python} ${e2e}/bundle.py ${target}
    --work ${work}/ops_${target} --ops --samples 1 --optimize=-O1)
endforeach()

# The calling conventions: the same bytes, and what the packed ones cost.
e2e_test(conventions.bytes.own full ${python} ${e2e}/conventions.py bytes
  ${work}/conventions_bytes_own ${own})
e2e_test(conventions.bytes.shared full ${python} ${e2e}/conventions.py bytes
  ${work}/conventions_bytes_shared ${shared_int8} ${shared_float})
e2e_test(conventions.cost.own full ${python} ${e2e}/conventions.py cost
  ${work}/conventions_own digits_int8 gadget_int8)
e2e_test(conventions.cost.shared full ${python} ${e2e}/conventions.py cost
  ${work}/conventions_shared ${shared_int8})

foreach(what application pools)
  e2e_test(tvm_interface.${what} full ${python} ${e2e}/tvm_interface.py ${what}
    ${work}/tvm_${what})
endforeach()

# Models on boards, as a user makes them; also what figures.py reads. One process for a model, so that
# LiteRT computes its results once. A board's name may end in .preserve or .overwrite: where inputs and
# outputs lie, other than by default.
set(layer_tests "")
function(layers_test name)
  cmake_parse_arguments(ARG "" "MODEL" "" ${ARGN})
  if(NOT ARG_MODEL)
    set(ARG_MODEL ${name})
  endif()
  e2e_test(layers.${name} full ${python} ${e2e}/layers_on_board.py ${ARG_MODEL} ${ARG_UNPARSED_ARGUMENTS}
    --work ${work}/boards)
  set(layer_tests ${layer_tests} layers.${name} PARENT_SCOPE)
endfunction()
set(contracts "")
foreach(board qemu_mps2_an386 qemu_riscv32)
  list(APPEND contracts ${board}.preserve ${board}.overwrite)
endforeach()
foreach(model vww resnet ad strww micro_speech hello_world_int8)
  layers_test(${model} ${boards})
endforeach()
# One board of each instruction set in each run. The first core of the AN521 is that of the AN505.
set(board_of_each qemu_microbit qemu_mps2_an385 qemu_mps2_an386 qemu_mps3_an547 qemu_riscv32)
set(other_boards qemu_mps2_an500 qemu_mps2_an505 qemu_mps2_an521)
foreach(model kws gadget_int8 digits_int8)
  layers_test(${model} ${board_of_each})
endforeach()
layers_test(all.kws ${other_boards} MODEL kws)
foreach(model gadget_int8 digits_int8)
  layers_test(all.${model} ${other_boards} ${contracts} MODEL ${model})
endforeach()
# Float models: with an FPU and without, on both architectures.
set(float_boards qemu_mps2_an386 qemu_mps2_an385 qemu_riscv32)
foreach(model ad_f32 hello_world_float digits_f32)
  layers_test(${model} ${float_boards})
endforeach()
layers_test(gadget_f32 ${float_boards} ${contracts})
foreach(model vww_f32 resnet_f32)
  layers_test(${model} qemu_mps2_an386)
endforeach()

e2e_test(models.figures full ${python} ${e2e}/figures.py --figures ${work}/boards/figures
  --out ${CMAKE_BINARY_DIR}/figures.json)
set_tests_properties(models.figures PROPERTIES DEPENDS "${layer_tests}")

# --- Properties of the output and of the commands -------------------------------------------------
foreach(check accuracy_host accuracy_board commands)
  e2e_test(digits.${check} quick ${python} ${e2e}/digits.py ${check} --work ${work}/digits)
endforeach()
e2e_test(emitted.strict full ${python} ${e2e}/emitted_c.py strict --work ${work}/strict)
e2e_test(emitted.reading full ${python} ${e2e}/reading.py --work ${work}/reading)
e2e_test(emitted.tidy full ${python} ${e2e}/emitted_c.py tidy --work ${work}/tidy)
e2e_test(emitted.misra full ${python} ${e2e}/misra.py check --some --work ${work}/misra)
e2e_test(emitted.columns full ${python} ${e2e}/modes.py columns --work ${work}/columns)
e2e_test(emitted.hostile_names full ${python} ${e2e}/emitted_c.py hostile --work ${work}/hostile)
e2e_test(emitted.deterministic full
  ${python} ${e2e}/emitted_c.py deterministic --work ${work}/deterministic)
e2e_test(emitted.workspace full ${python} ${e2e}/emitted_c.py workspace --work ${work}/workspace)
e2e_test(emitted.arguments full ${python} ${e2e}/emitted_c.py arguments --work ${work}/arguments)
e2e_test(emitted.arithmetic full
  ${python} ${e2e}/emitted_c.py arithmetic --work ${work}/arithmetic)
e2e_test(emitted.schedules full ${python} ${e2e}/schedules.py --models depthwise_column_int8,digits_int8
  --cpus host,cortex-m4f --every 12 --run 4 --work ${work}/schedules)
e2e_test(emitted.without_gnuc full ${python} ${e2e}/emitted_c.py without_gnuc --work ${work}/without_gnuc)
e2e_test(emitted.kernels full ${python} ${e2e}/emitted_c.py kernels --work ${work}/kernels)
e2e_test(emitted.fast_math full ${python} ${e2e}/emitted_c.py fast_math --work ${work}/fast_math)
e2e_test(emitted.runs full ${python} ${e2e}/run_matrix.py --work ${work}/runs)
e2e_test(float_rule.flips.own full ${python} ${e2e}/float_rule.py flips --work ${work}/flips_own
  --models digits_f32,gadget_f32)
e2e_test(float_rule.flips.shared full ${python} ${e2e}/float_rule.py flips
  --work ${work}/flips_shared --models ad_f32,hello_world_float,resnet_f32,vww_f32)
e2e_test(float_rule.near_zero full ${python} ${e2e}/float_rule.py near_zero
  --work ${work}/near_zero)
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
  e2e_test(docs.${check} quick ${python} ${e2e}/docs.py ${check} --work ${work}/docs_${check})
endforeach()
e2e_test(docs.readme quick ${python} ${e2e}/docs.py commands --pages README.md
  --work ${work}/docs_readme)
foreach(guide from-keras how-do-i from-tflm cli boards speech analyze state streaming together weights from-scikit-learn from-pytorch)
  e2e_test(docs.${guide} full ${python} ${e2e}/docs.py commands --pages docs/${guide}.md
    --work ${work}/docs_${guide})
endforeach()
