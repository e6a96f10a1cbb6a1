# SPDX-License-Identifier: Apache-2.0
"""AVERAGE_POOL_2D and MAX_POOL_2D: int8 and float32; input and result share their quantisation."""

import int16_cases
import uint8_cases
from case import Case, Tensor
from patterns import float32, int8

# name: input shape, window, strides, padding
GEOMETRIES = {
    "k2": ((1, 6, 8, 3), (2, 2), (2, 2), "VALID"),
    "k3_same": ((1, 7, 6, 2), (3, 3), (1, 1), "SAME"),
    "k3_same_stride2": ((1, 7, 8, 5), (3, 3), (2, 2), "SAME"),
    "k3_valid_stride2": ((1, 8, 9, 4), (3, 3), (2, 2), "VALID"),
    "global": ((1, 5, 4, 7), (5, 4), (1, 1), "VALID"),
    "global_25x5": ((1, 25, 5, 3), (25, 5), (25, 5), "VALID"),
    "k1": ((1, 4, 4, 3), (1, 1), (1, 1), "VALID"),
    "k1_stride2": ((1, 5, 5, 3), (1, 1), (2, 2), "SAME"),
    "k4x1": ((1, 9, 3, 2), (4, 1), (2, 1), "SAME"),
    "k1x5": ((1, 2, 11, 2), (1, 5), (1, 3), "SAME"),
    "batch2": ((2, 5, 5, 2), (2, 3), (1, 2), "SAME"),
    "one_channel": ((1, 7, 7, 1), (3, 3), (3, 3), "SAME"),
    "window_over_input": ((1, 2, 3, 2), (5, 5), (1, 1), "SAME"),
    "channels19": ((1, 4, 4, 19), (2, 2), (2, 2), "SAME"),
}
QUANTIZATIONS = {
    "relu": (0.05, 10, "RELU"),
    "relu6": (0.1, -128, "RELU6"),
    "relu_n1_to_1": (0.02, 0, "RELU_N1_TO_1"),
    "zero_min": (1.0, -128, "NONE"),
    "zero_max": (1e-5, 127, "NONE"),
    "huge": (1e4, 3, "RELU6"),
    "bound_on_tie": (12.0, 0, "RELU6"),
}


def _case(kind, name, geometry, tensor, activation):
    shape, (fh, fw), (sh, sw), padding = geometry
    out = Tensor(tensor.dtype, (), tensor.scale, tensor.zero_point)
    return Case(name, kind, [tensor], [out],
                dict(padding=padding, stride_h=sh, stride_w=sw, filter_h=fh, filter_w=fw,
                     activation=activation),
                "ulp" if tensor.dtype == "float32" else "exact")


def cases(kind, whole=None):
    """`whole`: geometries of one window, by name."""
    yield from _cases(kind, whole or {})
    yield from uint8_cases.of(_cases(kind, whole or {}))


def _cases(kind, whole):
    for name, geometry in GEOMETRIES.items():
        yield _case(kind, f"int8_{name}", geometry, int8(geometry[0], 0.05, -7), "NONE")
    for name, (scale, zero, activation) in QUANTIZATIONS.items():
        geometry = GEOMETRIES["k3_same"]
        yield _case(kind, f"int8_q_{name}", geometry, int8(geometry[0], scale, zero), activation)
    for i, (name, geometry) in enumerate(GEOMETRIES.items()):
        yield _case(kind, f"float32_{name}", geometry, float32(geometry[0]),
                    ("NONE", "RELU", "RELU6", "RELU_N1_TO_1")[i % 4])
    yield _case(kind, "int8_rank3", ((5, 6, 2),) + GEOMETRIES["k2"][1:], int8((5, 6, 2), 0.1), "NONE")
    yield _case(kind, "int32", GEOMETRIES["k2"], Tensor("int32", (1, 6, 8, 3)), "NONE")
    yield from int16_cases.pools(kind, GEOMETRIES, lambda g: dict(
        padding=g[3], stride_h=g[2][0], stride_w=g[2][1], filter_h=g[1][0], filter_w=g[1][1]))
    for name, geometry in whole.items():
        yield _case(kind, f"int8_{name}", geometry, int8(geometry[0], 0.05, -7), "NONE")
        yield _case(kind, f"int8_{name}_clamped", geometry, int8(geometry[0], 0.05, -100), "RELU6")
