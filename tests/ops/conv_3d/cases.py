# SPDX-License-Identifier: Apache-2.0
"""CONV_3D and CONV_3D_TRANSPOSE of floats: strides, dilations, paddings, constant and computed weights."""

import numpy as np
from case import Case, const
from patterns import ACTIVATIONS, float32

PAIRS = [("CONV_3D", "float32"), ("CONV_3D_TRANSPOSE", "float32")]
PAIR_BY = "outputs"

# name: input, kernel, channels of the result, strides, dilations (depth, height, width), padding
VOLUMES = {
    "pointwise": ((1, 2, 3, 4, 5), (1, 1, 1), 3, (1, 1, 1), (1, 1, 1), "SAME"),
    "k3_same": ((1, 4, 5, 6, 2), (3, 3, 3), 3, (1, 1, 1), (1, 1, 1), "SAME"),
    "k3_valid": ((1, 4, 5, 6, 2), (3, 3, 3), 3, (1, 1, 1), (1, 1, 1), "VALID"),
    "stride2": ((1, 5, 4, 6, 3), (3, 3, 3), 2, (2, 2, 2), (1, 1, 1), "SAME"),
    "strides": ((1, 6, 5, 7, 1), (2, 3, 2), 4, (3, 1, 2), (1, 1, 1), "VALID"),
    "dilated": ((1, 5, 6, 7, 2), (2, 2, 3), 2, (1, 1, 1), (2, 1, 2), "SAME"),
    "dilated_valid": ((1, 6, 7, 8, 1), (2, 3, 2), 3, (1, 1, 1), (2, 2, 3), "VALID"),
    "batch2": ((2, 3, 3, 3, 2), (2, 2, 2), 2, (1, 1, 1), (1, 1, 1), "SAME"),
    "one_voxel": ((1, 1, 1, 1, 4), (3, 3, 3), 5, (1, 1, 1), (1, 1, 1), "SAME"),
    "even_kernel": ((1, 4, 4, 4, 1), (2, 4, 2), 1, (2, 1, 1), (1, 1, 1), "SAME"),
}


def _options(geometry, activation):
    _, _, _, (sd, sh, sw), (dd, dh, dw), padding = geometry
    return dict(padding=padding, stride_d=sd, stride_h=sh, stride_w=sw, dilation_d=dd, dilation_h=dh,
                dilation_w=dw, activation=activation)


def _floats(rng, shape, computed=False):
    return float32(shape) if computed else const(rng.standard_normal(shape).astype(np.float32))


def _case(name, kind, inputs, geometry, activation):
    return Case(name, kind, inputs, [float32()], _options(geometry, activation), "ulp")


def _length(n, kernel, stride, dilation, padding):
    """Of the result of the transposed one."""
    return n * stride if padding == "SAME" else (n - 1) * stride + (kernel - 1) * dilation + 1


def cases(rng):
    for i, (name, geometry) in enumerate(VOLUMES.items()):
        shape, kernel, channels, strides, dilations, padding = geometry
        for computed in (False, True):
            tag = f"{name}{'_computed' if computed else ''}"
            activation = ACTIVATIONS[(i + computed) % 4]
            w = _floats(rng, kernel + (shape[4], channels), computed)
            b = _floats(rng, (channels,), computed and i % 2 == 0)
            inputs = [float32(shape), w] + ([b] if (i + computed) % 3 else [])
            yield _case(f"float32_{tag}", "CONV_3D", inputs, geometry, activation)
            lengths = [_length(*v, padding) for v in zip(shape[1:4], kernel, strides, dilations)]
            result = const(np.int32([shape[0], *lengths, channels]))
            w = _floats(rng, kernel + (channels, shape[4]), computed)
            yield _case(f"transpose_{tag}", "CONV_3D_TRANSPOSE", [result, w] + inputs[:1] + inputs[2:], geometry,
                        activation)
    geometry = VOLUMES["k3_same"]
    weights = rng.standard_normal((3, 3, 3, 2, 3)).astype(np.float32)
    weights.flat[::7], weights.flat[3::11] = np.inf, np.nan
    yield _case("float32_not_finite", "CONV_3D", [float32(geometry[0]), const(weights)], geometry, "NONE")
    yield _case("float32_groups", "CONV_3D", [float32(geometry[0]), _floats(rng, (3, 3, 3, 1, 2))], geometry, "NONE")
    yield _case("transpose_wrong_size", "CONV_3D_TRANSPOSE",
                [const(np.int32([1, 9, 9, 9, 3])), _floats(rng, (3, 3, 3, 3, 2)), float32(geometry[0])], geometry,
                "NONE")
