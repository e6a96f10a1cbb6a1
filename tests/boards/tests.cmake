# SPDX-License-Identifier: Apache-2.0
# Boards that people own: their projects build, and run where a machine of QEMU stands in.
e2e_test(boards.real full ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/build_boards.py
  --work ${work}/boards_real)
# Arena, pools and tables in the memories that were asked for; stack; does it fit; the command.
foreach(test commands fits)
  e2e_test(boards.${test} quick ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/memories.py ${test}
    --work ${work}/boards_${test})
endforeach()
foreach(test placed stack linked)
  e2e_test(boards.${test} full ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/memories.py ${test}
    --work ${work}/boards_${test})
endforeach()
add_test(NAME boards.flash COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/flash.py --aotc $<TARGET_FILE:aotc>
         --work ${work}/boards_flash)
set_tests_properties(boards.flash PROPERTIES LABELS quick)
# The board itself, at a port; and the start of its chip on a model of its registers.
add_test(NAME boards.port COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/port.py --aotc $<TARGET_FILE:aotc>
         --work ${work}/boards_port)
set_tests_properties(boards.port PROPERTIES LABELS full SKIP_RETURN_CODE 77 TIMEOUT 900)
add_test(NAME boards.chip COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/chip.py --aotc $<TARGET_FILE:aotc>
         --work ${work}/boards_chip)
set_tests_properties(boards.chip PROPERTIES LABELS quick)
