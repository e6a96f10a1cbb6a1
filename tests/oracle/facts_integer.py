# SPDX-License-Identifier: Apache-2.0
"""Facts about quantised and integer operators. See experiment.py."""

import models_activation
import models_elementwise
import models_movement
import models_reductions
import models_window
import numpy as np
from case import Case, Tensor, call_of, const
from experiment import F, fact, follows, rejected, run
from fixed_point import quantize_multiplier, round_half_away, scale
from make_cases import load_cases, run_in_child
from numpy_models import MODELS

# Accumulators reach the rescaling unchanged through the bias when every input is its zero point.

ACCUMULATORS = np.random.default_rng(7).integers(-60000, 60000, size=4000).astype(np.int32)
TIES = np.arange(-2000, 2000, dtype=np.int32)


def rescaled(kind, accumulators, input_scale, weight_scale, out_scale):
    """int16 would hide nothing, int8 saturates: accumulators are chosen to stay in range."""
    n = len(accumulators)
    shape, axis = {"CONV_2D": ((n, 1, 1, 1), 0), "DEPTHWISE_CONV_2D": ((1, 1, 1, n), 3),
                   "FULLY_CONNECTED": ((n, 1), 0)}[kind]
    scales = [weight_scale] * n if kind == "DEPTHWISE_CONV_2D" else weight_scale
    weights = const(np.ones(shape, np.int8), scales, [0] * np.size(scales), axis)
    source = (1, 1, 1, n if kind == "DEPTHWISE_CONV_2D" else 1)
    options = {} if kind == "FULLY_CONNECTED" else dict(padding="VALID", stride_h=1, stride_w=1)
    if kind == "DEPTHWISE_CONV_2D":
        options["depth_multiplier"] = 1
    bias = const(accumulators, input_scale * weight_scale)
    case = Case("x", kind, [Tensor("int8", source, input_scale, 3), weights, bias],
                [Tensor("int8", (), out_scale, 0)], options)
    return run(case, np.full(source, 3, np.int8))[0].ravel().astype(np.int64)


def clip8(x):
    return np.clip(x, -128, 127).astype(np.int64)


def rounded_once(x, multiplier, shift):
    return (x.astype(np.int64) * multiplier + (1 << (30 - shift))) >> (31 - shift)


def real_of(a, b, c):
    return np.float64(F(a)) * np.float64(F(b)) / np.float64(F(c))


def convolution_rounds_twice(kind):
    si, sw, so = 0.013, 0.4, 3.1
    real = real_of(si, sw, so)
    got = rescaled(kind, ACCUMULATORS, si, sw, so)
    twice = clip8(scale(ACCUMULATORS, *quantize_multiplier(real)))
    once = clip8(rounded_once(ACCUMULATORS, *quantize_multiplier(real)))
    in_range = np.array_equal(got, twice)
    # A multiplier of exactly 1/64: halves show the rounding of negative ties.
    ties = rescaled(kind, TIES, 0.5, 1.0, 32.0)
    twice = clip8(scale(TIES, *quantize_multiplier(1 / 64)))
    once_ties = clip8(rounded_once(TIES, *quantize_multiplier(1 / 64)))
    return in_range and np.array_equal(ties, twice) and not (
        np.array_equal(got, once) and np.array_equal(ties, once_ties))


@fact("CONV_2D int8: doubling high multiply, then rounding right shift: two roundings, not one")
def _():
    return convolution_rounds_twice("CONV_2D")


@fact("DEPTHWISE_CONV_2D int8: the same two roundings")
def _():
    return convolution_rounds_twice("DEPTHWISE_CONV_2D")


@fact("A real multiplier below 2**-32 becomes 0 in fixed point, which rounding gives anyway")
def _():
    acc = np.array([2**31 - 1, 2**30, -(2**31) + 1], np.int32)
    below = [
        rescaled(k, acc, 2.0**-17, 2.0**-16, 1.0).any() for k in ("CONV_2D", "FULLY_CONNECTED")
    ]
    at = rescaled("CONV_2D", acc, 2.0**-16, 2.0**-16, 1.0)
    zero = quantize_multiplier(2.0**-33) == (0, 0) and quantize_multiplier(2.0**-32)[0] != 0
    return below == [False, False] and zero and np.array_equal(
        at, scale(acc, *quantize_multiplier(2.0**-32)))


@fact("FULLY_CONNECTED int8: accumulator times the real multiplier in double, rounded once, ties "
      "away from zero; not the fixed point of convolutions, rounded twice or once")
def _():
    real = real_of(0.013, 0.4, 3.1)
    got = rescaled("FULLY_CONNECTED", ACCUMULATORS, 0.013, 0.4, 3.1)
    if not np.array_equal(got, clip8(round_half_away(ACCUMULATORS.astype(np.float64) * real))):
        return False
    ties = rescaled("FULLY_CONNECTED", TIES, 0.5, 1.0, 32.0)
    away = clip8(round_half_away(TIES / 64.0))
    up = clip8(rounded_once(TIES, *quantize_multiplier(1 / 64)))
    # Just below 1/128: the first rounding of two makes ties of what lies below them.
    below = rescaled("FULLY_CONNECTED", TIES, 0.99999994, 1.0, 128.0)
    once = clip8(round_half_away(TIES * real_of(0.99999994, 1.0, 128.0)))
    twice = clip8(scale(TIES, *quantize_multiplier(real_of(0.99999994, 1.0, 128.0))))
    return (np.array_equal(ties, away) and not np.array_equal(ties, up)
            and np.array_equal(below, once) and not np.array_equal(below, twice)
            and np.array_equal(rescaled("CONV_2D", TIES, 0.99999994, 1.0, 128.0), twice))


@fact("FULLY_CONNECTED int8 per channel: the same formula with each channel's weight scale")
def _():
    rng = np.random.default_rng(4)
    scales = rng.uniform(0.01, 1.0, 500)
    case = Case("x", "FULLY_CONNECTED", [Tensor("int8", (1, 9), 0.1, -9),
                                         const(rng.integers(-127, 128, (500, 9)).astype(np.int8),
                                               scales, [0] * 500),
                                         const(rng.integers(-999, 999, 500).astype(np.int32),
                                               scales * 0.1, [0] * 500)],
                [Tensor("int8", (), 3.0, 7)])
    return follows(case, [rng.integers(-128, 128, (1, 9))], models_window.fully_connected)


@fact("CONV_2D int8 with groups, dilation, padding: equal to the model; outside input adds nothing")
def _():
    rng = np.random.default_rng(3)
    case = Case("x", "CONV_2D", [
        Tensor("int8", (1, 6, 7, 4), 0.1, -9),
        const(
            rng.integers(-127, 128,
                         (6, 3, 3, 2)).astype(np.int8), rng.uniform(0.01, 0.1, 6), [0] * 6),
        const(rng.integers(-99, 99, 6).astype(np.int32), [0.01] * 6, [0] * 6)
    ], [Tensor("int8", (), 0.5, 7)],
                dict(padding="SAME", stride_h=1, stride_w=2, dilation_h=2, dilation_w=1))
    return follows(case, [rng.integers(-128, 128, (1, 6, 7, 4))], models_window.conv_2d)


def _clamp_case(activation, out_scale, zero):
    return Case("x", "ADD", [Tensor("int8", (256,), 0.1, 0), Tensor("int8", (1,), 0.1, 0)],
                [Tensor("int8", (), out_scale, zero)], dict(activation=activation))


@fact("Fused activation bounds: bound / result scale in float32, rounded half away, plus the zero "
      "point, cut to the type's range")
def _():
    ok = True
    for activation, out_scale, zero in (("RELU6", 6 / 127.5, -10), ("RELU6", 0.0235, -128),
                                        ("RELU_N1_TO_1", 2 / 25, 3), ("RELU", 0.3, 9)):
        got = run(_clamp_case(activation, out_scale, zero), np.arange(-128, 128), [127])[0]
        low, high = models_activation.quantized_range(activation,
                                                      Tensor("int8", (), out_scale, zero))
        ok &= got.min() >= low and got.max() <= high and (activation == "RELU" or got.max() == high)
    return ok


def _add_case(kind, sa, za, sb, zb, so, zo):
    return Case("x", kind, [Tensor("int8", (256, 1), sa, za), Tensor("int8", (1, 256), sb, zb)],
                [Tensor("int8", (), so, zo)])


ALL = np.arange(-128, 128)


@fact("ADD and SUB int8: operands shifted left by 20, three double-rounding multipliers; not float")
def _():
    def in_real(sign):
        def model(call):
            a, b = (x.astype(np.float64) - t.zero for x, t in zip(call.arrays, call.inputs))
            ta, tb, out = call.inputs[0], call.inputs[1], call.outputs[0]
            y = a * np.float64(ta.scale32) + sign * b * np.float64(tb.scale32)
            return [np.clip(round_half_away(y / np.float64(out.scale32)) + out.zero, -128,
                            127).astype(np.int8)]
        return model
    case, arrays = _add_case("ADD", 0.1, 3, 0.3, -7, 0.2, 5), [ALL, ALL]
    other = _add_case("SUB", 0.1, 3, 0.3, -7, 0.2, 5)
    return follows(case, arrays, models_elementwise.add, in_real(1)) and follows(
        other, arrays, models_elementwise.sub, in_real(-1))


@fact("ADD int8: a result scale so small that its multiplier reaches 1 ends LiteRT's process")
def _():
    case = Case("x", "ADD", [Tensor("int8", (4,), 1.0), Tensor("int8", (4,), 1.0)],
                [Tensor("int8", (), 2.0**-22)], may_abort=True)
    return run_in_child(case, 1).reason == "LiteRT ends the process"


@fact("MUL int8: real multiplier from scales multiplied and divided in float32, not double")
def _():
    def in_double(call):
        ta, tb, out = call.inputs[0], call.inputs[1], call.outputs[0]
        a, b = (x.astype(np.int64) - t.zero for x, t in zip(call.arrays, call.inputs))
        real = real_of(ta.scale32, tb.scale32, out.scale32)
        return [np.clip(scale(a * b, *quantize_multiplier(real)) + out.zero, -128,
                        127).astype(np.int8)]
    # With these scales some products lie next to a tie, where one float32 step decides.
    case = _add_case("MUL", 0.1, 0, 0.7, 0, 0.1 * 0.7 * 2, 0)
    return follows(case, [ALL, ALL], models_elementwise.mul, in_double)


@fact("AVERAGE_POOL_2D int8: sum of stored values over the count of pixels inside, nearest, ties "
      "away from zero; the zero point plays no part")
def _():
    def to_even(call):
        total = call.arrays[0].astype(np.int64).reshape(-1, 2, 1).sum(axis=1)
        return [np.rint(total / 2).astype(np.int8).reshape(call.outputs[0].shape)]
    pairs = np.stack([ALL, np.roll(ALL, 1)], axis=1).reshape(1, 1, 512, 1)
    case = Case("x", "AVERAGE_POOL_2D", [Tensor("int8", (1, 1, 512, 1), 0.1, 9)],
                [Tensor("int8", (), 0.1, 9)],
                dict(padding="VALID", stride_h=1, stride_w=2, filter_h=1, filter_w=2))
    border = Case("x", "AVERAGE_POOL_2D", [Tensor("int8", (1, 5, 5, 1), 0.1, 9)],
                  [Tensor("int8", (), 0.1, 9)],
                  dict(padding="SAME", stride_h=1, stride_w=1, filter_h=3, filter_w=3))
    return follows(case, [pairs], models_window.average_pool_2d, to_even) and follows(
        border, [np.arange(25) * 9 - 110], models_window.average_pool_2d)


@fact("MEAN int8: 1/count is folded into the multiplier by a truncating integer division, then two "
      "roundings; not the rounded real mean, and not a mean followed by a requantisation")
def _():
    data = np.random.default_rng(5).integers(-128, 128, (1000, 7))
    data[:256] = 0
    data[:256, 0] = ALL
    case = Case("x", "MEAN", [Tensor("int8", (1000, 7), 0.05, 0), const(np.array([1], np.int32))],
                [Tensor("int8", (), 0.05, 0)])
    pairs = Case("x", "MEAN", [Tensor("int8", (256, 2), 0.05, 0), const(np.array([1], np.int32))],
                 [Tensor("int8", (), 0.02, 0)])

    def real(call):
        return [round_half_away(call.arrays[0].astype(np.float64).sum(axis=1) / 7).astype(np.int8)]

    def in_two_steps(call):
        first = round_half_away(call.arrays[0].astype(np.float64).sum(axis=1) / 2).astype(np.int64)
        y = scale(first, *quantize_multiplier(real_of(0.05, 1.0, 0.02)))
        return [np.clip(y, -128, 127).astype(np.int8)]

    return follows(case, [data], models_reductions.mean, real) and follows(
        pairs, [np.stack([ALL // 4, ALL // 5], axis=1)], models_reductions.mean, in_two_steps)


@fact("SOFTMAX int8: fixed point exp (Q5 to Q0) and Newton reciprocal; not a rounded float softmax")
def _():
    rng = np.random.default_rng(6)
    case = Case("x", "SOFTMAX", [Tensor("int8", (20000, 10), 0.05, 3)],
                [Tensor("int8", (), 1 / 256, -128)], dict(beta=1.0))

    def in_float(call):
        x = call.arrays[0] * np.float64(F(0.05))
        e = np.exp(x - x.max(axis=1, keepdims=True))
        y = np.rint(e / e.sum(axis=1, keepdims=True) * 256) - 128
        return [np.clip(y, -128, 127).astype(np.int8)]

    return follows(case, [rng.integers(-128, 128, (20000, 10))], models_activation.softmax,
                   in_float)


@fact("SOFTMAX int8: every difference gives the model's value, for scales over nine decades")
def _():
    for s in 10.0 ** np.arange(-5.0, 4.5, 0.5):
        case = Case("x", "SOFTMAX", [Tensor("int8", (256, 2), float(s), 0)],
                    [Tensor("int8", (), 1 / 256, -128)], dict(beta=0.9))
        if not follows(case, [np.stack([ALL, np.full(256, 127)], axis=1)],
                       models_activation.softmax):
            return False
    return True


@fact("SOFTMAX int8: the result must have scale 1/256 (to 0.1 %) and zero point -128")
def _():
    make = lambda s, z: Case("x", "SOFTMAX", [Tensor("int8", (1, 4), 0.1)],
                             [Tensor("int8", (), s, z)], dict(beta=1.0))
    return (rejected(make(1 / 255, -128)) and rejected(make(1 / 256, -127))
            and not rejected(make(1.0005 / 256, -128)))


def _table_case(kind, s, z, so, zo):
    return Case("x", kind, [Tensor("int8", (256,), s, z)], [Tensor("int8", (), so, zo)])


@fact("LOGISTIC and TANH int8: table of 256 entries from float32 expf and tanhf, times 1/scale in "
      "float32, rounded half away")
def _():
    ok = True
    for s in (1e-3, 0.0235, 0.1, 0.5, 3.0):
        ok &= follows(_table_case("LOGISTIC", s, 5, 1 / 256, -128), [ALL],
                      models_activation.logistic)
        ok &= follows(_table_case("TANH", s, -5, 1 / 128, 0), [ALL], models_activation.tanh)
        ok &= follows(_table_case("TANH", s, -5, 0.013, 11), [ALL], models_activation.tanh)
    return ok and rejected(_table_case("LOGISTIC", 0.1, 0, 1 / 128, -128))


@fact("HARD_SWISH int8: 16 bit fixed point, not a table of the real function")
def _():
    def real(call):
        t, out = call.inputs[0], call.outputs[0]
        x = (call.arrays[0].astype(np.float64) - t.zero) * np.float64(t.scale32)
        y = round_half_away(x * np.clip(x + 3, 0, 6) / 6 / np.float64(out.scale32)) + out.zero
        return [np.clip(y, -128, 127).astype(np.int8)]
    case = _table_case("HARD_SWISH", 0.05, -3, 0.033, -50)
    return follows(case, [ALL], models_activation.hard_swish, real)


@fact("RELU, RELU6, RELU_N1_TO_1 and LEAKY_RELU int8: requantise with a multiplier from scales "
      "divided in float32, not double")
def _():
    def in_double(call):
        t, out = call.inputs[0], call.outputs[0]
        multiplier = quantize_multiplier(np.float64(t.scale32) / np.float64(out.scale32))
        y = scale(call.arrays[0].astype(np.int64) - t.zero, *multiplier) + out.zero
        return [np.clip(y, out.zero, 127).astype(np.int8)]
    ok, differs = True, False
    for s, z, so, zo in ((0.1, 5, 0.03, -128), (0.03, -7, 0.1, 9), (1 / 3, 10, 1 / 7, -20),
                         (0.1, -100, 0.6, -100), (0.7, -100, 0.2, -128), (0.3, -128, 0.2, -128),
                         (0.1, -128, 0.14, -128), (0.9, -128, 0.6, -128)):
        for kind in ("RELU", "RELU6", "RELU_N1_TO_1"):
            ok &= follows(_table_case(kind, s, z, so, zo), [ALL], MODELS[kind])
        case = _table_case("RELU", s, z, so, zo)
        differs = differs or follows(case, [ALL], models_activation.relu, in_double)
    leaky = _table_case("LEAKY_RELU", 0.1, 5, 0.07, -20)
    leaky.options = dict(alpha=0.3)
    return ok and differs and follows(leaky, [ALL], models_activation.leaky_relu)


@fact("QUANTIZE from float32: x / scale in float32, rounded half away, plus zero point; not times "
      "1/scale")
def _():
    def by_reciprocal(call):
        out = call.outputs[0]
        y = round_half_away(call.arrays[0] * (F(1) / out.scale32)) + F(out.zero)
        return [np.clip(y, -128, 127).astype(np.int8)]
    s = F(0.0487)
    x = (np.arange(-100, 100) + F(0.5)).astype(F) * s
    x = np.concatenate([x, np.nextafter(x, F(9)), np.nextafter(x, F(-9))])
    case = Case("x", "QUANTIZE", [Tensor("float32", x.shape)], [Tensor("int8", (), float(s), 3)])
    return follows(case, [x], models_elementwise.quantize, by_reciprocal)


@fact("QUANTIZE between integer types: two roundings, multiplier from a double division")
def _():
    ok = True
    for s, z, so, zo in ((0.1, 5, 0.03, -128), (0.03, -7, 0.1, 9), (0.5, 0, 1.0, 0), (1e-12, 0, 1,
                                                                                      4)):
        ok &= follows(_table_case("QUANTIZE", s, z, so, zo), [ALL], models_elementwise.quantize)
    return ok


@fact("DEQUANTIZE: (stored - zero point) * scale, correctly rounded to float32")
def _():
    case = Case("x", "DEQUANTIZE", [Tensor("int16", (65536,), 0.0123, 0)], [Tensor("float32")])
    x = np.arange(-32768, 32768)
    return np.array_equal(run(case, x)[0], x.astype(F) * F(0.0123))


@fact("MAXIMUM and MINIMUM: a > b ? a : b and a < b ? a : b on stored values: scales are ignored, "
      "NaN and equal zeros give the second operand")
def _():
    case = Case("x", "MAXIMUM", [Tensor("float32",
                                        (3,)), Tensor("float32", (3,))], [Tensor("float32")])
    y = run(case, [np.nan, 1.0, 0.0], [1.0, np.nan, -0.0])[0]
    q = Case("x", "MAXIMUM", [Tensor("int8", (1,), 0.1, 0), Tensor("int8", (1,), 9.0, 0)],
             [Tensor("int8", (), 0.1, 0)])
    return y[0] == 1 and np.isnan(y[1]) and np.signbit(y[2]) and run(q, [5], [4])[0][0] == 5


@fact(
    "CONCATENATION and PACK int8: operands whose quantisation differs from the result's are refused"
)
def _():
    make = lambda kind, **o: Case(
        "x", kind, [Tensor("int8",
                           (2, 2), 0.1), Tensor("int8", (2, 2), 0.2)], [Tensor("int8",
                                                                               (), 0.1)], o)
    return rejected(make("CONCATENATION", axis=0)) and rejected(
        make("PACK", axis=0, values_count=2))


@fact("PAD int8 fills with the result's zero point, also where the input's differs")
def _():
    case = Case("x", "PAD", [Tensor("int8", (1,), 0.1, 3), const(np.array([[1, 1]], np.int32))],
                [Tensor("int8", (), 0.1, 7)])
    return run(case, [50])[0].tolist() == [7, 50, 7]


@fact("RESIZE_NEAREST_NEIGHBOR: positions in float32; floor, or half up with align_corners")
def _():
    def in_double(call):
        n = call.arrays[0].shape[2]
        m = int(call.arrays[1][1])
        return [
            call.arrays[0][:, :,
                           np.minimum(np.floor(np.arange(m) * (n / m)).astype(int), n - 1)]
        ]
    plain = False
    for align, half in ((False, False), (False, True), (True, False), (True, True)):
        for n, m in ((3, 7), (7, 3), (10, 49), (49, 10), (2, 82), (5, 1)):
            case = Case("x", "RESIZE_NEAREST_NEIGHBOR",
                        [Tensor("float32", (1, 1, n, 1)), const(np.array([1, m], np.int32))],
                        [Tensor("float32")], dict(align_corners=align, half_pixel_centers=half))
            if not follows(case, [np.arange(n)], models_movement.resize_nearest_neighbor):
                return False
            plain = plain or (not align and not half and follows(
                case, [np.arange(n)], models_movement.resize_nearest_neighbor, in_double))
    return plain


@fact("ARG_MAX: the first of equal values; a NaN loses against every number")
def _():
    case = Case("x", "ARG_MAX", [Tensor("float32", (3, 3)), const(np.array(1, np.int32))],
                [Tensor("int32")], dict(output_type="int32"))
    x = [[1, 2, 2], [np.nan, -np.inf, np.nan], [0.0, -0.0, 0.0]]
    return run(case, x)[0].tolist() == [1, 1, 0]


@fact("CAST: float to integer truncates and saturates, NaN gives the largest value; integers wrap; "
      "to bool is x != 0")
def _():
    make = lambda a, b, n: Case("x", "CAST", [Tensor(a, (n,))], [Tensor(b)],
                                dict(in_type=a, out_type=b))
    narrow = run(make("float32", "int8", 5), [1.9, -1.9, 300, -300, np.nan])[0].tolist()
    wide = run(make("int32", "int8", 3), [128, 300, -129])[0].tolist()
    truth = run(make("float32", "bool", 3), [0.0, -0.0, np.nan])[0].tolist()
    return narrow == [1, -1, 127, -128, 127] and wide == [-128, 44, 127
                                                         ] and truth == [False, False, True]


@fact(
    "LOGISTIC and TANH int8: expf or tanhf two ulp off, either way, changes no table of the cases "
      "but the one built to lie on a tie")
def _():
    def tables(call, function, ulp):
        towards = F(9) if ulp > 0 else F(-9)
        def nudged(v):
            y = function(v)
            for _ in range(abs(ulp)):
                y = np.nextafter(y, towards)
            return y
        return models_activation.lookup_table(call, nudged)[0]
    sigmoid = lambda v: F(1) / (F(1) + models_activation.expf(-v))
    ok = True
    for op, function in (("logistic", sigmoid), ("tanh", models_activation.tanhf)):
        cases = [c for c in load_cases(op, 1) if c.inputs[0].dtype == "int8"]
        for case in (c for c in cases if c.name != "int8_next_to_tie"):
            call = call_of(case, [ALL.astype(np.int8)], [(256,)])
            exact = tables(call, function, 0)
            ok &= all(np.array_equal(exact, tables(call, function, u)) for u in (-2, -1, 1, 2))
    return ok


@fact("CONV_2D needs its bias operand; DEPTHWISE_CONV_2D and FULLY_CONNECTED do not")
def _():
    w = {"CONV_2D": (2, 1, 1, 2), "DEPTHWISE_CONV_2D": (1, 1, 1, 2), "FULLY_CONNECTED": (2, 2)}
    answers = []
    for kind, shape in w.items():
        options = {} if kind == "FULLY_CONNECTED" else dict(padding="SAME", stride_h=1, stride_w=1)
        if kind == "DEPTHWISE_CONV_2D":
            options["depth_multiplier"] = 1
        source = (1, 2) if kind == "FULLY_CONNECTED" else (1, 1, 1, 2)
        answers.append(
            rejected(
                Case("x", kind, [Tensor("float32", source),
                                 const(np.ones(shape, F))], [Tensor("float32")], options)))
    return answers == [True, False, False]


@fact(
    "FULLY_CONNECTED int8: a per-tensor bias scale that differs from input * weight scale by more "
    "than 2 % of the result scale is refused; CONV_2D does not look")
def _():
    def make(kind, shape, source, options, bias_scale):
        return Case("x", kind, [Tensor("int8", source, 0.1), const(np.ones(shape, np.int8), 0.1),
                                const(np.zeros(2, np.int32), bias_scale)],
                    [Tensor("int8", (), 1.0)], options)
    window = dict(padding="SAME", stride_h=1, stride_w=1)
    return (rejected(make("FULLY_CONNECTED", (2, 2), (1, 2), {}, 0.04))
            and not rejected(make("FULLY_CONNECTED", (2, 2), (1, 2), {}, 0.02))
            and not rejected(make("CONV_2D", (2, 1, 1, 2), (1, 1, 1, 2), window, 1.0)))


@fact("CONV_2D accepts a fused TANH and ignores it; FULLY_CONNECTED and CONCATENATION refuse one")
def _():
    x, w, b = Tensor("int8", (1, 1, 1, 1), 1.0), const(np.ones((1, 1, 1, 1), np.int8), 1.0), const(
        np.zeros(1, np.int32), 1.0)
    options = dict(padding="SAME", stride_h=1, stride_w=1, activation="TANH")
    conv = run(Case("x", "CONV_2D", [x, w, b], [Tensor("int8", (), 1.0)], options), [99])[0].item()
    dense = Case("x", "FULLY_CONNECTED",
                 [Tensor("int8", (1, 1), 1.0), const(np.ones((1, 1), np.int8), 1.0), b],
                 [Tensor("int8", (), 1.0)], dict(activation="TANH"))
    joined = Case("x", "CONCATENATION", [x, x], [Tensor("int8", (), 1.0)],
                  dict(axis=0, activation="TANH"))
    return conv == 99 and rejected(dense) and rejected(joined)
