# SPDX-License-Identifier: Apache-2.0
# What is installed, and the Debian packages: included by tests/CMakeLists.txt.
# In a folder with a system of its own; needs root. .ci/run runs it by itself.
e2e_test(fresh_machine.quickstart all ${CMAKE_SOURCE_DIR}/scripts/fresh-machine quickstart)
set_tests_properties(fresh_machine.quickstart PROPERTIES RUN_SERIAL TRUE)
pytest_test(packaging.install full test_install.py)
