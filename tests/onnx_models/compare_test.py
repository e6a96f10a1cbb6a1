#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/onnx-compare: what it prints of a quantised and of a float model, that it sees what is wrong, and its
messages.

Usage: compare_test.py --work DIR
"""
import argparse
import pathlib
import subprocess
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
import common  # noqa: E402
import onnx_layers  # noqa: E402
import quantised  # noqa: E402

TORCH = HERE.parent / "models" / "torch"


def run(*arguments, code=0):
    done = subprocess.run([sys.executable, HERE / "compare.py", *arguments], capture_output=True, text=True,
                          timeout=600)
    text = done.stdout + done.stderr
    if done.returncode != code or "Traceback" in text:
        raise common.Failure(f"{arguments} ended with {done.returncode}: {text}")
    return text


def expect(text, *parts):
    for part in parts:
        if part not in text:
            raise common.Failure(f"'{part}' is not in: {text}")


def sees_differences():
    want = np.arange(4000, dtype=np.int8).reshape(1, 4000)
    one, two, far = want.copy(), want.copy(), want.copy()
    one[0, 7] += 1
    two[0, :9] += 1
    far[0, 7] += 2
    for got, exact, good in ((want, True, True), (one, True, False), (one, False, True), (two, False, False),
                             (far, False, False)):
        found = onnx_layers.Difference("y", [want], [got.tobytes()])
        if found.is_good(exact) != good:
            raise common.Failure(f"{found.text()} is taken for {'wrong' if good else 'right'}")
    real = np.linspace(-1, 1, 50, dtype=np.float32)
    for by, good in ((1e-6, True), (1e-2, False)):
        if onnx_layers.Difference("y", [real], [(real + np.float32(by)).tobytes()]).is_good(False) != good:
            raise common.Failure(f"floats that are {by} apart are taken for {'wrong' if good else 'right'}")


def main():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    work = common.fresh(parser.parse_args().work.resolve())
    try:
        import onnx
        import onnxruntime  # noqa: F401
    except ImportError as error:
        common.skip(f"{error}: scripts/setup test")
    sees_differences()
    to = ("--work", work / "compare")
    model = work / "autoencoder.onnx"
    quantised.quantise(quantised.autoencoder(), "s8s8_channels", model, reduce_range=True)
    expect(run(model, "--inputs", "2", *to), "(QuantizeLinear): equal", "quantised tensors",
           " 0 not equal, 0 tensors wrong")
    expect(run(TORCH / "dense_script.onnx", *to), "(output of the model as it is)", " 0 tensors wrong")
    expect(run(work / "none.onnx", *to, code=1), "none.onnx: there is no such file")
    expect(run(model, "--input", "z=z.npy", *to, code=1), "there is no input 'z'; its inputs are 'x'")
    expect(run(model, "--input", "x=none.npy", *to, code=1), "none.npy")
    expect(run(model, "--dim", "batch", *to, code=1), "--dim batch: NAME=...")
    damaged = work / "damaged.onnx"
    damaged.write_bytes(model.read_bytes()[:1000])
    expect(run(damaged, *to, code=1), "damaged.onnx: onnxruntime:")
    open_model = onnx.load(TORCH / "dense_script.onnx")
    open_model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "rows"
    onnx.save(open_model, work / "open.onnx")
    expect(run(work / "open.onnx", *to, code=1), "dimension 0 ('rows')", "--dim rows=1")
    print("passed")


if __name__ == "__main__":
    common.main_of(main)
