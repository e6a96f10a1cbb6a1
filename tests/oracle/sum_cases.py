# SPDX-License-Identifier: Apache-2.0
"""ADD, SUB and MUL with broadcasting: int8, float32, int32; LiteRT broadcasts up to six dimensions."""

import dataclasses

import numpy as np
import uint8_cases
from case import Case, Tensor, const
from patterns import ACTIVATIONS, BROADCASTS, float32, int8

# name: scale and zero point of the operands and of the result
QUANTIZATIONS = {
    "typical": (0.05, -3, 0.02, 7, 0.06, 4),
    "equal": (0.1, 0, 0.1, 0, 0.1, 0),
    "zero_points_min": (0.05, -128, 0.05, -128, 0.1, -128),
    "zero_points_max": (0.03, 127, 0.05, 127, 0.1, 127),
    "zero_points_mixed": (0.03, -128, 0.05, 127, 0.1, 0),
    "saturates": (0.5, 0, 0.7, 0, 0.05, 0),
    "scales_far_apart": (1e-4, 3, 1.0, -3, 1.0, 9),
    "tiny_scales": (1e-6, 3, 2e-6, -3, 1.5e-6, 9),
    "huge_scales": (1e5, 3, 2e5, -3, 1.5e5, 9),
    "result_scale_large": (0.05, 1, 0.02, 2, 100.0, 3),
    "result_scale_small": (0.05, 1, 0.02, 2, 1e-3, 3),
    "halves": (0.5, 0, 0.5, 0, 1.0, 0),
    "bound_on_tie": (12.0, 0, 1.0, 0, 12.0, 0),
    "next_to_ties": (0.1, 0, 0.7, 0, 0.14, 0),
    "next_to_ties_2": (0.1, 0, 0.3, 0, 0.2, 0),
}
# As calibration gives them: no two in a simple ratio.
IRREGULAR = (
    (0.023529, -128, 0.0317461, 12, 0.0451973, -19),
    (0.0187233, 5, 0.0187233, 5, 0.0293117, -128),
)


def _int8(kind, name, shapes, quantization, activation="NONE"):
    sa, za, sb, zb, so, zo = quantization
    return Case(name, kind, [int8(shapes[0], sa, za), int8(shapes[1], sb, zb)],
                [int8((), so, zo)], dict(activation=activation))


def cases(rng, kind, of_int16, tiny):
    """`of_int16` gives cases of int16; `tiny`: fields of the case whose result has a scale of 2^-22."""
    yield from _cases(rng, kind, of_int16, tiny)
    yield from uint8_cases.of(_cases(rng, kind, of_int16, tiny))


def _cases(rng, kind, of_int16, tiny):
    same = BROADCASTS[0]
    for i, shapes in enumerate(BROADCASTS):
        yield _int8(kind, f"int8_shapes_{i:02}", shapes, QUANTIZATIONS["typical"])
    for name, quantization in QUANTIZATIONS.items():
        for activation in ("NONE", "RELU6"):
            yield _int8(kind, f"int8_q_{name}_{activation.lower()}", same, quantization, activation)
    for activation in ACTIVATIONS:
        yield _int8(kind, f"int8_{activation.lower()}", same, QUANTIZATIONS["typical"], activation)
    constant = _int8(kind, "int8_constant", same, QUANTIZATIONS["typical"])
    constant.inputs[1] = const(rng.integers(-128, 128, size=same[1]).astype("int8"), 0.02, 7)
    yield constant
    for side in (0, 1):
        scalar = _int8(kind, f"int8_constant_scalar_{side}", same, QUANTIZATIONS["typical"])
        scalar.inputs[side] = const(np.full((1,), 93, np.int8), 0.02, 7)
        yield scalar
    for i, quantization in enumerate(IRREGULAR):
        yield Case(f"int8_all_pairs_{i}", kind,
                   _int8(kind, "", ((64, 1), (1, 256)), quantization).inputs,
                   _int8(kind, "", ((), ()), quantization).outputs, dict(activation=ACTIVATIONS[i]),
                   samples=_all_pairs)
    for i, shapes in enumerate(BROADCASTS):
        yield Case(f"float32_shapes_{i:02}", kind, [float32(shapes[0]), float32(shapes[1])],
                   [float32()], dict(activation=ACTIVATIONS[i % 4]), "ulp")
    for activation in ("NONE", "RELU6"):
        yield Case(f"int32_{activation.lower()}", kind,
                   [Tensor("int32", (2, 3)), Tensor("int32", (3,))],
                   [Tensor("int32")], dict(activation=activation), samples=_small_int32)
    yield _int8(kind, "int8_six_dimensions", ((1, 2, 1, 2, 1, 3), (2, 1, 3, 1, 2, 1)),
                QUANTIZATIONS["typical"])
    yield _int8(kind, "int8_shapes_do_not_broadcast", ((2, 3), (2, 4)), QUANTIZATIONS["typical"])
    yield dataclasses.replace(_int8(kind, "int8_result_scale_2_to_minus_22", same, (1.0, 0, 1.0, 0, 2.0**-22, 0)), **tiny)
    yield Case("bool", kind, [Tensor("bool", (3,)), Tensor("bool", (3,))], [Tensor("bool")])
    yield from of_int16(rng)


def _small_int32(rng):
    return [[rng.integers(-1000, 1000, size=6), rng.integers(-1000, 1000, size=3)]
            for _ in range(2)]


def _all_pairs(rng):
    """Every value of one operand with every fourth of the other."""
    fourth = np.arange(-128, 128, 4, dtype=np.int8) + rng.integers(0, 4, size=64, dtype=np.int8)
    return [[fourth.reshape(64, 1), np.arange(-128, 128, dtype=np.int16).astype(np.int8)[None]]]
