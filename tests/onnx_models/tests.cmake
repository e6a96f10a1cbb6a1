# SPDX-License-Identifier: Apache-2.0
# ONNX: the package's node tests. The numbers are what passes; scripts/onnx-node-tests runs all of them.
set(onnx_models ${CMAKE_CURRENT_LIST_DIR})
e2e_test(onnx.host full ${python} ${onnx_models}/node_tests.py --frozen --subset 400 --least 345
  --work ${work}/onnx_host)
e2e_test(onnx.boards full ${python} ${onnx_models}/node_tests.py --frozen --subset 120 --least 100
  --target cortex_m4 --work ${work}/onnx_boards)
e2e_test(onnx.operators full ${python} ${onnx_models}/operators.py --work ${work}/onnx_operators)
e2e_test(onnx.order full ${python} ${onnx_models}/operators.py --only order_ --compiler "gcc -O0" --compiler "gcc -O3"
  --compiler "clang-19 -O0" --compiler "clang-19 -O3" --work ${work}/onnx_order)
e2e_test(onnx.mixed full ${python} ${onnx_models}/operators.py --only mixed_ --target cortex_m4
  --work ${work}/onnx_mixed)
pytest_test(onnx.order_depends full test_order_depends.py)
e2e_test(onnx.networks full ${python} ${onnx_models}/networks.py --work ${work}/onnx_networks)
e2e_test(onnx.networks.boards full ${python} ${onnx_models}/networks.py --target cortex_m4
  --work ${work}/onnx_networks_boards)
e2e_test(onnx.quantised full ${python} ${onnx_models}/quantised.py --work ${work}/onnx_quantised)
e2e_test(onnx.quantised.boards full ${python} ${onnx_models}/quantised.py --target cortex_m4
  --inputs 1 --forms s8s8_channels,operators --work ${work}/onnx_quantised_boards)
e2e_test(onnx.quantised.hashes full ${python} ${onnx_models}/quantised.py --hashes --networks autoencoder
  --inputs 1 --work ${work}/onnx_quantised_hashes)
pytest_test(onnx.compare full test_compare.py)
e2e_test(onnx.twins full ${python} ${onnx_models}/twins.py --models kws,resnet --work ${work}/onnx_twins)
e2e_test(onnx.torch_twins full ${python} ${onnx_models}/torch_twins.py --only convolutional_script
  --work ${work}/onnx_torch_twins)
e2e_test(onnx.attention full ${python} ${onnx_models}/attention_costs.py --only 16x2x8 --work ${work}/onnx_attention)
e2e_test(onnx.classical full ${python} ${onnx_models}/classical.py --work ${work}/onnx_classical)
e2e_test(onnx.classical.boards full ${python} ${onnx_models}/classical.py --target cortex_m4 --only random_forest
  --work ${work}/onnx_classical_boards)
pytest_test(onnx.signals full test_signals.py)
pytest_test(onnx.int16 full test_int16.py)
pytest_test(onnx.means full test_means.py)
pytest_test(onnx.exports full test_exports.py)
e2e_test(onnx.random_forms full ${python} ${onnx_models}/random_forms.py --work ${work}/onnx_random_forms)
pytest_test(onnx.projects full test_onnx_projects.py)
e2e_test(onnx.large full ${python} ${onnx_models}/large.py --work ${work}/onnx_large)
pytest_test(onnx.can_fail full test_onnx_can_fail.py)
e2e_test(onnx.compile_costs full ${python} ${onnx_models}/compile_costs.py --runs 1 --work ${work}/onnx_compile_costs)
