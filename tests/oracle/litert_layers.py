#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a .tflite with LiteRT's reference kernels and keeps the result of every operator.

This is the outside opinion all numeric tests are compared with: the reference op resolver, one
thread, no delegate, every intermediate tensor preserved. Variable tensors are reset before each
sample, so samples are independent of each other.
"""

import argparse
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import records  # noqa: E402
from ai_edge_litert import interpreter as litert  # noqa: E402


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


def layer_records(model, samples, with_outputs=False):
    """Records (sample, op, result, bytes) of every operator result for every sample."""
    layers = model if isinstance(model, Layers) else Layers(model)
    found = []
    for s, arrays in enumerate(samples):
        for op, results in enumerate(layers.run(arrays)):
            for r, value in enumerate(results):
                if value is not None:
                    found.append((s, op, r, np.ascontiguousarray(value).tobytes()))
        if with_outputs:
            for r, value in enumerate(layers.model_outputs()):
                found.append((s, records.OP_MODEL_OUTPUT, r, np.ascontiguousarray(value).tobytes()))
    return found


def samples_from_file(path, layers):
    """Samples from an inputs file, or from the raw bytes of one or more samples, or from .npy."""
    details = layers.inputs
    sizes = [int(np.prod(d["shape"])) * np.dtype(d["dtype"]).itemsize for d in details]
    if path.suffix == ".npy":
        array = np.load(path)
        return [[a] for a in array.reshape(-1, *details[0]["shape"])]
    data = path.read_bytes()
    if data[:4] == records.MAGIC_INPUTS.to_bytes(4, "little"):
        raw = records.unpack_inputs(data, sizes)
    else:
        if len(data) == 0 or len(data) % sum(sizes):
            raise ValueError(
                f"{path}: {len(data)} bytes is not a multiple of a sample's {sum(sizes)}")
        header = records.pack_inputs([])[:4] + (len(data) // sum(sizes)).to_bytes(4, "little")
        raw = records.unpack_inputs(header + data, sizes)
    return [
        [np.frombuffer(b, d["dtype"]).reshape(d["shape"]) for b, d in zip(s, details)] for s in raw
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path, help="results file to write")
    parser.add_argument(
        "--inputs", type=pathlib.Path, help="an inputs file, raw sample bytes, or .npy (one input)"
    )
    parser.add_argument("--seed", type=int, default=1, help="for random samples")
    parser.add_argument("--samples", type=int, default=3, help="number of random samples")
    parser.add_argument("--write-inputs", type=pathlib.Path, help="keep the samples used")
    parser.add_argument("--outputs", action="store_true", help="also records of the model outputs")
    args = parser.parse_args()
    try:
        layers = Layers(args.model)
        if args.inputs:
            samples = samples_from_file(args.inputs, layers)
        else:
            rng = np.random.default_rng(args.seed)
            samples = [layers.random_inputs(rng) for _ in range(args.samples)]
        found = layer_records(layers, samples, args.outputs)
    except (Rejected, ValueError, OSError) as error:
        print(f"{args.model}: error: {error}", file=sys.stderr)
        return 1
    args.out.write_bytes(records.pack_results(found))
    if args.write_inputs:
        args.write_inputs.write_bytes(records.pack_inputs(samples))
    counts = f"{len(layers.operators)} operators, {len(samples)} samples, {len(found)} records"
    print(f"{args.model}: {counts}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
