# SPDX-License-Identifier: Apache-2.0
"""SOFTMAX over the last axis: int8 to int8 (result scale 1/256, zero point -128) or to int16 (1/65536, -32768),
int16, float32."""

import int16_cases
import numpy as np
import uint8_cases
from case import Case, Tensor
from patterns import float32, int8

PAIRS = [("SOFTMAX", "uint8")]
PAIR_BY = "outputs"

SHAPES = {"row10": (1, 10), "row2": (1, 2), "row1": (1, 1), "rows": (3, 7), "rank1": (12,),
          "rank3": (2, 3, 5), "rank4": (1, 2, 3, 4), "rank5": (1, 2, 1, 2, 9), "wide": (1, 300),
          "row12": (1, 12), "longer_than_511": (1, 1001)}
SCALES = {"tiny": 1e-5, "small": 0.01, "eighth": 0.125, "odd": 0.0782, "one": 1.0, "large": 12.5,
          "huge": 1000.0, "capped": 1e6}

# Rows found by search, at scale 0.05: fixed point exp gives another result than a correctly
# rounded softmax, or than fixed point with its sum truncated.
HARD_ROWS = (
    (-73, 4, -94, -86, -120, 118, 32, -63, -86, 11),
    (19, -54, -38, 58, -26, -114, 51, -121, -56, 27),
    (-47, -20, 102, -58, 114, 8, -109, -44, -88, -50),
    (-93, -121, 67, -81, 98, -5, 114, 23, 46, 81),
    (-120, 126, -22, -61, -73, -7, -117, 12, -40, 78),
    (116, -47, 78, 101, 19, -1, -58, -55, -36, 62),
    (109, 54, 55, 118, -109, 67, 26, 53, 21, 57),
    (-104, 27, 100, 96, -24, 5, -89, 88, 72, 9),
    (102, 118, -75, -33, 73, -6, -124, -46, 57, -92),
    (70, 52, 31, 90, -112, -4, -103, -17, 40, -35),
    (-33, 7, -72, 91, -96, -15, -104, -15, -37, 76),
    (55, -98, -89, 45, 91, 104, -106, 15, 66, -128),
    (-76, 75, -91, 15, -87, 50, -37, -56, -37, 92),
    (-58, -84, -87, 115, -128, 97, -27, -33, -114, 43),
    (105, -126, -80, -49, 53, -4, 2, -73, 96, 18),
    (-15, -125, -82, 70, 15, -124, -47, -40, -33, -15),
    (-87, 76, 54, -55, -49, -124, -34, -60, -115, 46),
    (-107, 95, -11, 4, -103, -82, -93, 14, -63, -51),
    (-99, -82, 126, -47, 102, -26, -61, -113, 118, 110),
    (42, -2, -84, 53, 20, -67, 100, 92, 67, 110),
    (-16, 111, 114, 10, -11, -8, -44, -27, 121, 99),
    (-52, -22, 71, -45, 4, 99, -93, 114, 27, 5),
    (-56, -24, -107, 35, -85, 28, -55, -4, 50, 91),
    (32, -76, 29, 107, 54, 23, -15, -37, -15, 41),
    (-25, 63, 107, -91, -43, 125, 68, -72, -124, -115),
    (17, 75, -89, 51, 57, -39, -45, -84, 73, 21),
    (-86, -7, -3, 86, -13, -95, -100, 36, -72, -23),
    (114, -78, 85, -63, 100, -68, -73, -29, -127, 18),
    (49, -31, -79, 108, -53, 52, -36, -46, -20, 98),
    (-44, -59, -99, -128, 12, 121, -116, 44, -77, -106),
    (25, -55, -13, 26, -117, 125, -6, 115, 74, -118),
    (44, 37, -7, -57, 3, -55, 38, -85, 69, 12),
)


def _int8(name, shape, scale, zero_point, beta):
    return Case(name, "SOFTMAX", [int8(shape, scale, zero_point)], [int8((), 1 / 256, -128)],
                dict(beta=beta))


def _wide(name, shape, scale, zero_point=0, beta=1.0):
    return Case(f"int8_to_int16_{name}", "SOFTMAX", [int8(shape, scale, zero_point)],
                [Tensor("int16", (), 2**-16, -32768)], dict(beta=beta))


def wide_cases():
    for name, shape in SHAPES.items():
        yield _wide(name, shape, 0.11, 12)
    for name, scale in SCALES.items():
        yield _wide(f"scale_{name}", (4, 10), scale, -20)
        yield _wide(f"scale_{name}_long", (1, 600), scale, 127)
    yield _wide("beta", (2, 9), 0.15, beta=0.7)
    hard = _wide("hard_rows", np.shape(HARD_ROWS), 0.05)
    hard.samples = lambda rng: [[HARD_ROWS]]
    yield hard


def cases(rng):
    yield from _cases(rng)
    for case in uint8_cases.of(_cases(rng)):
        if "other_result" in case.name:
            case.undefined = "of uint8 the result's quantisation is not looked at"
        yield case


def _cases(rng):
    yield from wide_cases()
    for name, shape in SHAPES.items():
        yield _int8(f"int8_{name}", shape, 0.11, 12, 1.0)
    for name, scale in SCALES.items():
        yield _int8(f"int8_scale_{name}", (4, 10), scale, -20, 1.0)
        yield _int8(f"int8_scale_{name}_long", (1, 64), scale, 127, 1.0)
    for i, beta in enumerate((0.25, 0.7, 2.0, 10.0)):
        yield _int8(f"int8_beta_{i}", (2, 9), 0.15, 0, beta)
    hard = _int8("int8_hard_rows", np.shape(HARD_ROWS), 0.05, 0, 1.0)
    hard.samples = lambda rng: [[HARD_ROWS]]
    yield hard
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
    yield from int16_cases.softmaxes(rng, SHAPES)
