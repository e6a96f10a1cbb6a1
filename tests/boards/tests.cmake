# SPDX-License-Identifier: Apache-2.0
# Boards that people own: their projects build, and run where a machine of QEMU stands in.
pytest_test(boards.real full test_real_boards.py)
# Arena, pools and tables in the memories that were asked for; stack; does it fit; the command.
foreach(test commands fits)
  pytest_test(boards.${test} quick test_memories.py::test_${test})
endforeach()
foreach(test placed stack linked)
  pytest_test(boards.${test} full test_memories.py::test_${test})
endforeach()
pytest_test(boards.flash quick test_flash.py)
# The board itself, at a port; and the start of its chip on a model of its registers.
pytest_test(boards.port full test_port.py)
set_tests_properties(boards.port PROPERTIES TIMEOUT 900)
pytest_test(boards.chip quick test_chip.py)
