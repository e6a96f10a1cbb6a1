# SPDX-License-Identifier: Apache-2.0
# TVM's graphs: documents, damaged ones, and whole models. Included by tests/CMakeLists.txt.
set(graph_json ${CMAKE_CURRENT_LIST_DIR})
set(graph_json_work ${CMAKE_BINARY_DIR}/graph_json)

function(graph_json_test name label)
  add_test(NAME ${name} COMMAND ${ARGN})
  set_tests_properties(${name} PROPERTIES LABELS ${label}
    SKIP_RETURN_CODE 77 ENVIRONMENT "AOTC=$<TARGET_FILE:aotc>;PYTHONDONTWRITEBYTECODE=1")
endfunction()

graph_json_test(graph_json.malformed quick ${Python3_EXECUTABLE} ${graph_json}/malformed.py
  $<TARGET_FILE:aotc>)
graph_json_test(graph_json.documents quick ${Python3_EXECUTABLE} ${graph_json}/documents.py
  $<TARGET_FILE:aotc> ${graph_json_work}/documents)
graph_json_test(graph_json.documents.shared quick ${Python3_EXECUTABLE}
  ${graph_json}/documents.py $<TARGET_FILE:aotc> ${graph_json_work}/documents_shared --shared)

# Every intermediate of the archives, against their own operators in graph order.
foreach(target gcc cortex_m4 rv32imac)
  set(conventions --convention plain --convention packed)
  set(label full)
  if(target STREQUAL "gcc")
    list(APPEND conventions --convention registry)
    set(label quick)
  endif()
  graph_json_test(graph_json.run.${target} ${label} ${python} ${graph_json}/run_graphs.py ${target}
    --work ${graph_json_work}/run_${target} ${conventions})
endforeach()
graph_json_test(graph_json.run.files quick ${python} ${graph_json}/run_graphs.py gcc
  --work ${graph_json_work}/run_files --json)
graph_json_test(graph_json.commands quick ${Python3_EXECUTABLE} ${graph_json}/commands.py
  $<TARGET_FILE:aotc> ${graph_json_work}/commands)
