# SPDX-License-Identifier: Apache-2.0
# Steps of writing output that fail, or where aotc is killed: included by tests/CMakeLists.txt.
pytest_test(faults full test_output_faults.py)
pytest_test(faults.inputs full test_hostile_inputs.py)
