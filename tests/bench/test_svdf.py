# SPDX-License-Identifier: Apache-2.0
"""Instructions of int8 SVDF layers for each multiply-accumulate, on an emulated Cortex-M4.

The layers have the sizes of TFLite Micro's keyword model (inputs, units, memory of rank 1) and states of int8 and
of int16; weights are drawn. Prints instructions of each layer.
"""
import sys

import common
import measure

sys.path.append(str(common.ROOT / "tests" / "models" / "generate"))
import state_svdf  # noqa: E402

MOST = 1.30  # instructions of the widest layer for each MAC
SIZES = ((96, 64, 8), (16, 64, 8), (16, 32, 32), (32, 32, 32))


def test_svdf(tmp_path, monkeypatch):
    layers = [state_svdf.Layer(*size, state=state, seed=i) for state in ("int8", "int16")
              for i, size in enumerate(SIZES)]
    monkeypatch.setattr(measure, "SHIPPED", tmp_path)
    (tmp_path / "svdf.tflite").write_bytes(state_svdf.model(layers, state_svdf.add_int8))
    row = measure.measure(measure.Aotc(common.AOTC, 600), "svdf", "m4", "balanced", tmp_path / "work", print)
    print(f"{'inputs':>6} {'units':>6} {'memory':>6} {'state':>6} {'MACs':>8} {'instructions':>12} {'for each':>8}")
    ratios = []
    for layer, found in zip(layers, row["layers"], strict=True):
        ratios.append(found["instructions"] / found["macs"])
        print(f"{layer.inputs:>6} {layer.units:>6} {layer.memory:>6} {layer.state:>6} {found['macs']:>8,} "
              f"{found['instructions']:>12,} {ratios[-1]:>8.2f}")
    assert max(ratios[0], ratios[len(SIZES)]) <= MOST
