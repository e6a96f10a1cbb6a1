#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""That node_tests.py and classical.py can fail: expected results that are changed are seen as wrong, and so is a missing
one.

Usage: can_fail.py --work DIR
"""
import argparse
import pathlib
import sys
import types

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import classical  # noqa: E402
import node_tests  # noqa: E402
from node_tests import common  # noqa: E402


def check_classical():
    labels, scores = np.array([[3], [5]]), np.array([[0.25, 0.75], [0.5, 0.5]], np.float32)
    raw = b"".join(bytes(4) + a.tobytes() + b.tobytes() for a, b in zip(labels, scores))
    wanted = [labels, scores]
    changed = {"labels": [labels + [[0], [1]], scores], "scores": [labels, scores * np.float32(1.0001)],
               "rows": [labels[:1], scores[:1]]}
    if classical.difference(raw, wanted):
        raise common.Failure("equal results are seen as wrong")
    for what, want in changed.items():
        if not classical.difference(raw, want):
            raise common.Failure(f"changed {what} are not seen")
    if not classical.difference(b"\1" + raw[1:], wanted):
        raise common.Failure("a status is not seen")


def main():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--work", required=True)
    work = parser.parse_args().work
    try:
        import onnx
    except ImportError:
        common.skip("the package onnx is not installed: scripts/setup test")
    check_classical()
    root = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data" / "node"
    cases = [node_tests.load(root / name, lambda name, model: "all")
             for name in ("test_add", "test_add", "test_shape", "test_shape", "test_softmax_axis_1")]
    cases[1].outputs[0] = cases[1].outputs[0] * np.float32(1.01)
    cases[3].outputs[0] = cases[3].outputs[0] + 1
    cases[4].outputs.append(np.zeros(3, np.float32))
    node_tests.run(cases, types.SimpleNamespace(work=work, frozen=False, target="host", jobs=2, compiler="gcc"))
    got = [c.verdict for c in cases]
    want = ["passed", "wrong", "passed", "wrong", "wrong"]
    print(got)
    if got != want:
        raise common.Failure(f"expected {want}")


if __name__ == "__main__":
    common.main_of(main)
