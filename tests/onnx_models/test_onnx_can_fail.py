# SPDX-License-Identifier: Apache-2.0
"""That node_tests.py, classical.py and quantised.py can fail: expected results or hashes that are changed are seen as wrong,
and so is a missing one.
"""
import pathlib
import types

import classical
import common
import node_tests
import numpy as np
import pytest
import quantised

LABELS, SCORES = np.array([[3], [5]]), np.array([[0.25, 0.75], [0.5, 0.5]], np.float32)
WANTED = [LABELS, SCORES]
RAW = b"".join(bytes(4) + a.tobytes() + b.tobytes() for a, b in zip(LABELS, SCORES))
CHANGED = {"labels": (RAW, [LABELS + [[0], [1]], SCORES]), "scores": (RAW, [LABELS, SCORES * np.float32(1.0001)]),
           "rows": (RAW, [LABELS[:1], SCORES[:1]]), "status": (b"\1" + RAW[1:], WANTED)}


@pytest.fixture(scope="module", autouse=True)
def modules():
    common.need_modules("onnx")


def test_equal_results():
    assert not classical.difference(RAW, WANTED)


@pytest.mark.parametrize("what", CHANGED)
def test_changed_results(what):
    assert classical.difference(*CHANGED[what])


@pytest.fixture
def case(tmp_path):
    """A case as quantised.py makes them: two tensors of whole numbers and one of floats, which has no hash."""
    path = tmp_path / "hashed"
    path.write_bytes(b"a model")
    turn = [np.arange(5, dtype=np.int8), np.ones(3, np.float32), np.arange(4, dtype=np.uint8)]
    case = types.SimpleNamespace(names=["a", "f", "b"], turns=[turn, [v + v.dtype.type(1) for v in turn]], exact=True)
    case.hashes = quantised.onnx_hashes.entry(case, path)
    case.found = [v.tobytes() for turn in case.turns for v in turn]
    return case


def spoilt(case, at):
    """The hashes with that of one result spoilt."""
    tensors = {**case.hashes["tensors"], "b": list(case.hashes["tensors"]["b"])}
    tensors["b"][at] = "0" * 16
    return {**case.hashes, "tensors": tensors}


# What is judged: hashes and results of a case, and the verdict.
HASHES = {
    "as it is": (lambda c: (c.hashes, c.found), "passed"),
    "no hash": (lambda c: (None, c.found), "wrong"),
    "of another model": (lambda c: ({**c.hashes, "model": "0" * 16}, c.found), "wrong"),
    "a value": (lambda c: (c.hashes, [*c.found[:5], bytes(4)]), "wrong"),
    "one input": (lambda c: (c.hashes, c.found[:3]), "passed"),
    "the other input": (lambda c: (c.hashes, c.found[3:]), "wrong"),
}
HASHES |= {f"hash {at}": (lambda c, at=at: (spoilt(c, at), c.found), verdict) for at, verdict in ((0, "passed"), (1, "wrong"))}


@pytest.mark.parametrize("what", HASHES)
def test_hashes(what, case):
    judged, verdict = HASHES[what]
    quantised.judge_by_hashes(case, *judged(case))
    assert case.verdict == verdict


def test_hashes_of_onnxruntime(case):
    assert quantised.differs_from_hashes(case, spoilt(case, 1)) and not quantised.differs_from_hashes(case, case.hashes)


def test_node_tests(tmp_path):
    import onnx
    root = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data" / "node"
    cases = [node_tests.load(root / name, lambda name, model: "all")
             for name in ("test_add", "test_add", "test_shape", "test_shape", "test_softmax_axis_1")]
    cases[1].outputs[0] = cases[1].outputs[0] * np.float32(1.01)
    cases[3].outputs[0] = cases[3].outputs[0] + 1
    cases[4].outputs.append(np.zeros(3, np.float32))
    node_tests.run(cases, types.SimpleNamespace(work=tmp_path, frozen=False, target="host", jobs=2, compiler="gcc"))
    assert [c.verdict for c in cases] == ["passed", "wrong", "passed", "wrong", "wrong"]
