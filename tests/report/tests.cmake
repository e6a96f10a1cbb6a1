# SPDX-License-Identifier: Apache-2.0
# `aotc report` as a page and in other forms: included by tests/CMakeLists.txt.
pytest_test(report.report quick test_report.py)
pytest_test(report.browser full test_browser.py)
pytest_test(report.data quick test_accuracy.py)
pytest_test(report.build full test_fit_stack.py)
