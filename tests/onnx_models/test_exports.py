# SPDX-License-Identifier: Apache-2.0
"""Networks that PyTorch quantised and exported by three routes (tests/models/generate/torch_quantised.py): every
quantised tensor is onnxruntime's, and the estimated cycles on a Cortex-M4 beside the same network by
quantize_static. Takes 30 CPU seconds."""
import json
import pathlib
import sys

import common
import pytest
import quantised

HERE = pathlib.Path(__file__).resolve().parent
TORCH = HERE.parent / "models" / "torch"
ROUTES = ("fx", "qat", "pt2e")
# Most cycles, as those of the twin. By FX and QAT weights are -128, which the fastest kernel cannot pair, and QAT has a
# Clip behind each quantisation. By PT2E each ReLU6 has a quantisation before it, which quantize_static drops.
MOST = {"convolutional": {"fx": 1.50, "qat": 1.50, "pt2e": 1.19}, "residual": {"fx": 1.77, "qat": 1.93, "pt2e": 1.06}}


@pytest.mark.parametrize("network", ["convolutional", "residual"])
@pytest.mark.parametrize("route", ROUTES)
def test_equals_onnxruntime(network, route, tmp_path):
    common.need_modules("onnx", "onnxruntime")
    path = TORCH / "quantised" / f"{network}_{route}.onnx"
    done = common.run([sys.executable, HERE / "compare.py", path, "--work", tmp_path], expect=None)
    assert done.returncode == 0, done.stdout + done.stderr
    unequal = [line for line in done.stdout.splitlines() if "differ, by up to" in line and "(QuantizeLinear)" in line]
    assert not unequal, unequal


def cycles_of(path):
    return json.loads(common.aotc("report", path, "--cpu", "cortex-m4", "--json"))["estimated_cycles"]


@pytest.mark.parametrize("network", ["convolutional", "residual"])
def test_cycles(network, tmp_path):
    common.need_modules("onnx", "onnxruntime")
    import onnx
    twin = tmp_path / "twin.onnx"
    quantised.quantise(onnx.load(TORCH / f"{network}_script.onnx"), "s8s8_channels", twin)
    before = cycles_of(twin)
    found = {route: cycles_of(TORCH / "quantised" / f"{network}_{route}.onnx") / before for route in ROUTES}
    print(network, before, found)
    assert all(found[route] <= MOST[network][route] for route in ROUTES), found
