# SPDX-License-Identifier: Apache-2.0
# Devices: the second core of the AN521, and failing hooks. Included by tests/CMakeLists.txt.
pytest_test(devices.second_core quick test_second_core.py)
pytest_test(devices.faults quick test_hook_faults.py)
pytest_test(devices.names quick test_device_names.py)
# Models that aotc compiled for two devices.
pytest_test(devices.compiled.faults quick test_compiled_devices.py -k test_faults)
pytest_test(devices.compiled.transfer full test_compiled_devices.py::test_transfer)
foreach(model digits_int8 gru_steps_int8 resnet)
  pytest_test(devices.compiled.${model} full test_compiled_devices.py -k ${model})
endforeach()
