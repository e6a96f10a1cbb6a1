# SPDX-License-Identifier: Apache-2.0
# Projects of all kinds, and of single kinds that need nothing but compilers: included by
# tests/CMakeLists.txt.
set(projects ${CMAKE_CURRENT_LIST_DIR})

foreach(kind cmake make esp_idf cmsis rust)
  add_test(NAME projects.${kind} COMMAND ${python} ${projects}/${kind}_kind.py
           --work ${CMAKE_BINARY_DIR}/projects/${kind})
  set_tests_properties(projects.${kind} PROPERTIES LABELS full SKIP_RETURN_CODE 77
    ENVIRONMENT "AOTC=$<TARGET_FILE:aotc>;PYTHONDONTWRITEBYTECODE=1")
endforeach()

# What holds for every kind of 'aotc templates list'.
foreach(check structure prefixes hostile damaged)
  add_test(NAME projects.all.${check} COMMAND ${python} ${projects}/all_kinds.py ${check}
           --work ${CMAKE_BINARY_DIR}/projects/all_${check})
  set_tests_properties(projects.all.${check} PROPERTIES LABELS full SKIP_RETURN_CODE 77
    ENVIRONMENT "AOTC=$<TARGET_FILE:aotc>;AOTC_BUILD=${CMAKE_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1")
endforeach()

# --license, in every kind.
add_test(NAME projects.licence COMMAND ${python} ${projects}/licence_option.py
         --work ${CMAKE_BINARY_DIR}/projects/licence)
set_tests_properties(projects.licence PROPERTIES LABELS full SKIP_RETURN_CODE 77
  ENVIRONMENT "AOTC=$<TARGET_FILE:aotc>;PYTHONDONTWRITEBYTECODE=1")

# What a model may be compiled with, in the kinds that share templates/common.
add_test(NAME projects.model_options COMMAND ${python} ${projects}/model_options.py
         --work ${CMAKE_BINARY_DIR}/projects/model_options)
set_tests_properties(projects.model_options PROPERTIES LABELS full SKIP_RETURN_CODE 77
  ENVIRONMENT "AOTC=$<TARGET_FILE:aotc>;PYTHONDONTWRITEBYTECODE=1")
