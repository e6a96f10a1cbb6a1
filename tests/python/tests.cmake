# SPDX-License-Identifier: Apache-2.0
# The Python package: included by tests/CMakeLists.txt.
# wiring: order and names of inputs and outputs, with stand-ins for the frameworks; routes.py has the real ones.
# notebooks: their code; `scripts/test --long notebooks` runs them in Jupyter.
foreach(name package wiring tune notebooks)
  pytest_test(python.${name} full test_${name}.py)
endforeach()
