"""SOFTMAX over the last axis: int8 to int8 (result scale 1/256, zero point -128), float32."""

from case import Case, Tensor
from patterns import float32, int8

SHAPES = {"row10": (1, 10), "row2": (1, 2), "row1": (1, 1), "rows": (3, 7), "rank1": (12,),
          "rank3": (2, 3, 5), "rank4": (1, 2, 3, 4), "rank5": (1, 2, 1, 2, 9), "wide": (1, 300),
          "row12": (1, 12)}
SCALES = {"tiny": 1e-5, "small": 0.01, "eighth": 0.125, "odd": 0.0782, "one": 1.0, "large": 12.5,
          "huge": 1000.0, "capped": 1e6}


def _int8(name, shape, scale, zero_point, beta):
    return Case(name, "SOFTMAX", [int8(shape, scale, zero_point)], [int8((), 1 / 256, -128)],
                dict(beta=beta))


def cases(rng):
    for name, shape in SHAPES.items():
        yield _int8(f"int8_{name}", shape, 0.11, 12, 1.0)
    for name, scale in SCALES.items():
        yield _int8(f"int8_scale_{name}", (4, 10), scale, -20, 1.0)
        yield _int8(f"int8_scale_{name}_long", (1, 64), scale, 127, 1.0)
    for i, beta in enumerate((0.25, 0.7, 2.0, 10.0)):
        yield _int8(f"int8_beta_{i}", (2, 9), 0.15, 0, beta)
    for name, shape in SHAPES.items():
        yield Case(f"float32_{name}", "SOFTMAX", [float32(shape)], [float32()], dict(beta=1.0),
                   "ulp", 4)
    yield Case("float32_beta", "SOFTMAX", [float32((2, 9))], [float32()], dict(beta=0.3), "ulp", 4)
    wrong = _int8("int8_other_result_scale", (1, 10), 0.1, 0, 1.0)
    wrong.outputs[0].scale = 0.01
    yield wrong
    wrong = _int8("int8_other_result_zero_point", (1, 10), 0.1, 0, 1.0)
    wrong.outputs[0].zero_point = 0
    yield wrong
    yield Case("int32", "SOFTMAX", [Tensor("int32", (1, 4))], [Tensor("int32")], dict(beta=1.0))
