# SPDX-License-Identifier: Apache-2.0
# The Python package: included by tests/CMakeLists.txt.
e2e_test(python.package full ${python} ${CMAKE_CURRENT_LIST_DIR}/package.py --work ${work}/python_package)
