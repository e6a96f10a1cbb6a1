# SPDX-License-Identifier: Apache-2.0
# STABLEHLO_COMPOSITE: included by tests/CMakeLists.txt.
pytest_test(composites full test_composites.py)
