#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What networks of PyTorch cost beside their Keras twins, on an emulated Cortex-M4.

Usage: torch_twins.py --work DIR [--only TEXT]

The networks of tests/models/torch, as both exporters write them and as quantize_static quantises them (int8, per channel),
beside those that Keras made of the same weights (tests/models/twins, made by tests/models/generate/torch_twins.py).
Printed are instructions of one run and bytes of the arena, with images fed as Keras' twins take them. Float results must be
the twin's but for 1e-4. LIMITS says how much more instructions and bytes ONNX may take.
"""
import argparse
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e"), str(HERE.parent / "oracle")]
import common  # noqa: E402
import quantised  # noqa: E402
import twins  # noqa: E402

MODELS = HERE.parent / "models"
NETWORKS = ("convolutional", "residual", "transformer")
FORMS = ("script", "dynamo", "int8")
# Instructions and bytes of the arena, as ONNX over as TFLite.
LIMITS = {"float": (1.02, 1.0), "transformer": (1.10, 1.10), "int8": (1.05, 1.0)}


def onnx_of(name, form, work):
    import onnx
    if form != "int8":
        return MODELS / "torch" / f"{name}_{form}.onnx"
    path = work / f"{name}_int8.onnx"
    quantised.quantise(onnx.load(MODELS / "torch" / f"{name}_script.onnx"), "s8s8_channels", path)
    return path


def figures(path, folder, x, *options):
    count, arena, found, _ = twins.instructions(path, folder, [[x]], *options)
    return count, arena, found[-1][3]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     allow_abbrev=False)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    check_model, onnx, _ = common.need_modules("check_model", "onnx", "onnxruntime")
    work = common.fresh(arguments.work.resolve())
    common.require(common.board(twins.BOARD)["emulator"]["program"])
    results, of_tflite = [], {}
    for name, form in ((n, f) for n in NETWORKS for f in FORMS if arguments.only in f"{n}_{f}"):
        kind = "int8" if form == "int8" else "f32"
        tflite = MODELS / "twins" / f"{name}_{kind}.tflite"
        path = onnx_of(name, form, work)
        shape = [d.dim_value for d in onnx.load(path).graph.input[0].type.tensor_type.shape.dim]
        x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
        x = np.ascontiguousarray(x.transpose(0, 2, 3, 1)) if x.ndim == 4 else x
        if (name, kind) not in of_tflite:
            of_tflite[name, kind] = figures(tflite, work / f"{name}_{kind}_tflite", x)
        before, arena, want = of_tflite[name, kind]
        options = ["--input-layout", "nhwc"] if x.ndim == 4 else []
        after, planned, got = figures(path, work / f"{name}_{form}_onnx", x, *options)
        limits = LIMITS.get(kind if kind == "int8" else name, LIMITS["float"])
        near = kind == "int8" or np.allclose(np.frombuffer(got, np.float32), np.frombuffer(want, np.float32), 1e-4, 1e-5)
        good = near and after <= limits[0] * before and planned <= limits[1] * arena
        results.append(good)
        print(f"|{name}, {form}|{before:,}|{after:,}|{after / before:.4f}|{arena:,}|{planned:,}|"
              f"{'' if good else ' missed' if near else ' other results'}", flush=True)
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    common.main_of(main)
