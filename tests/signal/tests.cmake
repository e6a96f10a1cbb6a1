# SPDX-License-Identifier: Apache-2.0
# Signal operators against TensorFlow Lite Micro: included by tests/CMakeLists.txt.
set(signal ${CMAKE_CURRENT_LIST_DIR})
e2e_test(signal.host full ${python} ${signal}/run_signal.py --targets gcc,clang --runs 24 --work ${work}/signal_host)
e2e_test(signal.boards full ${python} ${signal}/run_signal.py --targets cortex_m4,rv32imac --runs 8
  --work ${work}/signal_boards)
e2e_test(signal.refusals full ${python} ${signal}/refusals.py --work ${work}/signal_refusals)
