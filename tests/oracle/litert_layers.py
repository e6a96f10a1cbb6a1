# SPDX-License-Identifier: Apache-2.0
"""Runs a .tflite with LiteRT's reference kernels and keeps the result of every operator.

This is the outside opinion all numeric tests are compared with: the reference op resolver, one
thread, no delegate, every intermediate tensor preserved. Variable tensors are reset before each
sample, so samples are independent of each other.
"""

import pathlib

import numpy as np
from ai_edge_litert import interpreter as litert


class Rejected(Exception):
    """LiteRT cannot load, prepare or run the model; the text is LiteRT's reason."""


class Layers:
    """One loaded model. `run` gives every operator result of one sample."""

    def __init__(self, model, kernels="reference", sequence=False):
        """`kernels`: "builtin" where the reference resolver lacks an operator. `sequence`: runs follow one
        another, so what the model keeps is kept, and only the model's outputs can be had."""
        self._sequence = sequence
        resolver = {"reference": litert.OpResolverType.BUILTIN_REF,
                    "builtin": litert.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES}[kernels]
        is_bytes = isinstance(model, (bytes, bytearray))
        content = model if is_bytes else pathlib.Path(model).read_bytes()
        try:
            self._interpreter = litert.Interpreter(
                model_content=bytes(content),
                num_threads=1,
                experimental_op_resolver_type=resolver,
                experimental_preserve_all_tensors=not sequence,
            )
            self._fix_unknown_dimensions()
            self._interpreter.allocate_tensors()
        except (RuntimeError, ValueError) as error:
            raise Rejected(_reason(error)) from error
        self.inputs = self._interpreter.get_input_details()
        self.outputs = self._interpreter.get_output_details()
        self.operators = self._interpreter._get_ops_details()
        for op in self.operators:
            if op["op_name"] == "DELEGATE":
                raise RuntimeError(
                    "a delegate took over operators: results are not the reference's")

    def _fix_unknown_dimensions(self):
        """A dimension that the model leaves open (-1, in practice the batch) is read as 1."""
        for detail in self._interpreter.get_input_details():
            signature = detail["shape_signature"]
            if len(signature) and (signature < 0).any():
                shape = [1 if d < 0 else int(d) for d in signature]
                self._interpreter.resize_tensor_input(detail["index"], shape)

    def random_inputs(self, rng):
        """One random sample: full range integers, floats spread over several magnitudes."""
        return [random_array(d["shape"], d["dtype"], rng) for d in self.inputs]

    def run(self, arrays):
        """List over operators, in execution order, of the list of their results (numpy arrays)."""
        if len(arrays) != len(self.inputs):
            raise ValueError(f"{len(arrays)} inputs given, the model has {len(self.inputs)}")
        try:
            if not self._sequence:
                self._interpreter.reset_all_variables()
            for detail, array in zip(self.inputs, arrays):
                array = np.asarray(array, dtype=detail["dtype"]).reshape(detail["shape"])
                self._interpreter.set_tensor(detail["index"], array)
            self._interpreter.invoke()
        except (RuntimeError, ValueError) as error:
            raise Rejected(_reason(error)) from error
        if self._sequence:
            return []
        # An absent optional result has a negative index and no data.
        return [
            [self._tensor(t) if t >= 0 else None for t in op["outputs"]]
            for op in self.operators
        ]

    def _tensor(self, index):
        try:
            return self._interpreter.get_tensor(index)
        except ValueError:  # a result without elements that was made in the run
            details = self._interpreter._get_tensor_details(index, 0)
            if 0 not in details["shape"]:
                raise
            return np.zeros(details["shape"], details["dtype"])

    def model_outputs(self):
        """The model outputs of the latest `run`."""
        return [self._interpreter.get_tensor(d["index"]) for d in self.outputs]


def _reason(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " | ".join(lines) or type(error).__name__


def random_array(shape, dtype, rng):
    dtype = np.dtype(dtype)
    if dtype == np.bool_:
        return rng.integers(0, 2, size=shape).astype(np.bool_)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, size=shape, dtype=dtype, endpoint=True)
    return (rng.standard_normal(size=shape) * rng.choice([0.25, 1.0, 4.0])).astype(dtype)
