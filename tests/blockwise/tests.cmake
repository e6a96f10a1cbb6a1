# SPDX-License-Identifier: Apache-2.0
# int4 weights in blocks: included by tests/CMakeLists.txt.
pytest_test(blockwise full test_blockwise.py)
