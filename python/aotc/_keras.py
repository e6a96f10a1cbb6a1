# SPDX-License-Identifier: Apache-2.0
"""Converts a Keras model to a .tflite file, with TensorFlow's converter.

The model is traced with a batch of 1 and with generated names of inputs and outputs, because the converter sorts
names, and layers with loops cannot be converted with an open batch. The names in the file are then replaced by
Keras's.
"""
from __future__ import annotations

import contextlib
import inspect
import os
import re
import sys
import tempfile
from typing import Any, Iterator, Mapping, Sequence

from . import _errors, _ports, _tflite


class _Form:
    """The calling form of a model."""

    def __init__(self, arguments: tuple[Any, ...], by_name: Mapping[str, Any], names: Sequence[str], named: bool):
        self.arguments, self.by_name, self.names, self.named = arguments, dict(by_name), _ports.unique(names), named


def to_tflite(tf: Any, np: Any, model: Any, representative_data: Any, example_inputs: Any,
              shapes: Mapping[str, Sequence[int]]) -> tuple[bytes, _ports.Interface]:
    """(the file, names and order of inputs and outputs). int8 throughout if representative data is given."""
    backend = getattr(getattr(sys.modules.get("keras"), "config", None), "backend", lambda: "tensorflow")()
    if type(model).__module__.split(".")[0] != "tf_keras" and backend != "tensorflow":
        raise _errors.ToolMissingError(f"Keras runs on {backend}, but only TensorFlow has a converter: set the environment "
                                       "variable "
                                       "KERAS_BACKEND=tensorflow before keras is imported")
    form = _form_of(tf, model, example_inputs)
    leaves = _ports.leaves((form.arguments, form.by_name), _is_spec)
    declared = [_ports.Spec(name, tuple(leaf.shape), tf.as_dtype(leaf.dtype).name) for name, leaf in zip(form.names, leaves)]
    calibration = None
    if representative_data is not None:
        calibration = _ports.samples(np, representative_data, declared, form.named)
    examples = _ports.leaves(example_inputs, _is_spec) if example_inputs is not None else calibration[0] if calibration else []
    specs = [tf.TensorSpec(_fixed(spec, shapes.get(spec.name), examples[i].shape if len(examples) == len(declared) else ()),
                           spec.dtype, name=f"aotc_input_{i:05}") for i, spec in enumerate(declared)]
    for sample in calibration or []:
        for spec, array in zip(specs, sample):
            if not spec.is_compatible_with(tf.TensorSpec(array.shape, array.dtype)):
                raise ValueError(f"representative_data has samples of the shapes {tuple(spec.shape)} and {array.shape}, but a "
                                 "compiled model has one shape: cut or pad all samples to it")
    results: list[Any] = []

    def serve(*flat: Any) -> dict[str, Any]:
        values = iter(flat)
        call = _ports.rebuilt((form.arguments, form.by_name), _is_spec, values)
        results[:] = [model(*call[0], training=False, **call[1])]
        return {f"aotc_output_{i:05}": leaf for i, leaf in enumerate(_ports.leaves(results[0], tf.is_tensor))}

    with _unrolled(model, all_layers=calibration is not None):
        concrete = tf.function(serve, input_signature=specs, autograph=False).get_concrete_function()
    interface = _ports.Interface(form.names, _output_names(tf, model, results[0]), form.named,
                                 isinstance(results[0], Mapping))
    holder = tf.Module()
    holder.held = list(concrete.graph.variables)
    converter = tf.lite.TFLiteConverter.from_concrete_functions([concrete], holder)
    if calibration:
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        converter.representative_dataset = lambda: (dict(zip((s.name for s in specs), sample)) for sample in calibration)
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
        converter.inference_input_type = converter.inference_output_type = tf.int8
    made = _converted(converter)
    return _tflite.rewire(made, [(s.name, name) for s, name in zip(specs, form.names)],
                          [(f"aotc_output_{i:05}", name) for i, name in enumerate(interface.outputs)]), interface


# --- How the model is called ---------------------------------------------------------------------


def _is_spec(value: Any) -> bool:
    return hasattr(value, "shape") and hasattr(value, "dtype")


def _form_of(tf: Any, model: Any, example_inputs: Any) -> _Form:
    """The structure of the model's inputs, whose leaves have a shape and a type."""
    structure = next((s for s in (getattr(model, name, None) for name in ("_inputs_struct", "_nested_inputs")) if s is not None), None)
    if structure is None and getattr(model, "inputs", None):
        structure = list(model.inputs) if len(model.inputs) > 1 else model.inputs[0]
    if structure is not None:
        return _Form((structure,), {}, _ports.names_of(structure, _is_spec, "input", _name_of_tensor),
                     _ports.has_dict(structure, _is_spec))
    if example_inputs is not None:
        arguments, by_name, names = _ports.arguments_of(model.call, example_inputs)
        arguments, by_name = _specs_of_values(tf, arguments), _specs_of_values(tf, by_name)
    else:
        arguments, by_name, names = *_built(tf, model), [_first_argument(model)]
    call = [*arguments, *by_name.values()]
    flat = [n for part, name in zip(call, names) for n in _ports.names_of(part, _is_spec, name)]
    return _Form(arguments, by_name, flat, any(_ports.has_dict(part, _is_spec) for part in call))


def _name_of_tensor(tensor: Any) -> str:
    return str(getattr(tensor, "name", "") or "").split(":")[0]


def _first_argument(model: Any) -> str:
    return next((name for name in inspect.signature(model.call).parameters if name != "self"), "input")


def _specs_of_values(tf: Any, structure: Any) -> Any:
    """Converts arrays and tensors to the specification of which they are an example, with any batch."""
    def is_array(value: Any) -> bool:
        return hasattr(value, "shape") and hasattr(value, "dtype")
    values = _ports.leaves(structure, is_array)
    specs = [tf.TensorSpec((None, *v.shape[1:]), tf.float32 if tf.as_dtype(v.dtype) == tf.float64 else tf.as_dtype(v.dtype))
             for v in values]
    return _ports.rebuilt(structure, is_array, iter(specs))


def _built(tf: Any, model: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """For a model that was called before: the shapes that Keras remembers."""
    remembered = getattr(model, "_build_shapes_dict", None) or {}
    shapes = next(iter(remembered.values())) if len(remembered) == 1 else getattr(model, "_build_input_shape", None)
    required = [p for p in inspect.signature(model.call).parameters.values()
                if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.name != "self"]
    if shapes is None or len(required) != 1:
        raise TypeError("a subclassed Keras model needs example_inputs: an array with the shape of its input, including the "
                        "batch; a list or dict of arrays, as its call accepts it; or a tuple with one array for each argument of "
                        "its call")

    def is_shape(value: Any) -> bool:
        return isinstance(value, (list, tuple)) and all(d is None or isinstance(d, int) for d in value) or hasattr(value, "as_list")
    specs = [tf.TensorSpec((None, *tuple(shape)[1:]), tf.float32) for shape in _ports.leaves(shapes, is_shape)]
    return (_ports.rebuilt(shapes, is_shape, iter(specs)),), {}


def _fixed(spec: _ports.Spec, given: Sequence[int] | None, example: Sequence[int]) -> list[int]:
    """The shape to compile: the user's by name, else the model's. An open batch is 1; other open dimensions are
    those of an example."""
    if given is not None:
        if len(given) != len(spec.shape):
            raise _errors.OptionError(f"--shape: input {spec.name!r} has {len(spec.shape)} dimensions, but {len(given)} were given")
        return [int(size) for size in given]
    shape = list(spec.shape)
    if shape and shape[0] is None:
        shape[0] = 1
    if len(example) == len(shape):
        shape = [int(have) if want is None else want for want, have in zip(shape, example)]
    if None in shape:
        open_ = ", ".join("N" if size is None else str(size) for size in shape)
        raise _errors.ModelError(f"error: input {spec.name!r} has open dimensions ({open_}), but a compiled model has fixed "
                                 "dimensions "
                                 f"[dynamic-shape]\n  help: give a size for each N: shape={{{spec.name!r}: ({open_})}}")
    return [size for size in shape if size is not None]


def _output_names(tf: Any, model: Any, result: Any) -> tuple[str, ...]:
    flat = _ports.names_of(result, tf.is_tensor, "output")
    of_model = list(getattr(model, "output_names", None) or [])
    if not isinstance(result, Mapping) and len(of_model) == len(flat):
        return _ports.unique(of_model)
    return _ports.unique(["output_0"] if tf.is_tensor(result) else flat)


# --- Conversion ----------------------------------------------------------------------------------


@contextlib.contextmanager
def _unrolled(model: Any, all_layers: bool) -> Iterator[None]:
    """Unrolls recurrent layers into one operator after the other. The converter does not quantise loops, and a loop
    that returns sequences writes to a list, for which it creates slices of computed sizes. It converts an LSTM of
    tf_keras to an operator that keeps its state between runs, unlike the layer."""
    layers = model._flatten_layers() if hasattr(model, "_flatten_layers") else []
    changed = [layer for layer in layers if getattr(layer, "unroll", None) is False and (
        all_layers or getattr(layer, "return_sequences", False)
        or (type(layer).__module__.startswith("tf_keras.") and not getattr(layer, "stateful", False)))]
    fused = [layer for layer in changed if getattr(layer, "_could_use_gpu_kernel", False)]  # tf_keras does not ask `unroll` again
    for layer in changed:
        layer.unroll = True
    for layer in fused:
        layer._could_use_gpu_kernel = False
    try:
        yield
    finally:
        for layer in changed:
            layer.unroll = False
        for layer in fused:
            layer._could_use_gpu_kernel = True


def _converted(converter: Any) -> bytes:
    try:
        with _without_intermediate_form():
            return bytes(converter.convert())
    except (KeyboardInterrupt, MemoryError):
        raise
    except Exception as error:  # whatever the converter raises: its classes are not public
        text = str(error)
    # Outside of the handler, so that the converter's text is not shown as a cause.
    failure = _errors.ModelError(f"error: TensorFlow's converter does not accept this model: {_ports.short(text)} [converter]\n"
                                 f"  help: {_advice(text)}")
    failure.converter_output = text
    raise failure


def _advice(text: str) -> str:
    flex = sorted(set(re.findall(r"\btf\.([A-Z]\w+)|Flex(\w+)", text)))
    names = ", ".join(a or b for a, b in flex if (a or b) not in ("While", "If", "Delegate"))
    if "TensorList" in text or "element_shape" in text or "static" in text:
        return "give each open dimension a size: shape={\"INPUT\": (1, 98, 40)}, or layers.Input with all dimensions"
    if "Flex" in text or "custom op" in text:
        return f"replace the layers that need {names or 'these operators'}, which TensorFlow Lite does not support"
    return "convert the model with tf.lite.TFLiteConverter, whose messages name the layer, and give aotc the .tflite file; " \
           "the full text is in the exception's converter_output"


@contextlib.contextmanager
def _without_intermediate_form() -> Iterator[None]:
    """Filters the converter's intermediate form out of the process's standard error; other output is written at the
    end."""
    try:
        sys.stderr.flush()
        kept = os.dup(2)
    except (OSError, ValueError, AttributeError):  # no standard error
        yield
        return
    with tempfile.TemporaryFile() as aside:
        os.dup2(aside.fileno(), 2)
        try:
            yield
        finally:
            with contextlib.suppress(OSError, ValueError, AttributeError):
                sys.stderr.flush()
            os.dup2(kept, 2)
            aside.seek(0)
            lines = [line for line in aside.read().splitlines(keepends=True) if not _is_intermediate(line)]
            with contextlib.suppress(OSError):
                os.write(2, b"".join(lines))
            os.close(kept)


def _is_intermediate(line: bytes) -> bool:
    return bool(re.match(rb"\s*(loc\(|error: |<unknown>:|.*: (error|note): |\^\s*$|%\d|func\.|module |\"tf)", line))
