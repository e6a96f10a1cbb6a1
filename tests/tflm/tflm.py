#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""TensorFlow Lite Micro's kernels in a process of their own, which may die of a model.

Run as a program it is the server that `oracle.LiteRT` starts: pickled (file, samples) in, pickled answers out. An
answer holds the outputs of the model, in order, for each sample.
"""

import argparse
import pathlib
import resource
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "random_models"))
import oracle  # noqa: E402

ARENA = 1 << 26
MEMORY = 4 << 30


class TFLM(oracle.LiteRT):
    """`ask` answers ("ran", [outputs of each sample, as arrays]), ("refused", reason) or ("died", reason)."""

    server = __file__


def _answer(runtime, np, file, samples):
    import model
    try:
        types = model.input_types(file)
        count = len(model.output_types(file))
        interpreter = runtime.Interpreter.from_bytes(file, arena_size=ARENA)
        ran = []
        for sample in samples:
            interpreter.reset()
            for i, (data, (shape, dtype)) in enumerate(zip(sample, types, strict=True)):
                interpreter.set_input(np.frombuffer(data, dtype).reshape(shape), i)
            interpreter.invoke()
            ran.append([np.array(interpreter.get_output(i)) for i in range(count)])
        return "ran", ran
    except (RuntimeError, ValueError, TypeError, IndexError, AssertionError) as error:
        return "refused", " ".join(str(error).split())


def serve():
    import numpy as np
    from tflite_micro.python.tflite_micro import runtime
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    oracle.answer_requests(lambda file, samples: _answer(runtime, np, file, samples))


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    serve()
