# SPDX-License-Identifier: Apache-2.0
# Operators on a device, driven over its serial line: included by tests/CMakeLists.txt.
set(rpc ${CMAKE_CURRENT_LIST_DIR})

# Both ends of the line in one process; the device's end always under the sanitizers.
file(GLOB rpc_runtime CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/crt/src/*.c)
add_library(rpc_device STATIC ${rpc_runtime} ${rpc}/device/functions.c)
set_target_properties(rpc_device PROPERTIES C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
target_include_directories(rpc_device PUBLIC ${CMAKE_SOURCE_DIR}/crt/include ${rpc}/device)
target_compile_options(rpc_device PRIVATE -Werror -fsanitize=address,undefined
  -fno-sanitize-recover=all)
add_executable(rpc_tests ${rpc}/session_test.cpp ${rpc}/server_test.cpp ${rpc}/stream_test.cpp)
# Optimising these takes two thirds of the time that compiling them does, and the device that they speak to is C of its own.
target_compile_options(rpc_tests PRIVATE -O0 -fsanitize=address,undefined -fno-sanitize-recover=all)
target_link_options(rpc_tests PRIVATE -fsanitize=address,undefined)
target_link_libraries(rpc_tests PRIVATE rpc_device aotc_rpc GTest::gmock GTest::gtest_main)
foreach(part "Session.*:Frames.*:Server.*:Errors.*:BadLine.N*:BadLine.The*" BadLine.Changed*:BadLine.One*)
  string(REGEX MATCH "^[A-Za-z]+" name "${part}")
  add_test(NAME rpc.${name} COMMAND rpc_tests --gtest_filter=${part})
  set_tests_properties(rpc.${name} PROPERTIES LABELS full)
endforeach()
add_test(NAME rpc.quick COMMAND rpc_tests)
set_tests_properties(rpc.quick PROPERTIES LABELS quick ENVIRONMENT AOTC_RPC_CALLS=5000)

# TVM's op_add on boards; the host's part also tests what the command says of broken lines.
foreach(board host qemu_mps2_an385 qemu_mps2_an386 qemu_mps2_an500 qemu_mps2_an505 qemu_mps3_an547
        qemu_riscv32)
  set(label full)
  if(board MATCHES "^(host|qemu_mps2_an386)$")
    set(label quick)
  endif()
  pytest_test(rpc.${board} ${label} test_rpc_boards.py -k "${board} and not damaged_frames")
endforeach()
pytest_test(rpc.fuzz.qemu_mps2_an386 full test_rpc_boards.py::test_damaged_frames)

# TVM's Project API, with a client of our own.
foreach(board host qemu_mps2_an386)
  pytest_test(rpc.project_api.${board} full test_project_api.py -k ${board})
endforeach()

# Operators one by one, beside the run of the whole model.
foreach(board qemu_mps2_an386 qemu_riscv32)
  pytest_test(rpc.bench.${board} full test_bench_ops.py -k ${board})
endforeach()
