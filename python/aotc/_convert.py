# SPDX-License-Identifier: Apache-2.0
"""Converts Python objects to a file that `aotc` reads. Frameworks are imported only when they are needed."""
from __future__ import annotations

import dataclasses
import importlib
import os
import pathlib
import re
from typing import Any, Mapping

from . import _errors, _ports

_PACKAGES = {"sklearn": "scikit-learn"}
_KERAS = {"keras.Model", "tf_keras.Model", "tensorflow.Model"}


def module(name: str, purpose: str) -> Any:
    """Imports a module that this package does not require."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = _PACKAGES.get(name.split(".")[0], name.split(".")[0])
        raise _errors.ToolMissingError(f"{purpose} needs the package '{package}': pip install {package}") from error


@dataclasses.dataclass(frozen=True)
class Source:
    """A file for `aotc`."""

    path: pathlib.Path
    name: str = ""  #: for the program
    interface: _ports.Interface | None = None  #: None: inputs and outputs are those of the file


def to_file(model: Any, folder: pathlib.Path, representative_data: Any, example_inputs: Any, shapes: Mapping[str, Any]) -> Source:
    bases = {base.__module__.split(".")[0] + "." + base.__name__ for base in type(model).__mro__}
    if representative_data is not None and not bases & {*_KERAS, "torch.Module"}:
        raise TypeError("representative_data quantises only models of Keras and PyTorch; aotc compiles other models with their "
                        "own types: quantise the model with its own tools first, or omit representative_data")
    if isinstance(model, (str, os.PathLike)):
        return Source(pathlib.Path(model))
    if isinstance(model, (bytes, bytearray, memoryview)):
        return Source(_written(folder, bytes(model), "model"), "model")  # formats are known by their content
    if "onnx.ModelProto" in bases:
        return Source(_written(folder, model.SerializeToString(), "model.onnx"), _name(model.graph.name))
    if bases & _KERAS:
        from . import _keras
        tf, np = module("tensorflow", "a Keras model"), module("numpy", "a Keras model")
        content, interface = _keras.to_tflite(tf, np, model, representative_data, example_inputs, shapes)
        return Source(_written(folder, content, "model.tflite"), _name(model.name), interface)
    if "torch.Module" in bases:
        from . import _torch
        path, interface = _torch.to_file(model, folder, representative_data, example_inputs)
        return Source(path, _name(type(model).__name__), interface)
    if "sklearn.BaseEstimator" in bases:
        return Source(_from_sklearn(model, folder, example_inputs), _name(type(model).__name__))
    raise TypeError(f"aotc.compile takes a path, bytes, or a model of Keras, PyTorch, ONNX or scikit-learn, not "
                    f"{type(model).__module__}.{type(model).__name__}")


def _written(folder: pathlib.Path, content: bytes, name: str) -> pathlib.Path:
    path = folder / name
    path.write_bytes(content)
    return path


def _name(text: str) -> str:
    """A model's name as a prefix of C names."""
    name = re.sub(r"[^a-z0-9]+", "_", re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", text or "").lower()).strip("_")
    return name if name[:1].isalpha() else "model"


def _from_sklearn(model: Any, folder: pathlib.Path, example_inputs: Any) -> pathlib.Path:
    skl2onnx, base = module("skl2onnx", "a model of scikit-learn"), module("sklearn.base", "a model of scikit-learn")
    np = module("numpy", "a model of scikit-learn")
    if example_inputs is None:
        raise TypeError("a model of scikit-learn needs example_inputs: an array with one sample per row")
    first = np.asarray(example_inputs)[:1].astype(np.float32)
    classifiers = [part for part in _parts(model) if base.is_classifier(part)]
    made = None
    # Scores as a table, for each classifier that has the option; the steps of a pipeline do not take it from the pipeline.
    for option in ({"zipmap": False}, {}):
        try:
            made = skl2onnx.to_onnx(model, first, options={id(part): option for part in classifiers} or None)
            break
        except NameError:  # what skl2onnx raises for an option that the estimator does not have
            continue
    if made is None:
        made = skl2onnx.to_onnx(model, first)
    return _written(folder, made.SerializeToString(), "model.onnx")


def _parts(model: Any) -> list[Any]:
    """The estimator and the estimators inside it: the steps of a pipeline, the best one of a search."""
    inner = [step for _, step in getattr(model, "steps", [])] + [getattr(model, "best_estimator_", None)]
    return [model, *(part for step in inner if hasattr(step, "get_params") for part in _parts(step))]
