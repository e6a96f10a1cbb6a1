# SPDX-License-Identifier: Apache-2.0
# The documentation site: included by tests/CMakeLists.txt.
pytest_test(docs.site full test_site.py)
