# SPDX-License-Identifier: Apache-2.0
"""Models of STABLEHLO_COMPOSITE, as ai-edge-torch writes them: what they are made of is inlined.

Outputs as LiteRT's, by gcc: composites within composites, one subgraph for two of them with operands of
different shapes, results that are operands or constants, constants that are operands of the
composite and that the operators inside need as such. Then damaged ones: the message.
"""
import bundle
import common
import numpy as np
import pytest
import tflite_builder
from tflite_builder import ModelBuilder


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


REFUSED = {
    "none": (dict(main=model(first=9)), "the decomposition subgraph is missing"),
    "itself": (dict(mid=middle(call=1)), "the decomposition subgraph is missing"),
    "outer": (dict(mid=middle(call=0)), "subgraph"),
    "results": (dict(main=model(results=2)), "subgraph 1 has 3 outputs, but the operator has 2"),
    "type": (dict(main=model(dtype="int32")), "result 0 has a different type or quantisation in subgraph 1"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name, tmp_path):
    parts, message = REFUSED[name]
    (tmp_path / "model.tflite").write_bytes(bytes_of(**parts))
    done = common.aotc("check", tmp_path / "model.tflite", "--quiet", expect=None)
    assert done.returncode == 1
    assert message in done.stderr


@pytest.fixture
def composite(tmp_path):
    path = tmp_path / "composite.tflite"
    path.write_bytes(bytes_of())
    return path


def test_equals_litert(composite, tmp_path):
    bundle.tell(*bundle.run(bundle.Program("gcc"), [str(composite)], common.fresh(tmp_path / "run")).values())


def test_verify(composite):
    common.aotc("verify", composite, "--quiet")
