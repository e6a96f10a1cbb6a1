# SPDX-License-Identifier: Apache-2.0
# Models with state, and with branches and loops, run after run: included by tests/CMakeLists.txt.
foreach(lane host boards kernels vectors vectors_in_c)  # kernels, vectors: those of Cortex-M4 and Cortex-M55
  pytest_test(state.${lane} full test_state.py::test_${lane})
endforeach()
pytest_test(state.can_fail full test_state_can_fail.py)
pytest_test(state.verify_inside full test_verify_inside.py)
