# SPDX-License-Identifier: Apache-2.0
# Custom operators of TensorFlow Lite and TensorFlow Lite Micro: included by tests/CMakeLists.txt.
foreach(lane host boards)
  pytest_test(custom.${lane} full test_custom.py::test_${lane})
endforeach()
pytest_test(custom.refusals full test_custom_refusals.py)
