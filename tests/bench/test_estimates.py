# SPDX-License-Identifier: Apache-2.0
"""Estimated instructions are within 5 % of QEMU's count for a model.

They are within 15 % for each layer with over 2 % of its model.

estimates.json has the known exceptions with their figures. An exception may not grow by more than a point, and fails
when it is no longer needed: delete it then.
"""
import json

import common
import estimates
import measure
import pytest

FEW = ("gru_int8", "lstm_onnx", "cnn_int8")
MORE = 1.0  # points by which an exception may grow


def judge(model, target, tmp_path):
    path = estimates.path_of(model, tmp_path)
    if path is None:
        common.missing(f"{estimates.SHARED[model]} is missing")
    found = estimates.compare(measure.Aotc(common.AOTC, 600), path, target, tmp_path)
    print(f"{model} on {target}: {found['counted']:,} instructions, estimated {found['estimated']:,}")
    known = json.loads(estimates.EXCEPTIONS.read_text()).get(f"{model} {target}", {})
    out = estimates.outside(found)
    worse = {k: v for k, v in out.items() if abs(v) > abs(known.get(k, 0)) + MORE or k not in known}
    assert not worse, "estimates are out of bounds (per cent)"
    assert not set(known) - set(out), f"these exceptions of {estimates.EXCEPTIONS.name} are no longer needed"


@pytest.mark.parametrize("target", estimates.TARGETS)
@pytest.mark.parametrize("model", FEW)
def test_few(model, target, tmp_path):
    judge(model, target, tmp_path)


@pytest.mark.parametrize("target", estimates.TARGETS)
@pytest.mark.parametrize("model", [m for m in estimates.MODELS if m not in FEW])
def test_more(model, target, tmp_path):
    judge(model, target, tmp_path)


@pytest.mark.parametrize("target", estimates.TARGETS)
@pytest.mark.parametrize("model", estimates.HELD_OUT)
def test_held_out(model, target, tmp_path):
    if model.endswith(("_onnx", "_qdq")):
        common.need_modules("onnx", "onnxruntime")
    judge(model, target, tmp_path)
