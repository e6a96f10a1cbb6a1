# SPDX-License-Identifier: Apache-2.0
# Networks of NCHW between operators of NHWC: included by tests/CMakeLists.txt.
set(planes)
foreach(network plain residual flatten)
  foreach(kind f32 int8)
    list(APPEND planes ${network}_planes_${kind} ${network}_images_${kind})
  endforeach()
endforeach()
list(JOIN planes "," planes_list)
foreach(target gcc clang cortex_m4)
  e2e_test(models.planes.${target} full ${python} ${e2e}/bundle.py ${target}
    --work ${work}/planes_${target} --models ${planes_list})
endforeach()
pytest_test(planes full test_planes.py)
