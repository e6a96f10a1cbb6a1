#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks that onnxruntime's tools quantise, in several forms each: the C beside onnxruntime, layer by layer.

Usage: quantised.py --work DIR [--target host|cortex_m4] [--networks NAME,...] [--forms NAME,...] [--inputs N] [--list]
                    [--hashes | --record]

Each network is made here with the onnx package, calibrated on random inputs and quantised by quantize_static: int8 and
uint8 activations and weights, per tensor and per channel, QuantizeLinear and DequantizeLinear around float operators or
quantised operators; also weights as floats that a QuantizeLinear reads, weights that are transposed after they were
dequantised, and float biases, as PyTorch's quantisers write them. Every quantised tensor becomes an output of the C. onnxruntime's are those of the model that its
default session makes of it, run with its tensors exposed. Every element must be equal; of networks with layers that both
compute in float, one of a thousand elements of a tensor may be one step away. onnxruntime is exact where the processor
has products of 8 bits (VNNI, or that of ARM64); on others, or with --hashes, the C is compared with the hashes of
quantised_hashes.json, for 1 or 30 inputs. Where it is exact its own results are compared with the hashes, too, of networks
without layers in float. --record writes them. Without the packages it is skipped; with CI=true it fails.
"""
import argparse
import os
import pathlib
import sys
import warnings

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
import common  # noqa: E402
import networks  # noqa: E402
import node_tests  # noqa: E402
import onnx_hashes  # noqa: E402
import onnx_layers  # noqa: E402

# How quantize_static is asked: activations, weights, per channel, QOperator.
FORMS = {
    "s8s8": ("QInt8", "QInt8", False, False),
    "s8s8_channels": ("QInt8", "QInt8", True, False),
    "u8s8_channels": ("QUInt8", "QInt8", True, False),
    "u8u8": ("QUInt8", "QUInt8", False, False),
    "operators": ("QUInt8", "QInt8", True, True),
    "s8s8_float_weights": ("QInt8", "QInt8", True, False),
    "s8s8_float_bias": ("QInt8", "QInt8", True, False),
    "u8u8_float_bias": ("QUInt8", "QUInt8", False, False),
    "s8s8_turned": ("QInt8", "QInt8", False, False),
    "u8s8_turned_channels": ("QUInt8", "QInt8", True, False),
}
# What quantize_static is asked besides, and what becomes of its model: as others write theirs.
OPTIONS = {"s8s8_float_weights": {"AddQDQPairToWeight": True}}


def keyword(seed=11, channels=24):
    m = networks.Maker(seed)
    x = m.op("Conv", "x", m.weights(channels, 1, 10, 4), m.weights(channels), kernel_shape=[10, 4], strides=[2, 2],
             pads=[4, 1, 5, 1])
    x = m.op("Relu", x)
    for _ in range(2):
        x = m.conv(x, (channels, channels), 3, group=channels)
        x = m.conv(x, (channels, channels), 1)
    x = m.op("AveragePool", x, kernel_shape=[25, 5], strides=[25, 5])
    m.op("Softmax", m.linear(m.op("Flatten", x), channels, 12), axis=-1)
    return m.model([1, 1, 49, 10], "y", [1, 12])


def residual():
    m = networks.Maker(12)
    x = m.conv("x", (3, 16), 3)
    for before, after, stride in ((16, 16, 1), (16, 32, 2)):
        y = m.conv(x, (before, after), 3, stride=stride)
        y = m.conv(y, (after, after), 3, relu=False)
        side = x if stride == 1 else m.conv(x, (before, after), 1, stride=2, relu=False)
        x = m.op("Relu", m.op("Add", y, side))
    x = m.op("Flatten", m.op("GlobalAveragePool", x))
    m.op("Softmax", m.linear(x, 32, 10), axis=-1)
    return m.model([1, 3, 16, 16], "y", [1, 10])


def autoencoder():
    m = networks.Maker(13)
    x = "x"
    for before, after in ((160, 64), (64, 8), (8, 64)):
        x = m.op("Relu", m.linear(x, before, after))
    m.linear(x, 64, 160)
    return m.model([1, 160], "y", [1, 160])


def block():
    """As MobileNet's: bounded at 6, gated by a product, two branches joined."""
    m = networks.Maker(14)
    six = m.const(np.float32(0)), m.const(np.float32(6))
    x = m.op("Clip", m.conv("x", (4, 24), 1, relu=False), *six)
    x = m.op("Clip", m.conv(x, (24, 24), 3, group=24, relu=False), *six)
    gate = m.op("Sigmoid", m.conv(m.op("GlobalAveragePool", x), (24, 24), 1, relu=False))
    x = m.conv(m.op("Mul", x, gate), (24, 8), 1, relu=False)
    y = m.op("HardSwish", m.conv("x", (4, 8), 3, relu=False))
    x = m.op("MaxPool", m.op("Concat", x, y, axis=1), kernel_shape=[2, 2], strides=[2, 2])
    m.op("Transpose", m.op("LeakyRelu", x, alpha=0.1), perm=[0, 2, 3, 1])
    return m.model([1, 4, 12, 12], "y", [1, 6, 6, 16])


def transformer(seed=15, length=12, width=24):
    """One head of attention and the layers behind it, with what quantize_static leaves in float between."""
    m = networks.Maker(seed)

    def product(x, before=width, after=width):
        return m.op("Add", m.op("MatMul", x, m.weights(before, after)), m.weights(after))

    q, k, v = product("x"), product("x"), product("x")
    scores = m.op("Mul", m.op("MatMul", q, m.op("Transpose", k, perm=[0, 2, 1])), m.const(np.float32(0.2)))
    x = m.op("Add", "x", product(m.op("MatMul", m.op("Softmax", scores, axis=-1), v)))
    x = m.op("LayerNormalization", x, m.const(np.ones(width, np.float32)), m.weights(width), axis=-1)
    y = product(m.op("Relu", product(x, width, 48)), 48, width)
    m.op("Add", x, y)
    return m.model([1, length, width], "y", [1, length, width])


# Of these some layers are computed in float by both.
IN_FLOAT = {"block", "transformer"}
NETWORKS = {"keyword": keyword, "residual": residual, "autoencoder": autoencoder, "block": block, "transformer": transformer}


def quantise(model, form, path, reduce_range=False):
    """With a reduced range, weights have 7 bits: onnxruntime's sums saturate on no processor."""
    import onnx
    from onnxruntime import quantization as q
    shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    random = np.random.default_rng(3)
    samples = iter([{"x": random.standard_normal(shape).astype(np.float32)} for _ in range(4)])

    class Samples(q.CalibrationDataReader):
        def get_next(self):
            return next(samples, None)

    activations, weights, channels, operators = FORMS[form]
    plain = path.with_suffix(".float.onnx")
    onnx.save(model, plain)
    prepared = path.with_suffix(".prepared.onnx")
    q.shape_inference.quant_pre_process(str(plain), str(prepared), skip_symbolic_shape=True)
    with onnx_hashes.rounded_ranges():
        q.quantize_static(str(prepared), str(path), Samples(), per_channel=channels,
                          quant_format=q.QuantFormat.QOperator if operators else q.QuantFormat.QDQ,
                          activation_type=q.QuantType[activations], weight_type=q.QuantType[weights],
                          reduce_range=reduce_range, extra_options=OPTIONS.get(form, {}))
    rewrite = REWRITES.get(form)
    if rewrite:
        model = onnx.load(path)
        rewrite(model)
        onnx.save(model, path)


def with_float_biases(model):
    """Biases as the floats that their integers stand for."""
    from onnx import numpy_helper
    constants = {t.name: t for t in model.graph.initializer}
    for node in list(model.graph.node):
        if node.op_type != "DequantizeLinear" or constants.get(node.input[0]) is None:
            continue
        values = numpy_helper.to_array(constants[node.input[0]])
        if values.dtype == np.int32:
            real = values.astype(np.float32) * numpy_helper.to_array(constants[node.input[1]])
            model.graph.initializer.append(numpy_helper.from_array(real.astype(np.float32), node.output[0]))
            model.graph.node.remove(node)


def with_turned_weights(model):
    """Weights stored with their dimensions backwards, and transposed after they were dequantised."""
    from onnx import helper, numpy_helper
    constants = {t.name: t for t in model.graph.initializer}
    for at in range(len(model.graph.node) - 1, -1, -1):
        node = model.graph.node[at]
        stored = constants.get(node.input[0]) if node.op_type == "DequantizeLinear" else None
        if stored is None or len(stored.dims) < 2:
            continue
        rank, whole = len(stored.dims), node.output[0]
        stored.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(stored).transpose().copy(), stored.name))
        for attribute in node.attribute:
            if attribute.name == "axis":
                attribute.i = rank - 1 - attribute.i % rank
        node.output[0] = f"{whole}_turned"
        model.graph.node.insert(at + 1, helper.make_node("Transpose", [node.output[0]], [whole], perm=range(rank - 1, -1, -1)))


REWRITES = {"s8s8_float_bias": with_float_biases, "u8u8_float_bias": with_float_biases, "s8s8_turned": with_turned_weights,
            "u8s8_turned_channels": with_turned_weights}


def case_of(name, form, work, inputs, by_hashes=False):
    import onnx
    path = work / f"{name}_{form}.onnx"
    quantise(NETWORKS[name](), form, path)
    reference = onnx_layers.Reference(path, work / f"{name}_{form}")
    seen = reference.exposed()
    onnx.save(seen, path.with_suffix(".seen.onnx"))
    shape = [d.dim_value for d in seen.graph.input[0].type.tensor_type.shape.dim]
    random = np.random.default_rng(7)
    xs = [random.standard_normal(shape).astype(np.float32) for _ in range(inputs)]
    turns = [reference.run({"x": x}) for x in (xs[:1] if by_hashes else xs)]
    case = node_tests.Case(f"{name} {form}", path.with_suffix(".seen.onnx"), "quantised", [("x", xs[0])], turns[0],
                           later=xs[1:])
    case.names, case.turns, case.exact = [o.name for o in seen.graph.output], turns, name not in IN_FLOAT
    case.hashes = onnx_hashes.entry(case, path)
    return case


def judge_by_hashes(case, known, found):
    """The same without onnxruntime's results, of which only the shapes are taken."""
    if known is None or known["model"] != case.hashes["model"]:
        case.verdict, case.why, case.text = "wrong", "the hashes are of another model", ""
        return
    bad = onnx_hashes.problems(case, known, found)
    elements = sum(w.size for w in case.turns[0] if w.dtype.kind in "iu") * (len(found) // len(case.names))
    case.counts = [elements, len(bad)]
    case.text = "".join(f"  {line}\n" for line in bad)
    case.verdict, case.why = ("wrong", "hashes differ") if bad else ("passed", "")


def differs_from_hashes(case, known):
    """onnxruntime's own results; of layers in float processors have their own last bits."""
    if known is None or known["model"] != case.hashes["model"]:
        return True
    which = 0 if len(case.turns) == 1 else 1
    return case.exact and any(known["tensors"][n][which] != pair[1] for n, pair in case.hashes["tensors"].items())


def judge(case, found):
    """Counts; fills in the verdict."""
    layers = onnx_layers.differences(case.names, case.turns, found)
    case.counts = [sum(d.elements for d in layers), sum(d.unequal for d in layers)]
    bad = [d for d in layers if not d.is_good(case.exact)]
    case.text = "".join(f"  {d.name}: {d.text()}\n" for d in layers if d.unequal)
    case.verdict, case.why = ("wrong", "elements differ") if bad else ("passed", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     allow_abbrev=False)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--target", choices=("host", "cortex_m4"), default="host")
    parser.add_argument("--forms", default=",".join(FORMS))
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--inputs", type=int, default=30)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--hashes", action="store_true")
    parser.add_argument("--record", action="store_true")
    arguments = parser.parse_args()
    common.need_modules("onnx", "onnxruntime")
    import logging
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    arguments.frozen, arguments.compiler, arguments.jobs = False, "gcc", 2
    models = arguments.work.resolve() / "models"
    models.mkdir(parents=True, exist_ok=True)
    for given, known in ((arguments.networks, NETWORKS), (arguments.forms, FORMS)):
        for word in given.split(","):
            if word not in known:
                raise common.Failure(f"there is no '{word}': {', '.join(known)}")
    by_hashes = arguments.hashes or not onnx_layers.has_exact_products()
    if by_hashes and (arguments.record or arguments.inputs not in (1, onnx_hashes.ALL)):
        raise common.Failure(f"there are hashes of 1 and {onnx_hashes.ALL} inputs, and exact products make them")
    cases = [case_of(n, f, models, arguments.inputs, by_hashes)
             for n in arguments.networks.split(",") for f in arguments.forms.split(",")]
    if arguments.record:
        onnx_hashes.write({c.name: c.hashes for c in cases})
    known = onnx_hashes.read()
    arguments.work = arguments.work.resolve() / "c"
    compare = (lambda case, found: judge_by_hashes(case, known.get(case.name), found)) if by_hashes else judge
    node_tests.run(cases, arguments, judged=compare)
    if not by_hashes and arguments.inputs in (1, onnx_hashes.ALL):
        for case in cases:
            if case.verdict == "passed" and differs_from_hashes(case, known.get(case.name)):
                case.verdict, case.why = "wrong", "onnxruntime's results are not as the hashes say: --record"
    elements = unequal = failed = 0
    for case in cases:
        counted = case.counts if isinstance(case.counts, list) else [0, 0]  # nothing is counted of what was refused
        elements += counted[0]
        unequal += counted[1]
        failed += case.verdict != "passed"
        if arguments.list or case.verdict != "passed":
            print(f"{case.name}: {case.verdict} {case.why}, {counted[1]} of {counted[0]} elements differ\n{case.text}", end="")
    print(f"{len(cases) - failed} passed, {failed} failed, {elements} elements, {unequal} of them another"
          + (" (tensors, by their hashes)" if by_hashes else ""))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    common.main_of(main)
