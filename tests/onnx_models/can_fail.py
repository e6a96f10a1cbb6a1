#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""That node_tests.py, classical.py and quantised.py can fail: expected results or hashes that are changed are seen as wrong,
and so is a missing one.

Usage: can_fail.py --work DIR
"""
import argparse
import pathlib
import sys
import types

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import classical  # noqa: E402
import quantised  # noqa: E402
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


def check_hashes(work):
    """A case as quantised.py makes them: two tensors of whole numbers and one of floats, which has no hash."""
    path = pathlib.Path(work) / "hashed"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"a model")
    turn = [np.arange(5, dtype=np.int8), np.ones(3, np.float32), np.arange(4, dtype=np.uint8)]
    case = types.SimpleNamespace(names=["a", "f", "b"], turns=[turn, [v + v.dtype.type(1) for v in turn]], exact=True)
    case.hashes = quantised.onnx_hashes.entry(case, path)
    found = [v.tobytes() for turn in case.turns for v in turn]
    spoiled = {"as it is": (case.hashes, found, "passed"), "no hash": (None, found, "wrong"),
               "of another model": ({**case.hashes, "model": "0" * 16}, found, "wrong"),
               "a value": (case.hashes, [*found[:5], bytes(4)], "wrong"),
               "one input": (case.hashes, found[:3], "passed"), "the other input": (case.hashes, found[3:], "wrong")}
    for at in (0, 1):
        tensors = {**case.hashes["tensors"], "b": list(case.hashes["tensors"]["b"])}
        tensors["b"][at] = "0" * 16
        spoiled[f"hash {at}"] = ({**case.hashes, "tensors": tensors}, found, "wrong" if at == 1 else "passed")
        if at == 1 and not quantised.differs_from_hashes(case, spoiled["hash 1"][0]):
            raise common.Failure("a spoiled hash of onnxruntime's results is not seen")
    for what, (known, results, want) in spoiled.items():
        quantised.judge_by_hashes(case, known, results)
        if case.verdict != want:
            raise common.Failure(f"hashes, {what}: {case.verdict}, not {want}")
    if quantised.differs_from_hashes(case, case.hashes):
        raise common.Failure("hashes as they are differ")


def main():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--work", required=True)
    work = parser.parse_args().work
    try:
        import onnx
    except ImportError:
        common.skip("the package onnx is not installed: scripts/setup test")
    check_classical()
    check_hashes(work)
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
