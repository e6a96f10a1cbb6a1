# SPDX-License-Identifier: Apache-2.0
"""Converts a PyTorch module to a .tflite file with LiteRT's converter if it is installed, else to an .onnx file.

The module is exported inside another one that takes and returns only tensors in a tuple, so that names and order
are those of `forward`.
"""
from __future__ import annotations

import importlib
import pathlib
from typing import Any, Mapping

from . import _convert, _ports, _tflite


def to_file(model: Any, folder: pathlib.Path, representative_data: Any, example_inputs: Any) -> tuple[pathlib.Path, _ports.Interface]:
    """(the file, names and order of inputs and outputs). int8 if representative data is given."""
    torch, np = _convert.module("torch", "a PyTorch model"), _convert.module("numpy", "a PyTorch model")
    if example_inputs is None:
        raise TypeError("a PyTorch model needs example_inputs: a tensor, a tuple of tensors, or a dict by the names of forward's "
                        "arguments, with the shapes of its inputs")
    arguments, by_name, names = _ports.arguments_of(model.forward, example_inputs)
    call = (arguments, by_name)
    tensors = _ports.leaves(call, torch.is_tensor)
    if not tensors:
        raise TypeError("example_inputs has no tensor: give tensors, such as torch.zeros(1, 3, 32, 32)")
    parts = [*arguments, *by_name.values()]
    inputs = _ports.unique([n for part, name in zip(parts, names) for n in _ports.names_of(part, torch.is_tensor, name)])
    named = any(_ports.has_dict(part, torch.is_tensor) for part in parts)
    calibration = None
    if representative_data is not None:
        specs = [_ports.Spec(name, (1, *t.shape[1:]), str(t.dtype).removeprefix("torch.")) for name, t in zip(inputs, tensors)]
        calibration = _ports.samples(np, representative_data, specs, named)
    results: list[Any] = []

    class Flat(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *flat: Any) -> Any:
            positional, keywords = _ports.rebuilt(call, torch.is_tensor, iter(flat))
            result = self.model(*positional, **keywords)
            results[:] = [result]
            return tuple(_ports.leaves(result, torch.is_tensor))

    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            flat = Flat().eval()
            flat(*tensors)
            result = results[0]
            keys = _ports.unique(["output_0"] if torch.is_tensor(result) else _ports.names_of(result, torch.is_tensor, "output"))
            outputs = _ports.unique(keys, inputs)  # values of an ONNX graph have one name
            converter = _litert_torch()
            write = _by_onnx if converter is None else _by_litert
            path = write(converter, flat, tuple(tensors), folder, inputs, outputs, calibration)
    finally:
        model.train(was_training)
    return path, _ports.Interface(inputs, outputs, named, isinstance(result, Mapping), keys)


def _litert_torch() -> Any:
    """LiteRT's converter of PyTorch models, by its present or its former name; None if neither is installed."""
    for name in ("litert_torch", "ai_edge_torch"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    return None


# --- LiteRT --------------------------------------------------------------------------------------


def _by_litert(converter: Any, flat: Any, tensors: Any, folder: pathlib.Path, inputs: Any, outputs: Any,
               calibration: Any) -> pathlib.Path:
    path = folder / "model.tflite"
    converter.convert(flat, tensors).export(str(path))
    old_inputs = [f"args_{i}" for i in range(len(inputs))]
    if calibration is not None:
        path = _quantised_tflite(path, folder, calibration, old_inputs)
    old_outputs = [f"output_{i}" for i in range(len(outputs))]
    path.write_bytes(_tflite.rewire(path.read_bytes(), list(zip(old_inputs, inputs)), list(zip(old_outputs, outputs))))
    return path


def _quantised_tflite(path: pathlib.Path, folder: pathlib.Path, calibration: Any, names: Any) -> pathlib.Path:
    quantizer = _convert.module("ai_edge_quantizer.quantizer", "int8 quantisation of a PyTorch model")
    recipe = _convert.module("ai_edge_quantizer.recipe", "int8 quantisation of a PyTorch model")
    interpreter = _convert.module("ai_edge_litert.interpreter", "int8 quantisation of a PyTorch model")
    [(key, _)] = interpreter.Interpreter(str(path)).get_signature_list().items()
    work = quantizer.Quantizer(str(path), recipe.static_wi8_ai8())
    ranges = work.calibrate({key: [dict(zip(names, sample)) for sample in calibration]})
    quantised = folder / "quantised.tflite"
    quantised.write_bytes(bytes(work.quantize(ranges).quantized_model))
    return quantised


# --- ONNX ----------------------------------------------------------------------------------------


def _by_onnx(_: Any, flat: Any, tensors: Any, folder: pathlib.Path, inputs: Any, outputs: Any, calibration: Any) -> pathlib.Path:
    import torch
    path = folder / "model.onnx"
    torch.onnx.export(flat, tensors, str(path), dynamo=False, input_names=list(inputs), output_names=list(outputs))
    return path if calibration is None else _quantised_onnx(path, folder, calibration, inputs)


def _quantised_onnx(path: pathlib.Path, folder: pathlib.Path, calibration: Any, names: Any) -> pathlib.Path:
    quantization = _convert.module("onnxruntime.quantization", "int8 quantisation of a PyTorch model")

    class Reader(quantization.CalibrationDataReader):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            self.samples = iter(calibration)

        def get_next(self) -> Any:
            sample = next(self.samples, None)
            return None if sample is None else dict(zip(names, sample))

    prepared, quantised = folder / "prepared.onnx", folder / "quantised.onnx"
    quantization.quant_pre_process(str(path), str(prepared), skip_symbolic_shape=True)
    quantization.quantize_static(str(prepared), str(quantised), Reader(), quant_format=quantization.QuantFormat.QDQ,
                                 activation_type=quantization.QuantType.QInt8, weight_type=quantization.QuantType.QInt8,
                                 per_channel=True)
    return quantised
