# SPDX-License-Identifier: Apache-2.0
"""Facts about operators of float activations and int8 weights. See experiment.py."""

import models_hybrid as hybrid
import numpy as np
from case import Case, Tensor, const
from experiment import F, fact, follows, run
from fixed_point import round_half_away


def _identity(depth, asymmetric):
    """Results are the quantised elements, scaled back."""
    return Case("x", "FULLY_CONNECTED",
                [Tensor("float32", (1, depth)), const(np.eye(depth, dtype=np.int8), 1.0, 0), None],
                [Tensor("float32")], dict(asymmetric_quantize_inputs=asymmetric))


@fact("rows are rounded ties away from zero; of whole groups of eight the float below a half goes up")
def _():
    x = np.full(12, np.nextafter(F(0.5), F(0)))
    x[0] = 127
    got = run(_identity(12, False), x)[0][0]
    return np.array_equal(got, [127] + [1] * 7 + [0] * 4)


def _zero(low, high, scale):
    """In the precision of the operands."""
    one = type(scale)
    below, above = low / scale, high / scale
    exact = one(-128) - below if one(128) - below < one(127) + above else one(127) - above
    return int(round_half_away(np.float64(exact)))


@fact("asymmetric rows: the range is formed in float32, its zero point in double from it")
def _():
    rng = np.random.default_rng(3)
    differ = [0, 0, 0]
    for _ in range(300):  # rows whose zero point is next to a tie
        top = F(rng.uniform(0.5, 10))
        low = F(-(rng.integers(1, 254) + 0.5) * top / 255)
        x = rng.uniform(low, low + top, 16).astype(F)
        x[0], x[1] = low, low + top
        got = run(_identity(16, True), x)[0][0]
        q, scale, zero = hybrid.asymmetric(x)
        if not np.array_equal(got, F(q - zero) * scale):
            return False
        low, high = min(F(0), x.min()), max(F(0), x.max())
        wide = (np.float64(high) - np.float64(low)) / 255
        differ[0] += F(wide) != scale
        differ[1] += _zero(np.float64(low), np.float64(high), wide) != zero
        differ[2] += _zero(low, high, scale) != zero
    return all(differ)


def _convolution(kind, seed):
    rng = np.random.default_rng(seed)
    shape = (6, 3, 3, 6) if kind == "CONV_2D" else (1, 3, 3, 6)
    weights = const(rng.integers(-127, 128, shape).astype(np.int8),
                    rng.uniform(0.01, 0.02, 6).astype(F), [0] * 6, 0 if kind == "CONV_2D" else 3)
    options = dict(padding="SAME", stride_h=1, stride_w=1)
    if kind != "CONV_2D":
        options["depth_multiplier"] = 1
    return Case("x", kind, [Tensor("float32", (1, 8, 8, 6)), weights, const(np.zeros(6, F))],
                [Tensor("float32")], options), rng.standard_normal((1, 8, 8, 6))


@fact("CONV_2D multiplies a sum by the scale of the weights, then by the row's; DEPTHWISE_CONV_2D and "
      "FULLY_CONNECTED by their product")
def _():
    import models_window

    conv, x = _convolution("CONV_2D", 5)
    depthwise, y = _convolution("DEPTHWISE_CONV_2D", 6)
    def other(call):
        values, factors = hybrid._batches(call.arrays[0], hybrid.asymmetric)
        if call.kind == "CONV_2D":
            sums = models_window._conv_sums(call, values).astype(F)
            return [sums * (hybrid._scales(call, 6) * factors)]
        sums = models_window._depthwise_sums(call, values).astype(F)
        return [sums * hybrid._scales(call, 6) * factors]
    return (follows(conv, [x], models_window.conv_2d, other)
            and follows(depthwise, [y], models_window.depthwise_conv_2d, other))
