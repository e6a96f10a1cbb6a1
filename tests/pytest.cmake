# SPDX-License-Identifier: Apache-2.0
# pytest_test(NAME LABEL FILE[::TEST] [ARGUMENT...]): an entry of ctest that runs tests of a file by pytest. FILE is relative
# to the caller. What failed is run again by PYTEST_ADDOPTS=--last-failed ctest --rerun-failed.
set(pytest_work ${CMAKE_BINARY_DIR}/pytest)
file(MAKE_DIRECTORY ${pytest_work})

function(pytest_test name label file)
  add_test(NAME ${name} COMMAND ${python} -m pytest -q ${CMAKE_CURRENT_LIST_DIR}/${file}
    --basetemp=${pytest_work}/${name} --junitxml=${pytest_work}/${name}.xml -o cache_dir=${pytest_work}/${name}.cache
    ${ARGN})
  set_tests_properties(${name} PROPERTIES LABELS ${label} SKIP_RETURN_CODE 77
    ENVIRONMENT "AOTC=$<TARGET_FILE:aotc>;AOTC_BUILD=${CMAKE_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1;PYTEST_DISABLE_PLUGIN_AUTOLOAD=1")
endfunction()

pytest_test(pytest.counts quick test_conftest.py)
