#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What large models cost `aotc check`: 272 MB in one .onnx file, in a file beside it, and in a .tflite file.

Usage: large.py --work DIR

Their weights are more than any microcontroller holds, and that has to be said from the headers: in at most 20 MB of memory,
file pages included. The time is printed, not judged. Ends with 'N passed, N failed'.
"""
import argparse
import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import measured

HERE = pathlib.Path(__file__).resolve().parent
MOST = 20_000_000  # bytes of memory
# Twice the 128 MiB that any model may have, from which on the headers decide; less is refused by a board's flash.
LAYERS, WIDTH = 68, 1000


def make_onnx(folder):
    import numpy as np
    import onnx
    from onnx import helper, numpy_helper
    nodes, constants = [], []
    for i in range(LAYERS):
        constants += [numpy_helper.from_array(np.full((WIDTH, WIDTH), i + 0.5, np.float32), f"w{i}"),
                      numpy_helper.from_array(np.zeros(WIDTH, np.float32), f"b{i}")]
        nodes.append(helper.make_node("Gemm", [f"x{i}", f"w{i}", f"b{i}"], [f"x{i + 1}"], transB=1))
    ports = [helper.make_tensor_value_info(f"x{i}", onnx.TensorProto.FLOAT, [1, WIDTH]) for i in (0, LAYERS)]
    graph = helper.make_graph(nodes, "large", ports[:1], ports[1:], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, folder / "large.onnx")
    onnx.save_model(model, str(folder / "beside.onnx"), save_as_external_data=True, location="beside.bin")


def make_tflite(folder):
    sys.path.insert(0, str(HERE.parent / "oracle"))
    import numpy as np
    from tflite_builder import ModelBuilder
    model, width = ModelBuilder(), 2 * WIDTH
    tensors = [model.tensor(f"x{i}", "int8", [1, width], 0.5) for i in range(LAYERS + 1)]
    for i in range(LAYERS):
        weights = model.const(f"w{i}", np.full((width, width), i + 1, np.int8), 0.25)
        model.op("FULLY_CONNECTED", [tensors[i], weights], [tensors[i + 1]])
    (folder / "large.tflite").write_bytes(model.finish(tensors[:1], tensors[-1:]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--make", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    work = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    if arguments.make:
        make_onnx(work)
        make_tflite(work)
        return 0
    missing = [p for p in ("onnx", "flatbuffers") if importlib.util.find_spec(p) is None]
    if missing and os.environ.get("CI") != "true":
        print(f"SKIP: no {missing}: pip install -r tests/requirements.txt")
        return 77
    for path in work.iterdir():
        path.unlink()
    # In a process of its own: what is measured here counts the memory of whoever starts it, too.
    subprocess.run([sys.executable, __file__, "--work", work, "--make"], check=True)
    program = os.environ.get("AOTC") or HERE.parents[1] / "build" / "release" / "compiler" / "aotc"
    failed = 0
    for name in ("large.onnx", "beside.onnx", "large.tflite"):
        path = work / name
        code, text, memory, _, seconds = measured.measured([program, "check", path], path.with_suffix(".txt"))
        data = (work / name).with_suffix(".bin")
        size = (work / name).stat().st_size + (data.stat().st_size if data.exists() else 0)
        good = code == 1 and memory <= MOST and re.search(r"weights take 272\d{6} bytes.*\[(onnx|tflite)-limit\]", text)
        failed += not good
        print(f"{name}: {size / 1e6:.0f} MB, {memory / 1e6:.1f} MB of memory, {1000 * seconds:.0f} ms"
              f"{'' if good else f' FAILED, exit code {code}: {text[:500]}'}")
    for path in work.iterdir():
        path.unlink()
    print(f"{3 - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
