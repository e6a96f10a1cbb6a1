# Model Library Format: reading what others wrote, writing what others read. Included by
# tests/CMakeLists.txt.
set(mlf ${CMAKE_CURRENT_LIST_DIR})
set(mlf_work ${CMAKE_BINARY_DIR}/mlf)

function(mlf_test name label)
  add_test(NAME ${name} COMMAND ${ARGN})
  set_tests_properties(${name} PROPERTIES LABELS ${label} SKIP_RETURN_CODE 77 TIMEOUT 600
    ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1")
endfunction()

mlf_test(mlf.reading quick ${Python3_EXECUTABLE} ${mlf}/reading.py $<TARGET_FILE:aotc>
  ${mlf_work}/reading)
mlf_test(mlf.reading.shared quick ${Python3_EXECUTABLE} ${mlf}/reading.py $<TARGET_FILE:aotc>
  ${mlf_work}/reading_shared --shared)
