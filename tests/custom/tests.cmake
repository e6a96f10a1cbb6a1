# SPDX-License-Identifier: Apache-2.0
# Custom operators of TensorFlow Lite and TensorFlow Lite Micro: included by tests/CMakeLists.txt.
set(custom ${CMAKE_CURRENT_LIST_DIR})
e2e_test(custom.host full ${python} ${custom}/run_custom.py --targets gcc,clang --runs 12 --work ${work}/custom_host)
e2e_test(custom.boards full ${python} ${custom}/run_custom.py --targets cortex_m4,rv32imac --runs 12
  --work ${work}/custom_boards)
e2e_test(custom.refusals full ${python} ${custom}/refusals.py --work ${work}/custom_refusals)
