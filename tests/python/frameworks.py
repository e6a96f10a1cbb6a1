# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for TensorFlow, Keras, PyTorch and their converters, for tests without them.

A model adds, subtracts and multiplies. Converters do what the real ones do wrong for us: they sort names and reverse the
order of the file. `tests/python/routes.py` tries the same with the real frameworks.
"""
import contextlib
import types

import numpy as np

from tflite_builder import ModelBuilder


class Value:
    """A tensor: an input with shape and type, or what an operator makes of others."""

    def __init__(self, shape=(), name="", op="", operands=(), dtype="float32"):
        self.shape, self.name, self.op, self.operands, self.dtype = tuple(shape), name, op, operands, DType(dtype)

    def _made(self, op, other):
        return Value(self.shape, op=op, operands=(self, other))

    def __add__(self, other):
        return self._made("ADD", other)

    def __sub__(self, other):
        return self._made("SUB", other)

    def __mul__(self, number):
        return self._made("MUL", float(number))


class DType(str):
    @property
    def name(self):
        return str(self)


class Spec:
    def __init__(self, shape, dtype, name=""):
        self.shape, self.dtype, self.name = tuple(shape), DType(np.dtype(str(dtype)).name), name

    def is_compatible_with(self, other):
        return self.shape == other.shape and self.dtype == other.dtype


def is_value(value):
    return isinstance(value, Value)


# --- A .tflite file ------------------------------------------------------------------------------


def tflite_of(inputs, outputs, ranges=None):
    """Of names to values: the file lists sorted names backwards. `ranges`: of int8 inputs, by name."""
    builder, made, floats = ModelBuilder(), {}, {}
    for name, value in inputs.items():
        shape = tuple(1 if d is None else d for d in value.shape)
        if ranges is None:
            made[id(value)] = floats[name] = builder.tensor("serving_" + name, "float32", shape)
            continue
        floats[name] = builder.tensor("serving_" + name, "int8", shape, ranges[name] / 127, 0)
        made[id(value)] = builder.tensor("real_" + name, "float32", shape)
        builder.op("DEQUANTIZE", [floats[name]], [made[id(value)]])

    def tensor_of(value):
        if not is_value(value):
            return builder.const("number", np.float32(value))
        if id(value) not in made:
            operands = [tensor_of(v) for v in value.operands]
            made[id(value)] = builder.tensor(f"t{len(made)}", "float32", inputs[next(iter(inputs))].shape)
            builder.op(value.op, operands, [made[id(value)]])
        return made[id(value)]

    results = {name: tensor_of(value) for name, value in outputs.items()}
    order = sorted(floats, reverse=True), sorted(results, reverse=True)
    return builder.finish([floats[n] for n in order[0]], [results[n] for n in order[1]],
                          ({n: floats[n] for n in sorted(floats)}, {n: results[n] for n in sorted(results)}))


# --- TensorFlow ----------------------------------------------------------------------------------


class ConverterError(Exception):
    pass


class _Concrete:
    def __init__(self, serve, specs):
        self.inputs = {s.name: Value(s.shape, s.name) for s in specs}
        self.outputs = serve(*self.inputs.values())
        self.graph = types.SimpleNamespace(variables=[])


class _Converter:
    representative_dataset = None
    refusal = None

    def __init__(self, concrete):
        self.concrete, self.target_spec = concrete, types.SimpleNamespace()

    @classmethod
    def from_concrete_functions(cls, functions, holder):
        return cls(functions[0])

    def convert(self):
        if self.refusal:
            raise ConverterError(self.refusal)
        ranges = None
        if self.representative_dataset is not None:
            samples = list(self.representative_dataset())
            ranges = {name: max(float(np.abs(s[name]).max()) for s in samples) for name in self.concrete.inputs}
        return tflite_of(self.concrete.inputs, self.concrete.outputs, ranges)


def tensorflow():
    lite = types.SimpleNamespace(TFLiteConverter=_Converter, Optimize=types.SimpleNamespace(DEFAULT=0),
                                 OpsSet=types.SimpleNamespace(TFLITE_BUILTINS_INT8=0))
    module = types.ModuleType("tensorflow")
    module.__dict__.update(lite=lite, TensorSpec=Spec, is_tensor=is_value, int8="int8", float32="float32", float64="float64",
                           as_dtype=lambda d: DType(np.dtype(str(d)).name), Module=types.SimpleNamespace,
                           function=lambda serve, input_signature, autograph: types.SimpleNamespace(
                               get_concrete_function=lambda: _Concrete(serve, input_signature)))
    return module


class Model:
    """Of Keras: `inputs` and `outputs` of a functional one are structures; a subclassed one has `call`."""

    name = "net"

    def __init__(self, inputs=None, function=None, output_names=()):
        self.function, self.output_names = function, list(output_names)
        if inputs is not None:
            self._inputs_struct = inputs

    def __call__(self, *arguments, training=None, **by_name):
        assert training is False
        return self.function(*arguments, **by_name) if self.function else self.call(*arguments, **by_name)


Model.__module__ = "keras.models"


# --- PyTorch -------------------------------------------------------------------------------------


class _Module:
    training = True

    def __call__(self, *arguments, **by_name):
        return self.forward(*arguments, **by_name)

    def eval(self):
        return self.train(False)

    def train(self, mode=True):
        self.training = mode
        return self


_Module.__name__, _Module.__module__ = "Module", "torch.nn"


def _export(flat, tensors, path, dynamo, input_names, output_names):
    """An .onnx file; an input that nothing reads is dropped."""
    from onnx import TensorProto, helper, numpy_helper
    outputs, nodes, constants, made = flat(*tensors), [], [], {id(v): n for v, n in zip(tensors, input_names)}
    made.update((id(v), n) for v, n in zip(outputs, output_names))

    def name_of(value):
        if not is_value(value):
            constants.append(numpy_helper.from_array(np.float32(value), f"c{len(constants)}"))
            return constants[-1].name
        if value.op and not any(made.get(id(value)) in n.output for n in nodes):
            made.setdefault(id(value), f"v{len(made)}")
            nodes.append(helper.make_node(value.op.capitalize(), [name_of(v) for v in value.operands], [made[id(value)]]))
        return made[id(value)]

    for value in outputs:
        name_of(value)
    order = sorted(nodes, key=lambda n: len([v for v in n.input if v.startswith("v")]))
    read = {name for node in nodes for name in node.input}
    info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, list(v.shape)) for n, v in zip(input_names, tensors) if n in read]
    made_info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, list(outputs[0].shape)) for n in output_names]
    model = helper.make_model(helper.make_graph(order, "g", info, made_info, constants),
                              opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    with open(path, "wb") as file:
        file.write(model.SerializeToString())


def torch():
    module = types.ModuleType("torch")
    module.__dict__.update(is_tensor=is_value, nn=types.SimpleNamespace(Module=_Module), no_grad=contextlib.nullcontext,
                           onnx=types.SimpleNamespace(export=_export))
    return module


def litert_torch():
    """LiteRT's converter: args_0, args_1, ... and output_0, output_1, ..., sorted."""
    def convert(flat, tensors):
        results = flat(*tensors)
        file = tflite_of({f"args_{i}": v for i, v in enumerate(tensors)}, {f"output_{i}": v for i, v in enumerate(results)})
        return types.SimpleNamespace(export=lambda path: open(path, "wb").write(file))
    module = types.ModuleType("litert_torch")
    module.convert = convert
    return module
