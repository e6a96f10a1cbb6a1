# SPDX-License-Identifier: Apache-2.0
# Runs in slices: included by tests/CMakeLists.txt.
set(slices ${CMAKE_CURRENT_LIST_DIR})
set(slices_without ${state_refused},${state_wrong})

e2e_test(slices.host full ${python} ${slices}/run_slices.py --targets gcc,clang
  --work ${work}/slices_host --without ${slices_without})
e2e_test(slices.boards full ${python} ${slices}/run_slices.py --targets cortex_m4,rv32imac --runs 4
  --work ${work}/slices_boards --without ${slices_without})
# As short as can be: every operator in as many parts as it has.
e2e_test(slices.least full ${python} ${slices}/run_slices.py --targets gcc --slice least --runs 4 --ops
  --options "--board qemu_mps2_an386" --work ${work}/slices_least --without ${slices_without})
# The same where vectors do an operator at once.
set(vector_models)
foreach(model add_int8 conv_1x1_relu6_int8 conv_same_int8 dense_int8 depthwise_same_int8)
  list(APPEND vector_models ${CMAKE_CURRENT_SOURCE_DIR}/models/ops/${model}.tflite)
endforeach()
list(JOIN vector_models , vector_models)
e2e_test(slices.least_vectors full ${python} ${slices}/run_slices.py --targets gcc --slice least --runs 4
  --models ${vector_models},${CMAKE_CURRENT_SOURCE_DIR}/models/digits/digits_int8.tflite
  --options "--board qemu_mps3_an547" --work ${work}/slices_least_vectors)
e2e_test(slices.examples quick ${python} ${slices}/examples.py --work ${work}/slices_examples)
e2e_test(slices.projects full ${python} ${slices}/projects.py --work ${work}/slices_projects)

# Inputs that are fed by rows.
e2e_test(slices.feed quick ${python} ${slices}/feed.py --models digits_int8,conv1d_int8 --targets gcc,cortex_m4
  --work ${work}/slices_feed)
e2e_test(slices.feed.shared full ${python} ${slices}/feed.py --models vww,kws,micro_speech --targets gcc
  --work ${work}/slices_feed_shared)
e2e_test(slices.frames quick ${python} ${slices}/frames.py --targets gcc,cortex_m4 "--options=\\;--slice call\\;--slice least"
  --work ${work}/slices_frames)
e2e_test(slices.frames.options full ${python} ${slices}/frames.py --targets gcc,cortex_m4
  "--options=-O size\\;-O speed --prefer ram --slice 1500\\;--asm off --slice least" --work ${work}/slices_frames_options)
e2e_test(slices.frames.shared full ${python} ${slices}/frames.py --models strww --targets gcc,cortex_m4 "--options=\\;-O speed\\;--slice 25000"
  --work ${work}/slices_frames_shared)
e2e_test(slices.price full ${python} ${slices}/price.py --work ${work}/slices_price)
e2e_test(slices.arenas full ${python} ${slices}/arenas.py --work ${work}/slices_arenas)

# What is said of the longest slice, and what slices cost, counted on a Cortex-M4.
e2e_test(slices.measured full ${python} ${slices}/measure.py --work ${work}/slices_measured
  --models digits_int8)
e2e_test(slices.measured.shared full ${python} ${slices}/measure.py --work ${work}/slices_measured_shared
  --models kws,vww,resnet,ad,strww --within 10)
e2e_test(slices.measured.parts full ${python} ${slices}/measure.py --work ${work}/slices_measured_parts
  --models kws,vww,resnet,ad,strww --slice 20000 --overhead kws=2,vww=4,resnet=2,ad=2,strww=2)
