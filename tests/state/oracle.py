# SPDX-License-Identifier: Apache-2.0
"""Runs a model many times in LiteRT's reference kernels and keeps its state from run to run.

write() writes into a folder:
  oracle.json       inputs and outputs (name, type, shape, bytes, quantization), pairs, what was run
  inputs.bin        the inputs of every run (records.py); inputs that are a state are left out
  outputs.bin       the outputs of every run (records.py: sample is the run)
  outputs_reset.bin the same inputs, but before run `reset_after` the state is the first one again

Neither LiteRT's reset nor a second allocation resets a resource variable: only a new interpreter
does. A pair returns an output of a run as an input of the next, first as zeros (the zero point of a quantized one).
Ranges of inputs and pairs are in inputs.json beside the model, as names of the model; `pairs` is added to them; `every`:
of so many runs the last one has outputs. Inputs of run r depend on the seed and r alone.
"""
import json
import os
import pathlib
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "oracle")]
import litert_layers  # noqa: E402
import model_file  # noqa: E402
import records  # noqa: E402


class Failure(Exception):
    """The oracle has no answer; the text says why."""


def settings_of(path):
    """What inputs.json beside the model says of it."""
    file = path.parent / "inputs.json"
    return json.loads(file.read_text()).get(path.stem, {}) if file.exists() else {}


class MicroInterpreter:
    """TensorFlow Lite Micro's interpreter, with as much of LiteRT's interface as is used here."""

    ARENA = 1 << 22

    def __init__(self, data):
        from tflite_micro.python.tflite_micro import runtime
        self._graph = model_file.Model(data)
        self._interpreter = runtime.Interpreter.from_bytes(data, arena_size=self.ARENA)
        self._inputs, self._outputs = self._graph.ports()

    def _details(self, tensors, detail):
        found = []
        for at, index in enumerate(tensors):
            given = detail(at)
            scales, zeros = (given["quantization_parameters"][k] for k in ("scales", "zero_points"))
            found.append({"index": index, "dtype": given["dtype"], "shape": given["shape"],
                          "quantization": (scales[0] if len(scales) else 0.0, zeros[0] if len(zeros) else 0)})
        return found

    def get_input_details(self):
        return self._details(self._inputs, self._interpreter.get_input_details)

    def get_output_details(self):
        return self._details(self._outputs, self._interpreter.get_output_details)

    def set_tensor(self, index, array):
        self._interpreter.set_input(np.array(array, order="C"), self._inputs.index(index))

    def get_tensor(self, index):
        return self._interpreter.get_output(self._outputs.index(index))

    def invoke(self):
        self._interpreter.invoke()


# Who computes a model instead of LiteRT's reference kernels: "oracle" of inputs.json.
INTERPRETERS = {"tflite-micro": MicroInterpreter}


class Port:
    """An input or output of the model."""

    def __init__(self, detail, name):
        self.index, self.name = detail["index"], name
        self.dtype, self.shape = np.dtype(detail["dtype"]), [int(d) for d in detail["shape"]]
        scale, self.zero_point = detail["quantization"]
        self.scale = float(scale)
        self.bytes = int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize

    def described(self):
        return {"name": self.name, "dtype": self.dtype.name, "shape": self.shape, "bytes": self.bytes,
                "scale": self.scale, "zero_point": int(self.zero_point)}

    def zeros(self):
        return np.full(self.shape, self.zero_point, self.dtype)


class Runner:
    """A model, of which `start` makes interpreters whose state is the first one."""

    def __init__(self, path, pairs=None):
        self._data = pathlib.Path(path).read_bytes()
        self.file = model_file.Model(self._data)
        settings = settings_of(pathlib.Path(path))
        self._ranges = settings.get("inputs", {})
        self._own = INTERPRETERS[settings["oracle"]] if "oracle" in settings else None
        self.pairs = {**settings.get("state", {}), **(pairs or {})}
        first = self._interpreter()
        names = self.file.port_names()
        self.inputs = [Port(d, names[0][d["index"]]) for d in first.get_input_details()]
        self.outputs = [Port(d, names[1][d["index"]]) for d in first.get_output_details()]
        self._check()
        self.given = [p for p in self.inputs if p.name not in self.pairs.values()]
        self.shown = [p for p in self.outputs if p.name not in self.pairs]

    def _interpreter(self):
        try:
            if self._own:
                return self._own(self._data)
            made = litert_layers.litert.Interpreter(
                model_content=self._data, num_threads=1,
                experimental_op_resolver_type=litert_layers.litert.OpResolverType.BUILTIN_REF)
            made.allocate_tensors()
            return made
        except (RuntimeError, ValueError) as error:
            raise Failure(f"LiteRT: {' '.join(str(error).split())}") from error

    def _check(self):
        inputs, outputs = ({p.name: p for p in ports} for ports in (self.inputs, self.outputs))
        unknown = sorted(set(self._ranges) - set(inputs))
        if unknown:
            raise Failure(f"inputs.json names an input '{unknown[0]}', which the model has not")
        for result, operand in self.pairs.items():
            if result not in outputs or operand not in inputs:
                raise Failure(f"there is no output '{result}' or no input '{operand}'")
            a, b = outputs[result], inputs[operand]
            if (a.dtype, a.shape, a.scale, a.zero_point) != (b.dtype, b.shape, b.scale, b.zero_point):
                raise Failure(f"'{result}' and '{operand}' differ in type, shape or quantization")

    def draw(self, seed, run):
        """The arrays of `given` for a run."""
        rng = np.random.default_rng([seed, run])
        arrays = []
        for port in self.given:
            bounds = self._ranges.get(port.name)
            if bounds is None:
                arrays.append(np.asarray(litert_layers.random_array(port.shape, port.dtype, rng)))
            elif port.dtype.kind == "f":
                arrays.append(np.asarray(rng.uniform(*bounds, port.shape).astype(port.dtype)))
            else:
                arrays.append(np.asarray(rng.integers(*bounds, port.shape, endpoint=True,
                                                      dtype=port.dtype)))
        return arrays

    def start(self):
        return Sequence(self, self._interpreter())

    def play(self, samples, reset_at=None):
        """The shown outputs of every run; before run `reset_at` the state is the first one again."""
        sequence, results = self.start(), []
        for run, arrays in enumerate(samples):
            if run == reset_at:
                sequence = self.start()
            results.append(sequence.run(arrays))
        return results


class Sequence:
    """One interpreter and its state."""

    def __init__(self, runner, interpreter):
        self._runner, self._interpreter = runner, interpreter
        inputs = {p.name: p for p in runner.inputs}
        self._state = {name: inputs[name].zeros() for name in runner.pairs.values()}

    def run(self, arrays):
        runner, interpreter = self._runner, self._interpreter
        values = {**self._state, **{p.name: a for p, a in zip(runner.given, arrays, strict=True)}}
        for port in runner.inputs:
            interpreter.set_tensor(port.index, values[port.name])
        interpreter.invoke()
        results = {p.name: interpreter.get_tensor(p.index).copy() for p in runner.outputs}
        self._state = {operand: results[result] for result, operand in runner.pairs.items()}
        return [results[p.name] for p in runner.shown]


def packed(results):
    return records.pack_results(
        (run, records.OP_MODEL_OUTPUT, at, np.ascontiguousarray(array).tobytes())
        for run, arrays in enumerate(results) for at, array in enumerate(arrays))


def write(folder, path, runs, seed, reset_after, pairs=None):
    """Writes the files that the module's text lists; gives what oracle.json holds."""
    runner = Runner(path, pairs)
    every = settings_of(path).get("every", 1)
    reset_after -= reset_after % every
    samples = [runner.draw(seed, run) for run in range(runs)]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "inputs.bin").write_bytes(records.pack_inputs(samples))
    kept, reset = packed(runner.play(samples)), packed(runner.play(samples, reset_after))
    (folder / "outputs.bin").write_bytes(kept)
    (folder / "outputs_reset.bin").write_bytes(reset)
    about = {
        "model": path.name, "runs": runs, "seed": seed, "reset_after": reset_after,
        "state": runner.pairs, "every": every, "reset_shows": kept != reset,
        "operators": sorted({name for name, _ in runner.file.operators()}),
        "inputs": [p.described() for p in runner.given],
        "outputs": [p.described() for p in runner.shown],
    }
    (folder / "oracle.json").write_text(json.dumps(about, indent=1) + "\n")
    return about


def ask(folder, path, runs, seed, reset_after, pairs=None):
    """As `write`, in a process of its own: LiteRT may die of a model. The process is forked, because a new
    one would read LiteRT and NumPy again, which takes longer than most models."""
    with tempfile.TemporaryFile() as said:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                os.dup2(said.fileno(), 2)
                write(folder, path, runs, seed, reset_after, pairs)
                code = 0
            except BaseException as error:  # whatever it is, this process ends here
                os.write(2, f"{type(error).__name__}: {error}".encode())
            finally:
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        said.seek(0)
        words = said.read().decode(errors="replace").strip().splitlines()
    if code != 0:
        raise Failure(f"{path.name}: exit code {code}: {words[-1] if words else ''}")
    return json.loads((folder / "oracle.json").read_text())
