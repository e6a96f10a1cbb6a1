# SPDX-License-Identifier: Apache-2.0
# Model Library Format: reading what others wrote, writing what others read. Included by
# tests/CMakeLists.txt.
set(mlf ${CMAKE_CURRENT_LIST_DIR})
set(mlf_work ${CMAKE_BINARY_DIR}/mlf)

function(mlf_test name label)
  add_test(NAME ${name} COMMAND ${ARGN})
  set_tests_properties(${name} PROPERTIES LABELS ${label} SKIP_RETURN_CODE 77
    ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1")
endfunction()

mlf_test(mlf.reading quick ${Python3_EXECUTABLE} ${mlf}/reading.py $<TARGET_FILE:aotc>
  ${mlf_work}/reading)
mlf_test(mlf.reading.shared quick ${Python3_EXECUTABLE} ${mlf}/reading.py $<TARGET_FILE:aotc>
  ${mlf_work}/reading_shared --shared)
mlf_test(mlf.writing full ${python} ${mlf}/writing.py $<TARGET_FILE:aotc> ${mlf_work}/writing
  digits_int8 gadget_int8 digits_f32 stream_conv_int8 svdf_shapes_int8)
mlf_test(mlf.writing.shared full ${python} ${mlf}/writing.py $<TARGET_FILE:aotc>
  ${mlf_work}/writing_shared kws)

# Operator-style archives: their functions are called by name.
add_executable(call_operators ${mlf}/call_operators.cpp)
target_link_libraries(call_operators PRIVATE aotc_project aotc_frontends ${CMAKE_DL_LIBS})
target_include_directories(call_operators PRIVATE ${CMAKE_SOURCE_DIR}/crt/include)
foreach(kind own shared)
  set(models digits_int8 gadget_int8 digits_f32 gadget_f32)
  if(kind STREQUAL "shared")
    set(models kws resnet)
  endif()
  mlf_test(mlf.operators.${kind} full ${python} ${mlf}/operators.py $<TARGET_FILE:aotc>
    $<TARGET_FILE:aotc-opt> $<TARGET_FILE:call_operators> ${mlf_work}/operators_${kind} ${models})
endforeach()
