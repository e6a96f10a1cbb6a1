# SPDX-License-Identifier: Apache-2.0
# Models with state, and with branches and loops, run after run: included by tests/CMakeLists.txt.
set(state ${CMAKE_CURRENT_LIST_DIR})
# What needs operators that are not there yet: aotc refuses it.
set(state_refused
    collatz_f32 everything_f32 handles_int8 if_captured_f32 if_captured_int8 if_direct_int8 if_in_if_f32
    if_in_while_f32 if_on_sum_f32 if_on_sum_int8 if_then_else_f32 if_two_results_f32 in_while_f32 latch_f32
    no_results_int8 shared_branches_int8 sometimes_f32 while_bool_f32 while_constants_f32 while_conv_f32
    while_count_f32 while_direct_int8 while_exchange_f32 while_in_if_f32 while_in_while_f32
    while_results_int8 while_shift_f32 while_types while_until_f32 while_zero_trips_f32)
list(JOIN state_refused "," state_refused)

e2e_test(state.host full 2 ${python} ${state}/run_state.py --targets gcc,clang
  --work ${work}/state_host --refused ${state_refused})
e2e_test(state.boards full 2 ${python} ${state}/run_state.py --targets cortex_m4,rv32imac
  --work ${work}/state_boards --refused ${state_refused})
e2e_test(state.can_fail full 1 ${python} ${state}/can_fail.py --work ${work}/state_can_fail)
