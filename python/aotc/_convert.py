# SPDX-License-Identifier: Apache-2.0
"""From what Python has to a file that `aotc` reads. Nothing here is imported before it is needed."""
from __future__ import annotations

import importlib
import os
import pathlib
import re
from typing import Any, Iterator

from . import _errors

_PACKAGES = {"sklearn": "scikit-learn"}


def module(name: str, purpose: str) -> Any:
    """A module that is not required by this package."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = _PACKAGES.get(name.split(".")[0], name.split(".")[0])
        raise _errors.ToolMissingError(f"{purpose} takes the package '{package}': pip install {package}") from error


def to_file(model: Any, folder: pathlib.Path, representative_data: Any, example_inputs: Any) -> tuple[pathlib.Path, str]:
    """(a file for `aotc`, a name for the program or "")."""
    if isinstance(model, (str, os.PathLike)):
        return pathlib.Path(model), ""
    if isinstance(model, (bytes, bytearray, memoryview)):
        return _written(folder, bytes(model), "model"), "model"  # formats are known by their content
    bases = {base.__module__.split(".")[0] + "." + base.__name__ for base in type(model).__mro__}
    if "onnx.ModelProto" in bases:
        return _written(folder, model.SerializeToString(), "model.onnx"), _name(model.graph.name)
    if bases & {"keras.Model", "tf_keras.Model", "tensorflow.Model"}:
        return _written(folder, keras_to_tflite(model, representative_data), "model.tflite"), _name(model.name)
    if "torch.Module" in bases:
        return _from_torch(model, folder, representative_data, example_inputs), _name(type(model).__name__)
    if "sklearn.BaseEstimator" in bases:
        return _from_sklearn(model, folder, example_inputs), _name(type(model).__name__)
    raise TypeError(f"aotc.compile takes a path, bytes, or a model of Keras, PyTorch, ONNX or scikit-learn, not "
                    f"{type(model).__module__}.{type(model).__name__}")


def _written(folder: pathlib.Path, content: bytes, name: str) -> pathlib.Path:
    path = folder / name
    path.write_bytes(content)
    return path


def _name(text: str) -> str:
    """A name of a model as the beginning of C names."""
    name = re.sub(r"[^a-z0-9]+", "_", re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", text or "").lower()).strip("_")
    return name if name[:1].isalpha() else "model"


def _samples(data: Any) -> Iterator[list[Any]]:
    """Samples one by one, each a list with an array of a batch of one for each input."""
    np = module("numpy", "representative data")
    if isinstance(data, (tuple, list)) and data and all(hasattr(d, "shape") for d in data) and len({len(d) for d in data}) == 1 \
            and len(data) < len(data[0]):
        for i in range(len(data[0])):  # an array for each input
            yield [np.asarray(d[i:i + 1], np.float32) for d in data]
        return
    for sample in data:
        if isinstance(sample, (tuple, list)):
            yield [np.asarray(s, np.float32)[None] for s in sample]
        else:
            yield [np.asarray(sample, np.float32)[None]]


def keras_to_tflite(model: Any, representative_data: Any = None) -> bytes:
    """A .tflite file of a Keras model, through TensorFlow's converter: int8 throughout where representative data is
    given, else float32."""
    tf = module("tensorflow", "a Keras model")
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    if representative_data is not None:
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        converter.representative_dataset = lambda: _samples(representative_data)
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
        converter.inference_input_type = converter.inference_output_type = tf.int8
    return bytes(converter.convert())


def _from_torch(model: Any, folder: pathlib.Path, representative_data: Any, example_inputs: Any) -> pathlib.Path:
    """Through LiteRT's converter where it is installed, else through ONNX; int8 where representative data is given."""
    torch = module("torch", "a PyTorch model")
    if example_inputs is None:
        raise TypeError("a PyTorch model needs example_inputs: a tensor, or a tuple of tensors, of the shapes of its inputs")
    if not isinstance(example_inputs, tuple):
        example_inputs = (example_inputs,)
    converter = _litert_torch()
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            if converter is not None:
                path = folder / "model.tflite"
                converter.convert(model, example_inputs).export(str(path))
            else:
                path = folder / "model.onnx"
                torch.onnx.export(model, example_inputs, str(path), dynamo=False)
    finally:
        model.train(was_training)
    if representative_data is None:
        return path
    return (_quantised_tflite if converter is not None else _quantised_onnx)(path, folder, representative_data)


def _litert_torch() -> Any:
    """LiteRT's converter of PyTorch's models, by its present name or the one it had; None where neither is installed."""
    for name in ("litert_torch", "ai_edge_torch"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    return None


def _quantised_tflite(path: pathlib.Path, folder: pathlib.Path, representative_data: Any) -> pathlib.Path:
    quantizer = module("ai_edge_quantizer.quantizer", "int8 quantisation of a PyTorch model")
    recipe = module("ai_edge_quantizer.recipe", "int8 quantisation of a PyTorch model")
    interpreter = module("ai_edge_litert.interpreter", "int8 quantisation of a PyTorch model")
    [(key, signature)] = interpreter.Interpreter(str(path)).get_signature_list().items()
    names = sorted(signature["inputs"], key=lambda name: int(name.rpartition("_")[2]))  # args_0, args_1, ...
    work = quantizer.Quantizer(str(path), recipe.static_wi8_ai8())
    ranges = work.calibrate({key: [dict(zip(names, sample)) for sample in _samples(representative_data)]})
    return _written(folder, bytes(work.quantize(ranges).quantized_model), "quantised.tflite")


def _quantised_onnx(path: pathlib.Path, folder: pathlib.Path, representative_data: Any) -> pathlib.Path:
    quantization = module("onnxruntime.quantization", "int8 quantisation of a PyTorch model")
    onnx = module("onnx", "int8 quantisation of a PyTorch model")
    names = [i.name for i in onnx.load(str(path)).graph.input]

    class Reader(quantization.CalibrationDataReader):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            self.samples = _samples(representative_data)

        def get_next(self) -> Any:
            sample = next(self.samples, None)
            return None if sample is None else dict(zip(names, sample))

    prepared, quantised = folder / "prepared.onnx", folder / "quantised.onnx"
    quantization.quant_pre_process(str(path), str(prepared), skip_symbolic_shape=True)
    quantization.quantize_static(str(prepared), str(quantised), Reader(), quant_format=quantization.QuantFormat.QDQ,
                                 activation_type=quantization.QuantType.QInt8, weight_type=quantization.QuantType.QInt8,
                                 per_channel=True)
    return quantised


def _from_sklearn(model: Any, folder: pathlib.Path, example_inputs: Any) -> pathlib.Path:
    skl2onnx = module("skl2onnx", "a model of scikit-learn")
    np = module("numpy", "a model of scikit-learn")
    if example_inputs is None:
        raise TypeError("a model of scikit-learn needs example_inputs: an array of samples, a row each")
    first = np.asarray(example_inputs)[:1].astype(np.float32)
    options = {id(model): {"zipmap": False}} if hasattr(model, "predict_proba") else None
    return _written(folder, skl2onnx.to_onnx(model, first, options=options).SerializeToString(), "model.onnx")
