# SPDX-License-Identifier: Apache-2.0
# The Python package: included by tests/CMakeLists.txt.
e2e_test(python.package full ${python} ${CMAKE_CURRENT_LIST_DIR}/package.py --work ${work}/python_package)
# Order and names of inputs and outputs, with stand-ins for the frameworks; routes.py has the real ones.
pytest_test(python.wiring full test_wiring.py)
e2e_test(python.tune full ${python} ${CMAKE_CURRENT_LIST_DIR}/tune.py --work ${work}/python_tune)
# The code of the notebooks; `scripts/test --long notebooks` runs them in Jupyter.
e2e_test(python.notebooks full ${python} ${CMAKE_CURRENT_LIST_DIR}/notebooks.py --work ${work}/python_notebooks)
