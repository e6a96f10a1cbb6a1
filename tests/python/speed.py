#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long 1,000 inputs take: the emitted C through Python's module, aotc's own evaluation, LiteRT's interpreter with its
reference and its optimised kernels, and that of TensorFlow Lite Micro; and whether the results are equal.

Usage: speed.py MODEL.tflite [--count N]      times are of this machine, in seconds of its clock and of its processors
"""
import argparse
import os
import pathlib
import sys
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))


def timed(action):
    clock, cpu = time.perf_counter(), time.process_time()
    result = action()
    return result, time.perf_counter() - clock, time.process_time() - cpu


def litert(path, x, resolver):
    from ai_edge_litert import interpreter as tflite
    runner = tflite.Interpreter(str(path), num_threads=1,
                                experimental_op_resolver_type=getattr(tflite.OpResolverType, resolver))
    runner.allocate_tensors()
    given, made = runner.get_input_details()[0]["index"], runner.get_output_details()[0]["index"]

    def run():
        out = []
        for sample in x:
            runner.set_tensor(given, sample)
            runner.invoke()
            out.append(runner.get_tensor(made))
        return np.concatenate(out)
    return run


def micro(path, x):
    from tflite_micro.python.tflite_micro import runtime
    runner = runtime.Interpreter.from_file(str(path))

    def run():
        out = []
        for sample in x:
            runner.set_input(sample, 0)
            runner.invoke()
            out.append(runner.get_output(0))
        return np.concatenate(out)
    return run


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=1000)
    arguments = parser.parse_args()
    os.environ.setdefault("AOTC", str(ROOT / "build/release/compiler/aotc"))
    import aotc
    from aotc import _host
    m = aotc.compile(arguments.model)
    [port] = m.inputs
    info = np.iinfo(port.dtype)
    x = np.random.default_rng(1).integers(info.min, info.max + 1, (arguments.count, *port.shape)).astype(port.dtype)
    batch = x.reshape(-1, *port.shape[1:])
    _, first, _ = timed(lambda: m(batch[:1], raw=True))
    ways = [("the emitted C, m(x)", lambda: m(batch, raw=True)),
            ("LiteRT, reference kernels", litert(arguments.model, x, "BUILTIN_REF")),
            ("LiteRT, optimised kernels", litert(arguments.model, x, "BUILTIN_WITHOUT_DEFAULT_DELEGATES")),
            ("TensorFlow Lite Micro", micro(arguments.model, x))]
    print(f"{arguments.model.name}, {arguments.count} inputs; compiling the C once: {first:.2f} s")
    print(f"{'':28}{'s':>8}{'CPU s':>8}  results that differ")
    want = None
    for name, run in ways:
        result, clock, cpu = timed(run)
        result = np.asarray(result).reshape(arguments.count, -1)
        want = result if want is None else want
        print(f"{name:28}{clock:8.2f}{cpu:8.2f}  {int((result != want).any(axis=1).sum())}")
    _host.compiler = lambda: None
    m = aotc.compile(arguments.model)
    few = max(1, arguments.count // 50)
    result, clock, _ = timed(lambda: m(batch[:few], raw=True))
    print(f"{'aotc evaluate, ' + str(few):28}{clock:8.2f}{'':8}  {int((result.reshape(few, -1) != want[:few]).any(axis=1).sum())}")


if __name__ == "__main__":
    main()
