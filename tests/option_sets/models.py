# SPDX-License-Identifier: Apache-2.0
"""Models of the option lane, drawn by a seed, and what LiteRT or onnxruntime computes with them.

Every kind of model is here because some options need it: images for --stream and --input rows, frames for --stream time,
quantised inputs and outputs for --strip-float-io, a tensor that becomes its own operand for --state.
"""

import dataclasses
import pathlib
import random
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent / "random_models"), str(HERE.parent / "oracle")]
from generate import RULES, Growth, fully_connected, grow, random_model, weights_and_bias  # noqa: E402
from model import Model, Op, Tensor, input_types, name_of  # noqa: E402

# exp and tanh of one C library differ from another's (docs/numerics.md). A result of these may be an output, with a
# tolerance; no other operator reads it.
INEXACT = {"SOFTMAX", "LOGISTIC", "TANH"}
IMAGE_RULES = ("CONV_2D", "DEPTHWISE_CONV_2D", "AVERAGE_POOL_2D", "MAX_POOL_2D", "RELU", "RELU6", "LEAKY_RELU", "ADD",
               "MUL", "PAD", "CONCATENATION", "MEAN")
OWN = ("digits/digits_int8", "gadget/gadget_int8", "keras/gru_steps_int8")
KINDS = {"any": 38, "image": 26, "frames": 10, "own": 3, "onnx": 10, "onnx_int8": 8}


@dataclasses.dataclass
class Drawn:
    """A model. `image`: its only input is [1, H, W, C]. `state`: (output, input) that are a pair. `floats`: it
    quantises its inputs and dequantises its outputs. `values`: numbers of tensors whose values are the outputs."""

    kind: str
    file: bytes
    suffix: str
    shapes: list                 # (shape, dtype) of every input
    inputs: list                 # their names
    outputs: list                # names
    model: Model | None = None   # of a .tflite
    image: bool = False
    state: tuple | None = None
    floats: bool = False
    inexact: set = dataclasses.field(default_factory=set)  # numbers of outputs
    tolerance: bool = False      # floats that are summed in another order


def has_hidden_inexact(model):
    """Whether an operator reads a float that exp or tanh made."""
    made = {t for op in model.ops if op.kind in INEXACT for t in op.outputs if model.tensors[t].dtype == "float32"}
    return any(made.intersection(op.inputs) for op in model.ops)


def of_tflite(kind, model, floats=False, state=None):
    inexact = {i for i, t in enumerate(model.outputs) if model.tensors[t].dtype == "float32"
               and any(t in op.outputs and op.kind in INEXACT for op in model.ops)}
    file = model.file()
    shapes = input_types(file)
    return Drawn(kind, file, "tflite", shapes, [name_of(t) for t in model.inputs], [name_of(t) for t in model.outputs],
                 model, len(shapes) == 1 and len(shapes[0][0]) == 4 and shapes[0][0][0] == 1, state, floats, inexact)


def with_state(rng, model):
    """The model with one more input and an output of the same type; their names, or None."""
    made = [t for op in model.ops for t in op.outputs if model.tensors[t].dtype in ("int8", "float32")
            and 0 < np.prod(model.tensors[t].shape) <= 200
            and (model.tensors[t].dtype == "float32") == (model.tensors[t].scale is None)]
    if not made:
        return None
    t = rng.choice(made)
    like = model.tensors[t]
    model.tensors += [dataclasses.replace(like, data=None), dataclasses.replace(like, data=None)]
    before, after = len(model.tensors) - 2, len(model.tensors) - 1
    kind = rng.choice(["MAXIMUM", "MINIMUM"] if like.scale else ["MAXIMUM", "MINIMUM", "ADD"])
    options = {"activation": "NONE"} if kind == "ADD" else {}
    operands = [before, t] if rng.random() < 0.5 else [t, before]
    model.ops.append(Op(kind, operands, [after], options))
    model.inputs.append(before)
    model.outputs.append(after)
    return name_of(after), name_of(before)


def with_float_ports(model):
    """The int8 model behind QUANTIZE and in front of DEQUANTIZE; False if its ports are no int8."""
    ports = [model.tensors[t] for t in model.inputs + model.outputs]
    if any(t.dtype != "int8" or not t.scale or len(t.scale) != 1 for t in ports):
        return False
    for ports, kind in ((model.inputs, "QUANTIZE"), (model.outputs, "DEQUANTIZE")):
        for i, t in enumerate(ports):
            model.tensors.append(Tensor("float32", list(model.tensors[t].shape)))
            f = len(model.tensors) - 1
            if kind == "QUANTIZE":
                model.ops.insert(i, Op(kind, [f], [t]))
            else:
                model.ops.append(Op(kind, [t], [f]))
            ports[i] = f
    return True


def known_shapes(model, litert):
    """Shapes as LiteRT infers them where only it knows. False if it refuses the model."""
    file = model.file()
    shapes = input_types(file)
    answer = litert.ask(file, [[np.zeros(s, d).tobytes() for s, d in shapes]])
    if answer[0] != "ran":
        return False
    for tensor, (shape, _) in answer[1][0].items():
        model.tensors[tensor].shape = [int(d) for d in shape]
    return all(0 not in model.tensors[t].shape for t in model.inputs + model.outputs)


def image_model(seed, rng):
    g = Growth(seed)
    g.rules = {name: RULES[name] for name in IMAGE_RULES}
    dtype = rng.choices(["int8", "float32"], [75, 25])[0]
    g.live.append(g.activation(dtype, [1, rng.randint(4, 14), rng.randint(3, 12), rng.choice([1, 2, 3, 4, 8])]))
    g.model.inputs.append(g.live[-1])
    wanted = rng.randint(2, 7)
    for _ in range(5 * wanted):
        if len(g.model.ops) < wanted:
            grow(g)
    return close(g)


def close(g):
    results = [t for op in g.model.ops for t in op.outputs]
    g.model.outputs = [t for t in results if t not in g.used]
    return g.model if g.model.ops else None


def frames_model(seed, rng):
    """Convolutions and pools without padding over [1, T, W, C], until one row is left, and what may be behind it."""
    g = Growth(seed)
    dtype = rng.choices(["int8", "float32"], [75, 25])[0]
    layers, rows = [], 1
    for _ in range(rng.randint(1, 3)):  # from the last one to the first
        taps, dilation, stride = rng.randint(1, 3), rng.choice([1, 1, 2]), rng.choice([1, 1, 1, 2])
        layers.insert(0, (taps, dilation if stride == 1 else 1, stride))
        rows = (rows - 1) * layers[0][2] + (taps - 1) * layers[0][1] + 1
    x = g.activation(dtype, [1, rows, rng.choice([1, 1, 3, 5]), rng.choice([1, 2, 4, 5])])
    g.model.inputs.append(x)
    for taps, dilation, stride in layers:
        t = g[x]
        out = (t.shape[1] - (taps - 1) * dilation - 1) // stride + 1
        wide = rng.randint(1, t.shape[2])
        common = {"padding": "VALID", "stride_h": stride, "stride_w": 1, "activation": rng.choice(["NONE", "RELU"])}
        if dilation == 1 and rng.random() < 0.2:
            y = g.activation(dtype, [1, out, t.shape[2] - wide + 1, t.shape[3]], like=t)
            kind, operands, more = rng.choice(["MAX_POOL_2D", "AVERAGE_POOL_2D"]), [x], {"filter_h": taps, "filter_w": wide}
        else:
            deep = rng.random() < 0.3
            channels = t.shape[3] if deep else rng.randint(1, 8)
            shape = [1, taps, wide, channels] if deep else [channels, taps, wide, t.shape[3]]
            w, bias, scale = weights_and_bias(g, dataclasses.replace(t), shape, 3 if deep else 0, channels, True)
            y = g.activation(dtype, [1, out, t.shape[2] - wide + 1, channels], scale=scale)
            kind, operands = "DEPTHWISE_CONV_2D" if deep else "CONV_2D", [x, w, bias]
            more = {"dilation_h": dilation, "dilation_w": 1} | ({"depth_multiplier": 1} if deep else {})
        g.op(kind, operands, [y], **common, **more)
        x = y
    if rng.random() < 0.6:
        fully_connected(g, x)
    return close(g)


def tflite_model(kind, seed, rng, litert):
    if kind == "own":
        return own_model(rng.choice(OWN))
    for attempt in range(40):
        at = seed * 40 + attempt
        if kind == "any":
            model, guessed = random_model(at, spoiled=False)
        else:
            model, guessed = (image_model if kind == "image" else frames_model)(at, rng), False
        if model is None or has_hidden_inexact(model):
            continue
        state = None
        if kind != "frames" and rng.random() < 0.25:
            state = with_state(rng, model)
        floats = state is None and rng.random() < 0.2 and with_float_ports(model)
        if known_shapes(model, litert):
            return of_tflite(kind, model, floats, state)
    raise RuntimeError(f"seed {seed}: LiteRT refuses 40 models of kind {kind}")


def own_model(name):
    file = (ROOT / "tests/models" / f"{name}.tflite").read_bytes()
    shapes = input_types(file)
    model = Model.read(file)
    return Drawn("own", file, "tflite", shapes, [], [], model, len(shapes) == 1 and len(shapes[0][0]) == 4)


# --- ONNX ------------------------------------------------------------------------------------------


class Nodes:
    """An ONNX graph under construction; methods give the names of results, whose shapes are in `shapes`."""

    def __init__(self, seed, rng, shape):
        self.values, self.rng = np.random.default_rng(seed), rng
        self.nodes, self.constants, self.shapes = [], [], {"x": list(shape)}

    def const(self, array):
        from onnx import numpy_helper
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def floats(self, *shape):
        fan = max(1, int(np.prod(shape[1:])))
        return self.const((self.values.standard_normal(shape) / np.sqrt(fan)).astype(np.float32))

    def op(self, kind, operands, shape, **attributes):
        from onnx import helper
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, operands, [name], **attributes))
        self.shapes[name] = [int(d) for d in shape]
        return name

    def model(self, outputs, kind=1):
        from onnx import helper
        ports = [[helper.make_tensor_value_info(n, kind, self.shapes[n]) for n in names] for names in (["x"], outputs)]
        graph = helper.make_graph(self.nodes, "g", *ports, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def onnx_windows(rng, shape):
    """(kernel, strides, pads, dilations, result's dimensions) over the dimensions behind the channels, or None."""
    dims = shape[2:]
    kernel = [rng.randint(1, min(3, d)) for d in dims]
    strides = [rng.choice([1, 1, 2]) for _ in dims]
    dilations = [rng.choice([1, 1, 1, 2]) for _ in dims]
    before, after = ([rng.randint(0, k - 1) for k in kernel] for _ in range(2))
    out = [(d + a + b - (k - 1) * e - 1) // s + 1
           for d, a, b, k, e, s in zip(dims, before, after, kernel, dilations, strides)]
    return None if min(out) < 1 else (kernel, strides, before + after, dilations, out)


def float_step(m, x, rng):
    """One more operator behind x; its result's name, or x where it does not fit."""
    shape = m.shapes[x]
    kind = rng.choice(["Conv", "Conv", "Conv", "Relu", "Clip", "MaxPool", "AveragePool", "BatchNormalization", "Add", "Mul",
                       "Transpose", "Reshape", "Concat", "Sub", "LeakyRelu"])
    if kind in ("Conv", "MaxPool", "AveragePool", "BatchNormalization") and len(shape) not in (3, 4):
        return x
    if kind == "Conv":
        window = onnx_windows(rng, shape)
        if not window:
            return x
        kernel, strides, pads, dilations, out = window
        group = shape[1] if rng.random() < 0.25 else 1
        channels = group if group > 1 else rng.randint(1, 8)
        return m.op("Conv", [x, m.floats(channels, shape[1] // group, *kernel), m.floats(channels)], [1, channels, *out],
                    kernel_shape=kernel, strides=strides, pads=pads, dilations=dilations, group=group)
    if kind in ("MaxPool", "AveragePool"):
        window = onnx_windows(rng, shape)
        if not window or any(window[2]):
            return x
        out = [(d - k) // s + 1 for d, k, s in zip(shape[2:], window[0], window[1])]
        return m.op(kind, [x], [*shape[:2], *out], kernel_shape=window[0], strides=window[1])
    if kind == "BatchNormalization":
        c = shape[1]
        positive = np.abs(m.values.standard_normal((2, c))).astype(np.float32) + 0.5
        return m.op(kind, [x, m.const(positive[0]), m.floats(c), m.floats(c), m.const(positive[1])], shape)
    if kind == "Clip":
        return m.op(kind, [x, m.const(np.float32(0)), m.const(np.float32(6))], shape)
    if kind in ("Relu", "LeakyRelu"):
        return m.op(kind, [x], shape)
    if kind in ("Add", "Mul", "Sub"):
        same = [n for n, s in m.shapes.items() if s == shape and n != x]
        other = rng.choice(same) if same and rng.random() < 0.6 else m.floats(*shape[-1:])
        return m.op(kind, [x, other], shape)
    if kind == "Transpose":
        perm = [0, *rng.sample(range(1, len(shape)), len(shape) - 1)]
        return m.op(kind, [x], [shape[p] for p in perm], perm=perm)
    if kind == "Reshape":
        to = [1, -1] if rng.random() < 0.3 else [1, shape[-1], -1]
        full = [1, int(np.prod(shape))] if to == [1, -1] else [1, shape[-1], int(np.prod(shape)) // shape[-1]]
        return m.op(kind, [x, m.const(np.array(to, np.int64))], full)
    joined = [*shape]
    joined[1] *= 2
    return m.op("Concat", [x, x], joined, axis=1) if np.prod(joined) <= 600 else x


def onnx_model(seed, rng):
    shape = rng.choice([[1, rng.choice([1, 2, 3, 4]), rng.randint(4, 10), rng.randint(4, 10)],
                        [1, rng.choice([1, 2, 4, 8]), rng.randint(6, 30)], [1, rng.randint(2, 40)]])
    m, x = Nodes(seed, rng, shape), "x"
    for _ in range(rng.randint(2, 7)):
        x = float_step(m, x, rng)
    if rng.random() < 0.5:
        flat = m.op("Flatten", [x], [1, int(np.prod(m.shapes[x]))])
        units = rng.randint(1, 10)
        x = m.op("Gemm", [flat, m.floats(units, m.shapes[flat][1]), m.floats(units)], [1, units], transB=1)
        if rng.random() < 0.5:
            x = m.op("Softmax", [x], [1, units], axis=-1)
    if x == "x":
        x = m.op("Relu", [x], shape)
    return Drawn("onnx", m.model([x]), "onnx", [(shape, np.dtype(np.float32))], ["x"], [x], image=len(shape) == 4,
                 tolerance=True)


def onnx_int8_model(seed, rng):
    """Operators between DequantizeLinear and QuantizeLinear; weights have 7 bits, which every processor's onnxruntime
    sums exactly."""
    shape = rng.choice([[1, rng.choice([1, 2, 4]), rng.randint(4, 9), rng.randint(4, 9)],
                        [1, rng.choice([2, 4, 8]), rng.randint(6, 20)]])
    m = Nodes(seed, rng, shape)
    kind = rng.choice([np.int8, np.uint8])

    def parameters():
        zero = rng.randint(-20, 20) + (128 if kind is np.uint8 else 0)
        return [m.const(np.float32(2.0 ** rng.uniform(-6, -3))), m.const(kind(zero))]

    def real(name, scales):
        return m.op("DequantizeLinear", [name, *scales], m.shapes[name])

    def stored(name, scales):
        return m.op("QuantizeLinear", [name, *scales], m.shapes[name])

    scales = parameters()
    x = "x"
    for _ in range(rng.randint(1, 4)):
        shape = m.shapes[x]
        what = rng.choice(["Conv", "Conv", "Conv", "MaxPool", "Add"])
        before, a = scales, real(x, scales)
        if what == "Conv":
            window = onnx_windows(rng, shape)
            if not window:
                continue
            kernel, strides, pads, dilations, out = window
            channels = rng.randint(1, 8)
            w = m.const(m.values.integers(-64, 64, (channels, shape[1], *kernel)).astype(np.int8))
            m.shapes[w] = [channels, shape[1], *kernel]
            step = np.float32(2.0 ** rng.uniform(-9, -6))
            weights = m.op("DequantizeLinear", [w, m.const(step), m.const(np.int8(0))], m.shapes[w])
            operands = [a, weights]
            if rng.random() < 0.8:
                first = next(c for c in m.constants if c.name == before[0])
                b = m.const(m.values.integers(-2000, 2000, channels).astype(np.int32))
                m.shapes[b] = [channels]
                bias_scale = np.float32(np.frombuffer(first.raw_data, np.float32)[0] * step)
                operands.append(m.op("DequantizeLinear", [b, m.const(bias_scale), m.const(np.int32(0))], [channels]))
            y = m.op("Conv", operands, [1, channels, *out], kernel_shape=kernel, strides=strides, pads=pads,
                     dilations=dilations)
            if rng.random() < 0.4:
                y = m.op("Relu", [y], m.shapes[y])
            scales = parameters()
        elif what == "MaxPool":
            if min(shape[2:]) < 2:
                continue
            y = m.op("MaxPool", [a], [*shape[:2], *[(d - 2) // 2 + 1 for d in shape[2:]]],
                     kernel_shape=[2] * len(shape[2:]), strides=[2] * len(shape[2:]))
        else:
            y = m.op("Add", [a, real(x, before)], shape)
            scales = parameters()
        x = stored(y, scales)
    if x == "x":
        x = stored(m.op("Relu", [real("x", scales)], shape), scales)
    number = 3 if kind is np.int8 else 2
    return Drawn("onnx_int8", m.model([x], number), "onnx", [(m.shapes["x"], np.dtype(kind))], ["x"], [x],
                 image=len(m.shapes["x"]) == 4)


def draw(seed, litert, kind=None):
    """The model of a seed."""
    rng = random.Random(seed * 2 + 1)
    kind = kind or rng.choices(list(KINDS), list(KINDS.values()))[0]
    if kind == "onnx":
        return onnx_model(seed, rng)
    if kind == "onnx_int8":
        return onnx_int8_model(seed, rng)
    return tflite_model(kind, seed, rng, litert)


# --- What others compute ---------------------------------------------------------------------------


class Refused(Exception):
    """LiteRT or onnxruntime does not run the model."""


def inputs_of(drawn, seed, runs):
    """An array for every input, for each run: ordinary values."""
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(runs):
        arrays = []
        for shape, dtype in drawn.shapes:
            if dtype == np.bool_:
                a = rng.integers(0, 2, size=shape).astype(np.bool_)
            elif dtype.kind in "iu":
                info = np.iinfo(dtype)
                low, high = (info.min, info.max) if dtype.itemsize == 1 else (max(info.min, -1000), 1000)
                a = rng.integers(low, high, size=shape, dtype=dtype, endpoint=True)
            else:
                a = (rng.standard_normal(size=shape) * 2).astype(dtype)
            arrays.append(np.asarray(a))
        out.append(arrays)
    return out


class Oracle:
    """LiteRT's reference kernels, or onnxruntime's default session."""

    def __init__(self, litert):
        self._litert = litert

    def outputs(self, drawn, runs, state=None, stripped=()):
        """The outputs of each run. A state's output becomes its input in the next run. `stripped`: tensors in whose place
        the operand of their DEQUANTIZE is an output."""
        if drawn.suffix == "onnx":
            return self._onnx(drawn, runs)
        model = drawn.model
        wanted = list(model.outputs)
        source = {op.outputs[0]: op.inputs[0] for op in model.ops if op.kind == "DEQUANTIZE"}
        wanted = [source[t] if t in stripped else t for t in wanted]
        if state is None:
            answer = self._ask(drawn, [[a.tobytes() for a in arrays] for arrays in runs])
            return [[_array(model, t, r[t]) for t in wanted] for r in answer]
        after, before = (int(n[1:]) for n in state)
        like = model.tensors[before]
        value = np.full(like.shape, like.zero_point[0] if like.scale else 0, like.dtype)
        out = []
        for arrays in runs:
            arrays = [value if t == before else a for t, a in zip(model.inputs, arrays)]
            result = self._ask(drawn, [[a.tobytes() for a in arrays]])[0]
            value = _array(model, after, result[after])
            out.append([_array(model, t, result[t]) for t in wanted if t != after])
        return out

    def _ask(self, drawn, samples):
        answer = self._litert.ask(drawn.file, samples)
        if answer[0] != "ran":
            raise Refused(answer[1])
        return answer[1]

    @staticmethod
    def _onnx(drawn, runs):
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        try:
            session = onnxruntime.InferenceSession(drawn.file, options, providers=["CPUExecutionProvider"])
            return [session.run(None, dict(zip(drawn.inputs, arrays))) for arrays in runs]
        except Exception as error:  # noqa: BLE001: onnxruntime's own classes derive from nothing narrower
            raise Refused(str(error)) from error


def _array(model, tensor, result):
    shape, data = result
    return np.frombuffer(data, model.tensors[tensor].dtype).reshape(shape)
