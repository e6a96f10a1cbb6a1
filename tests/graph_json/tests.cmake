# SPDX-License-Identifier: Apache-2.0
# TVM's graphs: documents, damaged ones, and whole models. Included by tests/CMakeLists.txt.
pytest_test(graph_json.malformed quick test_malformed_graphs.py)
pytest_test(graph_json.documents quick test_graph_documents.py::test_own)
pytest_test(graph_json.documents.shared quick test_graph_documents.py::test_shared)

# Every intermediate of the archives, against their own operators in graph order.
foreach(target gcc cortex_m4 rv32imac)
  set(label full)
  if(target STREQUAL "gcc")
    set(label quick)
  endif()
  pytest_test(graph_json.run.${target} ${label} test_graphs.py -k "test_run and ${target}")
endforeach()
pytest_test(graph_json.run.files quick test_graphs.py::test_files)
pytest_test(graph_json.commands quick test_graph_commands.py)
