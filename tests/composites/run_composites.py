#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models of STABLEHLO_COMPOSITE, as ai-edge-torch writes them: what they are made of is inlined.

Usage: run_composites.py --work DIR

Outputs as LiteRT's, by gcc: composites within composites, one subgraph for two of them with operands of
different shapes, results that are operands or constants, constants that are operands of the
composite and that the operators inside need as such. Then damaged ones: the message.
"""
import argparse
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "oracle"), str(HERE.parent / "e2e")]
import common  # noqa: E402
import tflite_builder  # noqa: E402
from tflite_builder import ModelBuilder  # noqa: E402


def inner_square(shape=(2, 12)):
    """Subgraph 2: x*x, x itself, a constant. (Of an output that is there twice LiteRT writes one.)"""
    b = ModelBuilder("square")
    x = b.tensor("inner/x", "float32", shape)
    y = b.tensor("inner/y", "float32", shape)
    b.op("MUL", [x, x], [y])
    return b, [x], [y, x, b.const("inner/c", np.arange(3, dtype=np.float32))]


def middle(call=2):
    """Subgraph 1: RESHAPE by an operand, and a composite within."""
    b = ModelBuilder("middle")
    x, shape = b.tensor("mid/x", "float32", (1, 4, 6)), b.tensor("mid/shape", "int32", (2,))
    flat = b.tensor("mid/flat", "float32", (2, 12))
    b.op("RESHAPE", [x, shape], [flat])
    square, same = (b.tensor(f"mid/{n}", "float32", (2, 12)) for n in ("square", "same"))
    fixed = b.tensor("mid/fixed", "float32", (3,))
    b.op("STABLEHLO_COMPOSITE", [flat], [square, same, fixed], name="test.square", attributes=b"\0",
         subgraph=call)
    summed = b.tensor("mid/sum", "float32", (2, 12))
    b.op("ADD", [square, flat], [summed], activation="RELU6")
    return b, [x, shape], [summed, same, fixed]


def model(first=1, results=3, dtype="float32"):
    b = ModelBuilder()
    x = b.tensor("x", "float32", (1, 4, 6))
    outs = [b.tensor("sum", dtype, (2, 12)), b.tensor("same", "float32", (2, 12)), b.tensor("fixed", "float32", (3,))]
    shape = b.const("shape", np.array([2, 12], np.int32))
    b.op("STABLEHLO_COMPOSITE", [x, shape], outs[:results], name="test.middle", attributes=b"\0", subgraph=first)
    wide, other = b.tensor("wide", "float32", (4, 12)), b.tensor("other", "float32", (4, 12))
    names = [b.tensor(f"w{i}", "float32", s) for i, s in enumerate(((4, 12), (3,)))]
    b.op("CONCATENATION", [outs[1], outs[1]], [wide], axis=0)
    b.op("STABLEHLO_COMPOSITE", [wide], [other, *names], name="test.square", attributes=b"\0", subgraph=2)
    return b, [x], [*outs[:results], other, *names]


def bytes_of(main=None, mid=None):
    return tflite_builder.model_of([main or model(), mid or middle(), inner_square()])


REFUSED = [
    ("none", dict(main=model(first=9)), "it names no subgraph that it is made of"),
    ("itself", dict(mid=middle(call=1)), "it names no subgraph that it is made of"),
    ("outer", dict(mid=middle(call=0)), "subgraph"),
    ("results", dict(main=model(results=2)), "subgraph 1 has 3 outputs, the operator 2"),
    ("type", dict(main=model(dtype="int32")), "result 0 has another type or quantisation in subgraph 1"),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    work = common.fresh(parser.parse_args().work.resolve())
    failed = []
    for name, parts, said in REFUSED:
        path = work / f"{name}.tflite"
        path.write_bytes(bytes_of(**parts))
        done = common.aotc("check", path, "--quiet", expect=None)
        if done.returncode != 1 or said not in done.stderr:
            failed.append(f"{name}: exit code {done.returncode}, {done.stderr}")
    (work / "composite.tflite").write_bytes(bytes_of())
    done = common.run([sys.executable, HERE.parent / "e2e" / "bundle.py", "gcc", "--work", work / "run", "--models",
                       "composite"], expect=None, env={**common.os.environ, common.MORE_MODELS: str(work)})
    if done.returncode:
        failed.append(done.stdout + done.stderr)
    done = common.aotc("verify", work / "composite.tflite", "--quiet", expect=None)
    if done.returncode:
        failed.append(done.stderr)
    print("\n".join([*failed, f"{len(REFUSED) + 2 - len(failed)} passed, {len(failed)} failed"]))
    if failed:
        raise common.Failure(f"{len(failed)} failed")


if __name__ == "__main__":
    common.main_of(main)
