# SPDX-License-Identifier: Apache-2.0
# The example from samples to label: included by tests/CMakeLists.txt.
pytest_test(speech.label full test_speech.py)
