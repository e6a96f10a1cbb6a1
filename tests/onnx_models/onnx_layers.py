# SPDX-License-Identifier: Apache-2.0
"""onnxruntime's results of the tensors inside of a model, and how results of ours differ from them."""
import pathlib
import platform

import numpy as np

# What both compute in float and quantise then may fall beside a tie.
MOST_STEPS, MOST_PART = 1, 1e-3
RTOL, ATOL = 1e-3, 1e-5  # of floats, the latter beside the largest


def has_exact_products():
    """Without these onnxruntime's sums of products of 8 by 8 bits saturate."""
    if platform.machine() in ("aarch64", "arm64"):
        return True
    try:
        return "vnni" in pathlib.Path("/proc/cpuinfo").read_text()
    except OSError:
        return False


def results(model):
    return [name for node in model.graph.node for name in node.output if name]


def exposed(model, kinds):
    """A copy with these tensors as outputs too; their types as onnx has them, 0: not said."""
    import onnx
    out = onnx.ModelProto()
    out.CopyFrom(model)
    there = {o.name for o in model.graph.output}
    for name, kind in kinds.items():
        if name not in there:
            info = onnx.helper.make_tensor_value_info(name, kind, None) if kind else onnx.ValueInfoProto(name=name)
            out.graph.output.append(info)
    return out


def is_quantised(model):
    return any(n.op_type in ("QuantizeLinear", "DequantizeLinear") or n.op_type.startswith(("QLinear", "QGemm"))
               for n in model.graph.node)


# Where an operator has the zero point of its result; QLinear ones at 4 but for these.
ZERO_POINTS = {"QuantizeLinear": 2, "QLinearConv": 7, "QLinearMatMul": 7, "QGemm": 8, "QLinearAdd": 7, "QLinearMul": 7,
               "QLinearConcat": 1}


def stored_types(model):
    """INT8 or UINT8, of tensors that operators quantise: as their zero point is."""
    import onnx
    constants = {t.name: t.data_type for t in model.graph.initializer}
    out = {}
    for node in model.graph.node:
        at = ZERO_POINTS.get(node.op_type, 4 if node.op_type.startswith("QLinear") else None)
        if at is not None:
            known = at < len(node.input) and node.input[at]
            kind = constants.get(node.input[at], 0) if known else onnx.TensorProto.UINT8
            if kind in (onnx.TensorProto.INT8, onnx.TensorProto.UINT8):
                out[node.output[0]] = kind
    return out


def as_uint8(model):
    """The same with activations of uint8, zero points 128 higher: what onnxruntime makes of int8 ones, names kept."""
    import onnx
    from onnx import numpy_helper
    constants = {t.name for t in model.graph.initializer}  # weights stay int8
    moved = {node.input[2] for node in model.graph.node
             if node.op_type == "QuantizeLinear" and len(node.input) > 2 and node.input[0] not in constants}
    out = onnx.ModelProto()
    out.CopyFrom(model)
    del out.graph.value_info[:]  # types that are no longer true
    read = {i.name for i in model.graph.input}
    if any(n.op_type == "DequantizeLinear" and n.input[0] in read for n in model.graph.node):
        return out  # stored values come from outside
    for constant in out.graph.initializer:
        if constant.name in moved and constant.data_type == onnx.TensorProto.INT8:
            value = numpy_helper.to_array(constant).astype(np.int16) + 128
            constant.CopyFrom(numpy_helper.from_array(value.astype(np.uint8), constant.name))
    return out


def session(model, level, saved=None):
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, level)
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    # Products of dequantised weights in float, not with activations of 8 bits.
    options.add_session_config_entry("session.qdq_matmulnbits_accuracy_level", "1")
    if saved:
        options.optimized_model_filepath = str(saved)
    return ort.InferenceSession(model if isinstance(model, bytes) else str(model), options,
                                providers=["CPUExecutionProvider"])


class Reference:
    """Runs a model in onnxruntime so that its inner tensors are seen. Quantised models as the default session makes
    them: saved, then run as they are with the tensors that are left exposed. `kinds` are these, with their types in
    the model itself."""

    def __init__(self, path, work):
        import onnx
        self.model = onnx.load(path)
        self.quantised = is_quantised(self.model)
        work.mkdir(parents=True, exist_ok=True)
        if self.quantised:
            reference, saved = work / "reference.onnx", work / "optimised.onnx"
            onnx.save(as_uint8(self.model), reference)
            self.whole = session(reference, "ORT_ENABLE_EXTENDED", saved)
            base = onnx.load(saved)
            types = stored_types(self.model)
            left = set(results(base))
            self.kinds = {n: t for n, t in types.items() if n in left}
        else:
            self.whole = session(path, "ORT_ENABLE_EXTENDED")
            base = self.model
            self.kinds = {n: 0 for n in results(base)}
        seen = exposed(base, {n: 0 for n in self.kinds})
        onnx.save(seen, work / "exposed.onnx")
        self.layers = session(work / "exposed.onnx", "ORT_DISABLE_ALL")

    def exposed(self):
        return exposed(self.model, self.kinds)

    def run(self, inputs):
        """What the outputs of exposed() are."""
        whole = dict(zip([o.name for o in self.whole.get_outputs()], self.whole.run(None, inputs)))
        every = dict(zip([o.name for o in self.layers.get_outputs()], self.layers.run(None, inputs)))
        out = []
        for output in self.exposed().graph.output:
            value = every[output.name]
            if output.name in whole and self.quantised and not np.array_equal(value, whole[output.name], equal_nan=True):
                raise AssertionError("exposing tensors changed onnxruntime's result")
            out.append(self.as_stored(output.name, value))
        return out

    def as_stored(self, name, value):
        """What is int8 in the model is uint8 in the reference."""
        kind = {np.dtype(np.int8): 3, np.dtype(np.uint8): 2}.get(value.dtype)
        if kind is None or self.kinds.get(name, 0) in (0, kind):
            return value
        return (value ^ 0x80).view(np.int8 if value.dtype == np.uint8 else np.uint8)


class Difference:
    """Of one tensor, over all inputs."""

    def __init__(self, name, wants, gots):
        self.name = name
        self.elements = sum(w.size for w in wants)
        want = np.concatenate([w.ravel() for w in wants]).astype(np.float64)
        got = np.concatenate([np.frombuffer(g, w.dtype).ravel() for g, w in zip(gots, wants)]).astype(np.float64)
        both = np.isnan(want) & np.isnan(got)
        apart = np.where(both | (got == want), 0, np.abs(got - want))
        self.unequal = int(np.count_nonzero(apart))
        self.most = float(apart.max(initial=0))
        self.real = wants[0].dtype.kind == "f"
        largest = np.abs(want[np.isfinite(want)]).max(initial=0)
        self.near = bool(np.all(apart <= RTOL * np.abs(np.where(np.isfinite(want), want, 0)) + ATOL * largest))

    def is_good(self, exact):
        if self.unequal == 0:
            return True
        if exact:
            return False
        return self.near if self.real else self.most <= MOST_STEPS and self.unequal <= MOST_PART * self.elements

    def text(self):
        return f"{self.unequal} of {self.elements} differ, by up to {self.most:.3g}" if self.unequal else "equal"


def differences(names, turns, found):
    """`turns`: for each input the expected outputs; `found`: bytes of all, one behind the other."""
    count = len(names)
    if [len(f) for f in found] != [want.nbytes for turn in turns for want in turn]:
        raise ValueError("the program wrote other outputs than it should")
    return [Difference(name, [turn[i] for turn in turns], [found[t * count + i] for t in range(len(turns))])
            for i, name in enumerate(names)]
