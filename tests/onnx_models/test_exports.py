# SPDX-License-Identifier: Apache-2.0
"""Networks that PyTorch quantised and exported by three routes (tests/models/generate/torch_quantised.py): every
quantised tensor is onnxruntime's. The estimated cycles on a Cortex-M4 are at most 1.05 times those of the same network
by quantize_static. Takes 20 CPU seconds."""
import json
import pathlib
import sys

import common
import pytest
import quantised

HERE = pathlib.Path(__file__).resolve().parent
TORCH = HERE.parent / "models" / "torch"
ROUTES = ("fx", "qat", "pt2e")
# Most cycles, as those of the twin. On a Cortex-M55 layers are so short that the Clips of QAT are 4 % of the residual
# network, and an average whose scaling is no line takes another 4 %.
MOST = {"cortex-m4": 1.05, "cortex-m55": 1.09}


@pytest.mark.parametrize("network", ["convolutional", "residual"])
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("target", ["host", "cortex_m4", "cortex_m55"])
def test_equals_onnxruntime(network, route, target, tmp_path):
    common.need_modules("onnx", "onnxruntime")
    path = TORCH / "quantised" / f"{network}_{route}.onnx"
    done = common.run([sys.executable, HERE / "compare.py", path, "--work", tmp_path, "--target", target], expect=None)
    assert done.returncode == 0, done.stdout + done.stderr
    unequal = [line for line in done.stdout.splitlines() if "differ, by up to" in line and "(QuantizeLinear)" in line]
    assert not unequal, unequal


def cycles_of(path, cpu):
    return json.loads(common.aotc("report", path, "--cpu", cpu, "--json", "--no-alternatives"))["estimated_cycles"]


@pytest.mark.parametrize("network", ["convolutional", "residual"])
@pytest.mark.parametrize("cpu", list(MOST))
def test_cycles(network, cpu, tmp_path):
    common.need_modules("onnx", "onnxruntime")
    import onnx
    twin = tmp_path / "twin.onnx"
    quantised.quantise(onnx.load(TORCH / f"{network}_script.onnx"), "s8s8_channels", twin)
    before = cycles_of(twin, cpu)
    found = {route: cycles_of(TORCH / "quantised" / f"{network}_{route}.onnx", cpu) / before for route in ROUTES}
    print(network, cpu, before, found)
    assert all(part <= MOST[cpu] for part in found.values()), found
