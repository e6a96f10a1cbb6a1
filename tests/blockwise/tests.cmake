# SPDX-License-Identifier: Apache-2.0
# int4 weights in blocks: included by tests/CMakeLists.txt.
set(blockwise ${CMAKE_CURRENT_LIST_DIR})
e2e_test(blockwise full ${python} ${blockwise}/run_blockwise.py --targets gcc,clang,cortex_m4,rv32imac --runs 6
  --work ${work}/blockwise)
