# SPDX-License-Identifier: Apache-2.0
"""Cases of operators.py: depthwise layers of which some channels are requantised by a line and others by the FPU. Where the
real multiplier is a power of two its ties make that no line does; the others have scales that lines meet."""
import numpy as np

from operator_models import graph_of, numbers

ZERO, X_SCALE, Y_SCALE = 117, np.float32(0.0117), np.float32(0.0231)
LINES = (0.00391, 0.00523, 0.00647, 0.00713, 0.00834)  # real multipliers


def depthwise(size, channels, odd, stride=1, times=1, pads=(1, 1, 1, 1)):
    """`odd`: the channels of the result that no line rounds."""
    from onnx import helper
    count = channels * times
    real = np.array([2.0 ** -7 if c in odd else LINES[c % len(LINES)] for c in range(count)])
    known = {"xs": X_SCALE, "xz": np.array(ZERO, np.uint8), "w": numbers("int8", count, 1, 3, 3, bits=7),
             "ws": (real * Y_SCALE / X_SCALE).astype(np.float32), "wz": np.zeros(count, np.int8), "ys": Y_SCALE,
             "yz": np.array(131, np.uint8), "b": numbers("int8", count).astype(np.int32) * 16}
    # Exact powers of two, as onnxruntime multiplies.
    for c in odd:
        for scale in np.nextafter(known["ws"][c], np.float32([0, 1])).tolist() + [known["ws"][c]]:
            if np.float32(np.float32(X_SCALE * np.float32(scale)) / Y_SCALE) == 2.0 ** -7:
                known["ws"][c] = scale
    given = {"x": numbers("uint8", 1, channels, *size)}
    node = helper.make_node("QLinearConv", ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"], ["y"], group=channels,
                            kernel_shape=[3, 3], strides=[stride, stride], pads=list(pads))
    return graph_of([node], given, ["y"], known), given


def mixed_cases():
    yield "mixed_plane", depthwise((9, 7), 6, {1, 5})
    yield "mixed_first", depthwise((12, 12), 5, {0})
    yield "mixed_several", depthwise((8, 8), 5, {0, 2})
    yield "mixed_times", depthwise((7, 9), 3, {2, 3}, times=2)
    yield "mixed_no_pads", depthwise((10, 11), 4, {2}, pads=(0, 0, 0, 0))
    yield "mixed_strides", depthwise((12, 12), 6, {3}, stride=2, pads=(0, 0, 1, 1))
    yield "mixed_strides_all_sides", depthwise((13, 13), 8, {0, 7}, stride=2)
    yield "mixed_strides_times", depthwise((9, 12), 2, {1, 2}, stride=2, times=2, pads=(1, 0, 1, 1))
