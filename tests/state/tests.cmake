# SPDX-License-Identifier: Apache-2.0
# Models with state, and with branches and loops, run after run: included by tests/CMakeLists.txt.
set(state ${CMAKE_CURRENT_LIST_DIR})
# What LiteRT and TensorFlow compute differently.
set(state_refused while_shift_f32)
# SUM of int8 with two scales: LiteRT reads it as uint8.
set(state_wrong if_on_sum_int8,if_captured_int8)

e2e_test(state.host full ${python} ${state}/run_state.py --targets gcc,clang
  --work ${work}/state_host --refused ${state_refused} --wrong ${state_wrong})
e2e_test(state.boards full ${python} ${state}/run_state.py --targets cortex_m4,rv32imafc
  --work ${work}/state_boards --refused ${state_refused} --wrong ${state_wrong})
# With the kernels of the CPU.
e2e_test(state.kernels full ${python} ${state}/run_state.py --targets cortex_m4 --cpu cortex-m4f
  --work ${work}/state_kernels --models lstm_even_int8,lstm_wide_int8,lstm_batch_int8,stream_conv_int8,svdf_kernels_int8,svdf_drawn_int8)
e2e_test(state.can_fail full ${python} ${state}/can_fail.py --work ${work}/state_can_fail)
e2e_test(state.verify_inside full ${python} ${state}/verify_inside.py --work ${work}/state_verify_inside)
