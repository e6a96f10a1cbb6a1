# SPDX-License-Identifier: Apache-2.0
# Networks of NCHW between operators of NHWC: included by tests/CMakeLists.txt.
pytest_test(planes full test_planes.py)
