#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What attention costs on an emulated Cortex-M4 as one operator, beside the same steps written out: there one of softmax's
weights is an output, so that they stay.

Usage: attention_costs.py --work DIR [--only TEXT]

As one operator it must take fewer instructions, and no larger arena; results must be the same to the bit.
"""
import argparse
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e"), str(HERE.parent / "oracle")]
import common  # noqa: E402
import twins  # noqa: E402

# Rows, heads, and elements of a head; what is between products and softmax, and behind it.
BLOCKS = {"16x2x8": (16, 2, 8, ""), "32x2x16": (32, 2, 16, ""), "32x2x16 causal": (32, 2, 16, "causal"),
          "48x4x8": (48, 4, 8, ""), "16x2x8 soft": (16, 2, 8, "soft"), "16x2x8 masked": (16, 2, 8, "masked"),
          "32x2x16 soft": (32, 2, 16, "soft"), "32x2x16 masked": (32, 2, 16, "masked")}


def between(kind, node):
    """Of products p the weights: causal, softly bounded, or as PyTorch has it with a mask of truth values."""
    nodes = [node("Mul", ["p", "c"], ["s"])]
    if kind == "soft":
        nodes += [node("Div", ["s", "cap"], ["s0"]), node("Tanh", ["s0"], ["s1"]), node("Mul", ["s1", "cap"], ["m"])]
    elif kind == "masked":
        nodes += [node("Where", ["shown", "zero", "never"], ["mask"]), node("Add", ["s", "mask"], ["m"])]
    elif kind == "causal":
        nodes.append(node("Add", ["s", "mask"], ["m"]))
    x = "m" if kind else "s"
    if kind != "masked":
        return [*nodes, node("Softmax", [x], ["weights"], axis=-1)]
    return [*nodes, node("Softmax", [x], ["any"], axis=-1), node("IsNaN", ["any"], ["none"]),
            node("Where", ["none", "zero", "any"], ["weights"])]


def block(rows, heads, size, kind, shown):
    """Projections, attention, and what they are added to."""
    from onnx import helper, numpy_helper
    width, rng, node = heads * size, np.random.default_rng(0), helper.make_node
    known = {f"w{p}": (rng.normal(size=(width, width)) / np.sqrt(width)).astype(np.float32) for p in "qkvo"}
    known |= {"heads": np.array([1, rows, heads, size], np.int64), "row": np.array([1, rows, width], np.int64),
              "c": np.array(size ** -0.5, np.float32), "mask": np.triu(np.full((rows, rows), -np.inf, np.float32), 1),
              "cap": np.array(5, np.float32), "zero": np.array(0, np.float32), "never": np.array(-np.inf, np.float32)}
    nodes = []
    for p in "qkv":
        nodes += [node("MatMul", ["x", f"w{p}"], [f"{p}0"]), node("Reshape", [f"{p}0", "heads"], [f"{p}1"]),
                  node("Transpose", [f"{p}1"], [p], perm=[0, 2, 3, 1] if p == "k" else [0, 2, 1, 3])]
    nodes += [node("MatMul", ["q", "k"], ["p"]), *between(kind, node), node("MatMul", ["weights", "v"], ["o"]),
              node("Transpose", ["o"], ["t"], perm=[0, 2, 1, 3]), node("Reshape", ["t", "row"], ["r"]),
              node("MatMul", ["r", "wo"], ["z"]), node("Add", ["z", "x"], ["y"])]
    value = lambda name, *shape: helper.make_tensor_value_info(name, 1, shape)  # noqa: E731
    outputs = [value("y", 1, rows, width)] + ([value("weight", 1, 1, 1, 1)] if shown else [])
    if shown:
        nodes.append(node("Slice", ["weights", "zeros", "ones"], ["weight"]))
        known |= {"zeros": np.zeros(4, np.int64), "ones": np.ones(4, np.int64)}
    read = {name for n in nodes for name in n.input}
    known = {k: v for k, v in known.items() if k in read and (k != "mask" or kind == "causal")}
    inputs = [value("x", 1, rows, width)]
    inputs += [helper.make_tensor_value_info("shown", 9, (rows, rows))] if kind == "masked" else []
    graph = helper.make_graph(nodes, "g", inputs, outputs,
                              [numpy_helper.from_array(v, k) for k, v in known.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def figures(name, shown, work):
    import onnx
    rows, heads, size, kind = BLOCKS[name]
    path = work / f"{name.replace(' ', '_')}_{'steps' if shown else 'one'}.onnx"
    onnx.save(block(rows, heads, size, kind, shown), path)
    rng = np.random.default_rng(1)
    x, visible = rng.standard_normal((1, rows, heads * size)).astype(np.float32), rng.random((rows, rows)) < 0.6
    visible[3] = False
    count, arena, found, _ = twins.instructions(path, path.with_suffix(""), [[x, visible] if kind == "masked" else [x]])
    results = {len(row[3]): np.frombuffer(row[3], np.float32) for row in found}
    if not np.isfinite(results[x.nbytes]).all():
        raise common.Failure(f"{name}: results that are no numbers")
    return count, arena, results[x.nbytes]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     allow_abbrev=False)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    common.need_modules("onnx")
    work = common.fresh(arguments.work.resolve())
    common.require(common.board(twins.BOARD)["emulator"]["program"])
    results = []
    for name in (n for n in BLOCKS if arguments.only in n):
        (before, larger, want), (after, arena, got) = figures(name, True, work), figures(name, False, work)
        same = np.array_equal(got, want)
        results.append(same and after < before and arena <= larger)
        missed = "" if results[-1] else " missed" if same else " other results"
        print(f"|{name}|{before:,}|{after:,}|{after / before:.4f}|{larger:,}|{arena:,}|{missed}", flush=True)
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    common.main_of(main)
