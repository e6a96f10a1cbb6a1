# Boards that people own: their projects build, and run where a machine of QEMU stands in.
e2e_test(boards.real full 1 ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/build_boards.py
  --work ${work}/boards_real)
set_tests_properties(boards.real PROPERTIES TIMEOUT 300)
