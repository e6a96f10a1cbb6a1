# SPDX-License-Identifier: Apache-2.0
# What is installed, and the Debian packages: included by tests/CMakeLists.txt.
e2e_test(packaging.install full ${python} ${CMAKE_CURRENT_LIST_DIR}/install.py --build ${CMAKE_BINARY_DIR}
  --work ${work}/packaging)
