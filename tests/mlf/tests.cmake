# SPDX-License-Identifier: Apache-2.0
# Model Library Format: reading what others wrote, writing what others read. Included by
# tests/CMakeLists.txt.
pytest_test(mlf.reading quick test_reading_archives.py -k "not shared")
pytest_test(mlf.reading.shared quick test_reading_archives.py::test_shared_archives)
pytest_test(mlf.writing full test_writing_archives.py -k "not shared")
pytest_test(mlf.writing.shared full test_writing_archives.py::test_shared_model)

# Operator-style archives: their functions are called by name.
add_executable(call_operators ${CMAKE_CURRENT_LIST_DIR}/call_operators.cpp)
target_link_libraries(call_operators PRIVATE aotc_project aotc_frontends ${CMAKE_DL_LIBS})
target_include_directories(call_operators PRIVATE ${CMAKE_SOURCE_DIR}/crt/include)
pytest_test(mlf.operators.own full test_operator_archives.py -k "not kws and not resnet")
pytest_test(mlf.operators.shared full test_operator_archives.py -k "kws or resnet")
