# SPDX-License-Identifier: Apache-2.0
# Signal operators against TensorFlow Lite Micro: included by tests/CMakeLists.txt.
foreach(lane host boards)
  pytest_test(signal.${lane} full test_signal.py::test_${lane})
endforeach()
pytest_test(signal.refusals full test_signal_refusals.py)
