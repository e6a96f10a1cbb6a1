# SPDX-License-Identifier: Apache-2.0
# Projects of all kinds, and of single kinds that need nothing but compilers: included by
# tests/CMakeLists.txt.
foreach(kind cmake make esp_idf cmsis rust)
  pytest_test(projects.${kind} full test_${kind}_kind.py)
endforeach()

# What holds for every kind that there is.
foreach(check structure prefixes hostile damaged)
  pytest_test(projects.all.${check} full test_all_kinds.py -k test_${check})
endforeach()
pytest_test(projects.licence full test_licence_option.py)
pytest_test(projects.model_options full test_model_options.py)
