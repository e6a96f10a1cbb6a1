# SPDX-License-Identifier: Apache-2.0
"""Facts about float32 operators: order of operations and special values. See experiment.py."""

import models_activation
import models_reductions
import models_window
import numpy as np
from case import Case, Tensor, call_of, const
from experiment import F, fact, follows, run

# Float kernels: order of operations.

def _fma(a, b, c):
    return (a.astype(np.float64) * b.astype(np.float64) + c.astype(np.float64)).astype(np.float32)


@fact("FULLY_CONNECTED float32: one running sum from 0 in index order, products rounded by "
      "themselves (no fused multiply-add), bias added last")
def _():
    rng = np.random.default_rng(8)
    w, b = rng.standard_normal((50, 65)).astype(F), rng.standard_normal(50).astype(F)
    case = Case("x", "FULLY_CONNECTED", [Tensor("float32", (4, 65)), const(w), const(b)],
                [Tensor("float32")])

    def variant(start, end, multiply_add):
        def model(call):
            x = call.arrays[0]
            acc = np.zeros((4, 50), F) + start
            for d in range(65):
                acc = multiply_add(x[:, d : d + 1], w[:, d], acc)
            return [(acc + end).astype(F)]
        return model
    plain = lambda a, c, acc: acc + a * c
    pairwise = lambda call: [(call.arrays[0] @ w.T + b).astype(F)]
    return follows(case, [rng.standard_normal((4, 65))], variant(F(0), b, plain),
                   variant(b, F(0), plain), variant(F(0), b, _fma), pairwise)


@fact("CONV_2D and DEPTHWISE_CONV_2D float32: one running sum, rows then columns then channels, "
      "taps outside skipped, no fused multiply-add, bias last")
def _():
    rng = np.random.default_rng(9)
    options = dict(padding="SAME", stride_h=1, stride_w=1)
    x = rng.standard_normal((1, 7, 6, 5))
    weights = [const(rng.standard_normal((4, 3, 3, 5)).astype(F)),
               const(rng.standard_normal((1, 3, 3, 10)).astype(F))]
    biases = [const(rng.standard_normal(n).astype(F)) for n in (4, 10)]
    conv = Case("x", "CONV_2D", [Tensor("float32", x.shape), weights[0], biases[0]],
                [Tensor("float32")], options)
    depthwise = Case("x", "DEPTHWISE_CONV_2D", [Tensor("float32", x.shape), weights[1], biases[1]],
                     [Tensor("float32")], dict(options, depth_multiplier=2))

    def columns_first(call):
        w = np.swapaxes(call.arrays[1], 1, 2)
        turned = call_of(Case("x", "CONV_2D", [call.inputs[0], const(w), call.inputs[2]],
                              call.outputs, options), [np.swapaxes(call.arrays[0], 1, 2)],
                         [call.outputs[0].shape])
        return [np.swapaxes(models_window.conv_2d(turned)[0], 1, 2)]

    return follows(conv, [x], models_window.conv_2d, columns_first) and follows(
        depthwise, [x], models_window.depthwise_conv_2d)


@fact("AVERAGE_POOL_2D and MEAN float32: one running sum in memory order, then one division by the "
      "count (not a multiplication by its inverse)")
def _():
    rng = np.random.default_rng(10)
    pool = Case("x", "AVERAGE_POOL_2D", [Tensor("float32", (1, 9, 9, 3))], [Tensor("float32")],
                dict(padding="SAME", stride_h=1, stride_w=1, filter_h=3, filter_w=3))
    mean = Case("x", "MEAN", [Tensor("float32", (40, 7, 3)), const(np.array([1], np.int32))],
                [Tensor("float32")])

    def inverse(call):
        total = np.zeros((40, 3), F)
        for i in range(7):
            total = total + call.arrays[0][:, i]
        return [total * (F(1) / F(7))]

    return follows(pool, [rng.standard_normal(
        (1, 9, 9, 3))], models_window.average_pool_2d) and follows(
            mean, [rng.standard_normal((40, 7, 3))], models_reductions.mean, inverse)


@fact(
    "SOFTMAX float32: expf((x - max) * beta), one running sum in index order, then a division each"
)
def _():
    rng = np.random.default_rng(11)
    case = Case("x", "SOFTMAX", [Tensor("float32", (50, 33))], [Tensor("float32")], dict(beta=0.7))

    def inverse(call):
        x = call.arrays[0]
        e = models_activation.expf((x - x.max(axis=1, keepdims=True)) * F(0.7))
        total = np.zeros(50, F)
        for c in range(33):
            total = total + e[:, c]
        return [e * (F(1) / total[:, None])]

    return follows(case, [rng.standard_normal((50, 33)) * 3], models_activation.softmax, inverse)


@fact("Activations on float32: -0.0 and NaN pass RELU, RELU6 and RELU_N1_TO_1 unchanged")
def _():
    x = F([-0.0, np.nan])
    for kind in ("RELU", "RELU6", "RELU_N1_TO_1"):
        y = run(Case("x", kind, [Tensor("float32", (2,))], [Tensor("float32")]), x)[0]
        if not (np.signbit(y[0]) and y[0] == 0 and np.isnan(y[1])):
            return False
    return True


@fact("Fused activations on float32: without one, infinities become the largest finite float")
def _():
    largest = np.finfo(np.float32).max
    add = Case("x", "ADD", [Tensor("float32", (3,)), Tensor("float32", (3,))], [Tensor("float32")])
    y = run(add, [np.inf, -np.inf, -0.0], [1, 1, -0.0])[0]
    ok = y[0] == largest and y[1] == -largest and np.signbit(y[2])
    x, w, b = Tensor("float32", (1, 1, 1, 1)), const(np.ones((1, 1, 1, 1),
                                                             F)), const(np.zeros(1, F))
    window = dict(padding="SAME", stride_h=1, stride_w=1)
    pool = dict(window, filter_h=1, filter_w=1)
    for kind, inputs, options in (
            ("CONV_2D", [x, w, b], window),
            ("DEPTHWISE_CONV_2D", [x, w, b], dict(window, depth_multiplier=1)),
            ("FULLY_CONNECTED", [x, const(np.ones((1, 1), F)), b], {}), ("SUB", [x, b], {}),
            ("MUL", [x, const(np.ones(1, F))], {}), ("AVERAGE_POOL_2D", [x], pool),
            ("MAX_POOL_2D", [x], pool)):
        case = Case("x", kind, inputs, [Tensor("float32")], options)
        ok &= run(case, [np.inf])[0].item() == largest and run(case,
                                                               [-np.inf])[0].item() == -largest
    return ok


@fact("LOGISTIC float32: 1 above 16.619047, expf(x) below -9, else 1 / (1 + expf(-x))")
def _():
    def plain(call):
        return [F(1) / (F(1) + models_activation.expf(-call.arrays[0]))]
    case = Case("x", "LOGISTIC", [Tensor("float32", (4001,))], [Tensor("float32")])
    return follows(case, [np.linspace(-40, 40, 4001)], models_activation.logistic, plain)
