# Projects of all kinds, and of single kinds that need nothing but compilers: included by
# tests/CMakeLists.txt.
set(projects ${CMAKE_CURRENT_LIST_DIR})

foreach(kind cmake make esp_idf cmsis)
  add_test(NAME projects.${kind} COMMAND ${python} ${projects}/${kind}_kind.py
           --work ${CMAKE_BINARY_DIR}/projects/${kind})
  set_tests_properties(projects.${kind} PROPERTIES LABELS full SKIP_RETURN_CODE 77 TIMEOUT 400
    PROCESSORS 2 ENVIRONMENT "AOTC=$<TARGET_FILE:aotc>;PYTHONDONTWRITEBYTECODE=1")
endforeach()
