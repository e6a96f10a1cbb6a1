# SPDX-License-Identifier: Apache-2.0
"""A compiled model."""
from __future__ import annotations

import dataclasses
import hashlib
import html
import io
import math
import os
import pathlib
import shutil
import tempfile
import threading
import zipfile
from typing import Any, Callable, Iterator, Mapping, Sequence

from . import _command, _convert, _errors, _host, _ports, _progress

_NUMPY = {"bool": "bool", "i8": "int8", "u8": "uint8", "i16": "int16", "u16": "uint16", "i32": "int32", "u32": "uint32",
          "i64": "int64", "f32": "float32", "f64": "float64"}


@dataclasses.dataclass(frozen=True)
class Tensor:
    """An input or output of a program."""

    name: str
    shape: tuple[int, ...]  #: with the batch, as the model has it
    dtype: str  #: numpy's name: "int8", "float32"
    scale: float | None = None  #: real = scale * (value - zero_point); None: not quantised
    zero_point: int = 0

    @property
    def elements(self) -> int:
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        bits = self.dtype.lstrip("abcdefghijklmnopqrstuvwxyz")
        return self.elements * (int(bits) // 8 if bits else 1)


class Layers(list[dict[str, Any]]):
    """Calls of the program in their order, one dict each: "op", "op_type", "function", "schedule", "macs",
    "live_bytes" of the arena while it runs, "scratch_bytes", "constants_bytes", "results"."""

    _COLUMNS = ("op", "macs", "live_bytes", "scratch_bytes", "constants_bytes", "schedule")

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with a row for each call."""
        pandas = _convert.module("pandas", "a table of layers as a data frame")
        return pandas.DataFrame(list(self))

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(c.replace('_', ' '))}</th>" for c in self._COLUMNS)
        rows = "".join(f"<tr>{''.join(_cell(row.get(c, '')) for c in self._COLUMNS)}</tr>" for row in self)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


class Report:
    """The result of `Model.report`; notebooks show its page."""

    def __init__(self, data: dict[str, Any], page: str):
        self.data = data  #: everything that the page shows, as `aotc report --json` prints it
        self.html = page  #: one file that loads nothing, as `aotc report --html` writes it

    def write(self, path: str | os.PathLike[str]) -> pathlib.Path:
        """Writes the page."""
        pathlib.Path(path).write_text(self.html, encoding="utf-8")
        return pathlib.Path(path)

    def __repr__(self) -> str:
        return f"<aotc.Report of {self.data['prefix']!r}: a page of {len(self.html.encode()):,} bytes>"

    def _repr_html_(self) -> str:
        # In a frame, so that neither page changes how the other looks.
        return (f'<iframe title="aotc report" srcdoc="{html.escape(self.html)}" sandbox="allow-scripts" '
                'style="width:100%;height:48em;border:0"></iframe>')


class Model:
    """The result of `aotc.compile`: the emitted C with its figures. Sizes are in bytes."""

    def __init__(self, source: pathlib.Path, options: Mapping[str, Any], folder: tempfile.TemporaryDirectory[str],
                 interface: _ports.Interface | None = None):
        self._folder = folder  # lives as long as the model
        self._source = source
        self._interface = interface
        self._options = dict(options)
        self._sha256 = hashlib.sha256(source.read_bytes()).hexdigest() if source.is_file() else ""
        self._code = pathlib.Path(folder.name) / "code"
        self._lock = threading.Lock()
        self._runner: _host.Runner | None = None
        #: All figures, as `aotc compile --json` prints them.
        with _progress.Doing(f"compiling {source.name}"):
            self.summary: dict[str, Any] = _command.run_json("compile", source, "-o", self._code, *_command.flags(options))
        wrong = _ports.check(interface, [p.name for p in self.inputs], [p.name for p in self.outputs]) if interface else ""
        if wrong:
            raise _errors.InternalError(wrong)

    # --- Figures ---------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The prefix of every C name."""
        return str(self.summary["prefix"])

    @property
    def arena(self) -> int:
        """Bytes of RAM for intermediate tensors, and for the inputs and outputs that are stored in the arena."""
        return int(self.summary["arena_bytes"])

    @property
    def state(self) -> int:
        """Bytes that the program stores between runs; 0 for a model without state."""
        return int(self.summary.get("state_bytes", 0))

    @property
    def constants(self) -> int:
        """Bytes of weights and tables."""
        return int(self.summary["constants_bytes"])

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one run; if `per_iteration` is true, a loop counts once."""
        return int(self.summary["macs"])

    @property
    def per_iteration(self) -> bool:
        """True if MACs and cycles count one iteration of a loop whose length is known only at run time."""
        return bool(self.summary.get("per_iteration", False))

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        return tuple(_tensor(port) for port in self.summary["inputs"])

    @property
    def outputs(self) -> tuple[Tensor, ...]:
        return tuple(_tensor(port) for port in self.summary["outputs"])

    @property
    def layers(self) -> Layers:
        return Layers(self.summary["layers"])

    @property
    def files(self) -> dict[str, str]:
        """The emitted files: text by name."""
        return {p.name: p.read_text() for p in self._emitted()}

    def __repr__(self) -> str:
        target = self.summary.get("board") or self.summary.get("cpu") or "any CPU"
        return (f"<aotc.Model {self.name!r} for {target}: arena {self.arena:,} bytes, constants {self.constants:,} bytes, "
                f"{self.macs:,} MACs{' per iteration' if self.per_iteration else ''}>")

    def _repr_html_(self) -> str:
        return f"<p><b>{html.escape(self.name)}</b>: {html.escape(repr(self)[1:-1])}</p>{self.layers._repr_html_()}"

    def report(self) -> Report:
        """Layers, arena over time, constants, other options side by side, and suggestions. Compiles the model with
        each of the other options, which takes some seconds."""
        with tempfile.TemporaryDirectory() as folder, _progress.Doing(f"report of {self.name}"):
            page = pathlib.Path(folder) / "report.html"
            data = _command.run_json("report", self._source, "--html", page, *_command.flags(self._options))
            return Report(data, page.read_text(encoding="utf-8"))

    # --- Files -----------------------------------------------------------------------------------

    def _emitted(self) -> Iterator[pathlib.Path]:
        yield from sorted(p for p in self._code.iterdir() if not p.name.startswith("aotc_"))

    def write(self, directory: str | os.PathLike[str], *, force: bool = False) -> pathlib.Path:
        """Writes the C files. `force` replaces files that were changed since aotc wrote them."""
        _command.run("compile", self._source, "-o", directory, "--quiet", *_command.flags(self._options),
                     *(["--force"] if force else []))
        return pathlib.Path(directory)

    def to_zip(self) -> bytes:
        """The C files in a zip archive; equal files give equal bytes."""
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in self._emitted():
                archive.writestr(zipfile.ZipInfo(f"{self.name}/{path.name}", (1980, 1, 1, 0, 0, 0)), path.read_bytes())
        return out.getvalue()

    def project(self, kind: str, board: str | None = None, directory: str | os.PathLike[str] | None = None,
                **options: Any) -> pathlib.Path:
        """Writes a firmware project: `kind` is one of `aotc templates list`, which says whether it takes a board; `board` is
        one of `aotc boards`, by default the one that the model was compiled for; `directory` is by default NAME_app.
        Options are those of `aotc create`. Raises DoesNotFitError where the board has less memory than the firmware
        needs."""
        given = dict(self._options)
        if board is not None:
            given.pop("cpu", None)  # the board says it
            given["board"] = board
        target = pathlib.Path(f"{self.name}_app" if directory is None else directory)
        _command.run("create", self._source, "--project", kind, "-o", target, "--quiet", *_command.flags({**given, **options}))
        return target

    # --- Running on this computer ----------------------------------------------------------------

    def _loaded(self) -> _host.Runner:
        with self._lock:
            if self._runner is None:
                with _progress.Doing(f"compiling the C of {self.name} for this computer"):
                    self._runner = _host.Library(self._code, self.summary) if _host.compiler() else self._evaluator()
            return self._runner

    def _evaluator(self) -> _host.Evaluator:
        sizes = ([port.bytes for port in ports] for ports in (self.inputs, self.outputs))
        return _host.Evaluator(self._source, self._sha256, _command.flags(self._options), *sizes, self.state > 0)

    def reset(self) -> None:
        """Resets the state of a model to that of a first run."""
        runner = self._loaded()
        with self._lock:
            runner.reset()

    def __call__(self, *inputs: Any, raw: bool = False, **by_name: Any) -> Any:
        """Runs the emitted C on this computer: the results are those of the device, bit for bit.

        One array for each input: in the order of `inputs`, which is that of the framework, or by name, as `m(imu=a, cam=b)`
        or as a dict. An array has the model's shape, or more elements in the first dimension: a batch, run one after the
        other. Real numbers given to a quantised input are quantised, and quantised outputs come back as real numbers
        (float32); with `raw` integers pass as they are. Returns an array; for several outputs a tuple, whose elements can
        also be taken by name; for a model whose outputs are a dict, a dict. A model with state keeps it from call to call;
        see `reset`. Without a C compiler (cc, gcc, clang or $CC) the model is evaluated by aotc itself, which takes longer
        and gives the same bits."""
        results, _ = self._results(inputs, by_name, quantise=not raw, raw=raw)
        if self._interface is not None and self._interface.named_outputs:
            keys = dict(zip(self._interface.outputs, self._interface.output_keys or self._interface.outputs))
            return {keys[port.name]: result for port, result in zip(self.outputs, results)}
        return results[0] if len(results) == 1 else _ports.Results(results, [port.name for port in self.outputs])

    def _results(self, inputs: Sequence[Any], by_name: Mapping[str, Any], *, quantise: bool, raw: bool) -> tuple[tuple[Any, ...], int]:
        """(outputs, samples). quantise: of real numbers for quantised inputs. raw: outputs as the program has them."""
        np = _convert.module("numpy", "running a model")
        ports = self.inputs
        fields = [str(port["field"]) for port in self.summary["inputs"]]
        named_only = self._interface is not None and self._interface.named_inputs
        values = _ports.bound(self.name, [port.name for port in ports], fields, named_only, inputs, by_name)
        arrays, counts = [], []
        for port, value in zip(ports, values):
            array = _quantised(np, port, _array(np, port, value), quantise)
            counts.append(_count(port, array.shape))
            arrays.append(np.ascontiguousarray(array))
        count = counts[0] if counts else 1
        if any(c != count for c in counts):
            raise ValueError(f"{self.name}: the inputs have different numbers of elements in the batch: {counts}")
        results = [np.empty((count, *port.shape), port.dtype) for port in self.outputs]
        runner = self._loaded()
        with self._lock:  # one arena
            runner.run(count, [a.ctypes.data for a in arrays], [r.ctypes.data for r in results])
        batched = any(a.shape != p.shape for a, p in zip(arrays, ports))
        return tuple(_shaped(np, port, result, batched, raw) for port, result in zip(self.outputs, results)), count

    def _of_samples(self, x: Any, *, raw: bool) -> tuple[list[Any], int]:
        """(outputs as rows, samples) for one argument: an array, or a list, tuple or dict of the arrays of several inputs."""
        several = isinstance(x, (list, tuple)) and len(self.inputs) > 1
        results, count = self._results(tuple(x) if several else (x,), {}, quantise=True, raw=raw)
        batches = {port.shape[:1] for port in (*self.inputs, *self.outputs)}
        count *= batches.pop()[0] if len(batches) == 1 and batches != {()} else 1  # compiled for several samples at a time
        return [result.reshape(count, -1) for result in results], count

    def _output(self, output: str | int | None, columns: Sequence[int]) -> int:
        """The selected output; with None the only one that has several values a sample."""
        names = [port.name for port in self.outputs]
        if output is None:
            wide = [i for i, n in enumerate(columns) if n > 1] if len(names) > 1 else [0]
            if len(wide) != 1:
                raise ValueError(f"{self.name} has the outputs {_ports.listed(names)}: name one of them with output=")
            return wide[0]
        if isinstance(output, int) and 0 <= output < len(names):
            return output
        keys = self._interface.output_keys if self._interface is not None else ()
        for known in (names, keys if len(keys) == len(names) else (), [str(port["field"]) for port in self.summary["outputs"]]):
            if list(known).count(output) == 1:  # type: ignore[arg-type]
                return list(known).index(output)  # type: ignore[arg-type]
        raise ValueError(f"{self.name} has no output {output!r}: the outputs are {_ports.listed(names)}")

    def accuracy(self, x: Any, y: Any, *, output: str | int | None = None) -> float:
        """The part of the samples `x` whose largest output is at the index that `y` says: 0.0 to 1.0. `x`: an array, or for
        several inputs a list in their order or a dict by name. `y`: indices, or one-hot rows, one for each sample. `output`:
        which of several outputs has the scores; an output of one whole number a sample is compared as it is. Real numbers
        are quantised for a quantised input."""
        np = _convert.module("numpy", "running a model")
        rows, count = self._of_samples(x, raw=True)
        which = self._output(output, [row.shape[1] for row in rows])
        scores, want = rows[which], _array(np, None, y)
        if want.ndim == 0 or len(want) != count:
            raise ValueError(f"accuracy: x has {count} samples, but y has {want.size if want.ndim < 2 else len(want)}: give one "
                             "label per sample, in the same order")
        want = want.reshape(count, -1)
        if want.shape[1] not in (1, scores.shape[1]):
            raise ValueError(f"accuracy: y has {want.shape[1]} values per sample, but the output has {scores.shape[1]} classes: "
                             "give one index per sample, or one-hot rows with all classes")
        if want.dtype.kind not in "biuf":
            raise TypeError(f"accuracy: y is {want.dtype}, not numbers: give the index of each sample's class")
        if scores.shape[1] == 1:
            if scores.dtype.kind not in "iu" or self.outputs[which].scale is not None:
                raise ValueError("accuracy needs a model with an output value for each class")
            return float((scores == want).mean())
        labels = want[:, 0] if want.shape[1] == 1 else want.argmax(axis=1)
        if (labels != np.floor(labels)).any() or labels.min(initial=0) < 0 or labels.max(initial=0) >= scores.shape[1]:
            raise ValueError(f"accuracy: y has labels from {labels.min()} to {labels.max()}, but the output has "
                             f"{scores.shape[1]} classes: give indices from 0 to {scores.shape[1] - 1}")
        return float((scores.argmax(axis=1) == labels).mean())

    def compare(self, reference: Callable[..., Any], x: Any, *, output: str | int | None = None) -> dict[str, float]:
        """Runs the samples `x` here and through `reference`, a callable such as a Keras model that takes and returns
        real numbers. `x`: an array, a list or dict of the arrays of several inputs, or a tuple of them; `reference` gets a
        tuple's elements as arguments, and all else as it is. Returns "largest_difference", "mean_difference" and, for
        outputs of several classes, "agreement", the part of samples with the same largest output. Of several outputs
        these are over all, and the least agreement; `output` chooses one."""
        np = _convert.module("numpy", "running a model")
        ours, count = self._of_samples(x, raw=False)
        result = reference(*x) if isinstance(x, tuple) else reference(x)
        names = [port.name for port in self.outputs]
        if isinstance(result, Mapping):
            theirs = {self._output(key, [1] * len(names)): value for key, value in result.items()}
        elif isinstance(result, (tuple, list)) and len(result) == len(names):
            theirs = dict(enumerate(result))
        elif len(names) == 1 or output is not None:
            theirs = {self._output(output, [row.shape[1] for row in ours]): result}
        else:
            raise ValueError(f"compare: the reference gives one result, but {self.name} has the outputs {_ports.listed(names)}: "
                             "name the output of the reference with output=")
        if output is not None:
            which = self._output(output, [row.shape[1] for row in ours])
            theirs = {which: theirs[which]}
        distances, agreements = [], []
        for which, value in sorted(theirs.items()):
            of_reference = np.asarray(value.detach() if hasattr(value, "detach") else value, np.float64)
            mine = ours[which].astype(np.float64)
            if of_reference.size != mine.size:
                raise ValueError(f"compare: output {names[which]!r} has {mine.shape[1]} values for each of {count} samples, but "
                                 f"the result of the reference has the shape {of_reference.shape}")
            of_reference = of_reference.reshape(count, -1)
            distances.append(np.abs(mine - of_reference).reshape(-1))
            if mine.shape[1] > 1:
                agreements.append(float((mine.argmax(axis=1) == of_reference.argmax(axis=1)).mean()))
        distance = np.concatenate(distances)
        out = {"largest_difference": float(distance.max()), "mean_difference": float(distance.mean())}
        return {**out, "agreement": min(agreements)} if agreements else out

    # --- Proof -----------------------------------------------------------------------------------

    def verify(self, board: str | None = None, *, samples: int = 3, seed: int = 1, project: str = "bare_metal") -> dict[str, Any]:
        """Compares every layer with the reference: the emitted C on this computer, and with `board` the firmware in
        the board's emulator. Returns the figures of `aotc verify --json`; raises VerificationError if a layer
        differs, and ToolMissingError, with the packages to install, if a compiler or an emulator is missing."""
        options = ["--samples", str(samples), "--seed", str(seed)]
        if board is None:
            with _progress.Doing(f"verifying {self.name}"):
                return dict(_command.run_json("verify", self._source, "--only", "host", *options, *_command.flags(self._options)))
        with tempfile.TemporaryDirectory() as folder, _progress.Doing(f"verifying {self.name} on {board}"):
            made = self.project(project, board, pathlib.Path(folder) / self.name)
            return dict(_command.run_json("verify", made, *options))

    def instructions(self, board: str) -> int:
        """Instructions of one run in the emulator of `board`, counted exactly."""
        places = self.verify(board, samples=1)["places"]
        counted = [p for p in places if p["place"] != "host C"]
        if not counted:
            raise _errors.ToolMissingError(f"{board} has no emulator; 'aotc boards --emulated' lists boards with an emulator")
        return int(counted[0]["length"])


def _cell(value: Any) -> str:
    return f"<td>{html.escape(f'{value:,}' if isinstance(value, int) else str(value))}</td>"


def _tensor(port: Mapping[str, Any]) -> Tensor:
    return Tensor(port["name"], tuple(port["shape"]), _NUMPY[port["dtype"]], port.get("scale") or None, port.get("zero_point", 0))


def _array(np: Any, port: Tensor | None, value: Any) -> Any:
    """Converts to a NumPy array. Objects without numbers, such as a tf.data set, are refused with a remedy."""
    what = f"input {port.name!r}" if port is not None else "y"
    if hasattr(value, "as_numpy_iterator") or hasattr(value, "__next__"):
        raise TypeError(f"{what} is {type(value).__module__}.{type(value).__name__}, not an array: collect the samples first, such as "
                        "with numpy.stack(list(data.unbatch().map(lambda x, y: x).as_numpy_iterator()))")
    array = np.asarray(value.detach().cpu() if hasattr(value, "detach") else value)
    if array.dtype == object:
        raise TypeError(f"{what} is not an array of numbers: the samples have different shapes, or are not numbers")
    return array


def _quantised(np: Any, port: Tensor, array: Any, quantise: bool) -> Any:
    wanted = np.dtype(port.dtype)
    if array.dtype == wanted:
        return array
    if quantise and port.scale:
        if array.dtype.kind in "iub":
            # 3 may be the number 3 or the quantised value 3, which are different inputs.
            raise TypeError(f"input {port.name!r} is {port.dtype} with scale {port.scale:.6g} and zero point {port.zero_point}, "
                            f"but {array.dtype} was given, whose values exceed {port.dtype} or mean other numbers: give the real "
                            "numbers that the network was trained with, such as x.astype(numpy.float32) / 255 for images, or "
                            "quantised values with "
                            "raw=True")
        if array.dtype.kind == "f":
            limits = np.iinfo(wanted)
            if np.isnan(array).any():
                raise ValueError(f"input {port.name!r}: NaN cannot be quantised")
            # As LiteRT's QUANTIZE does: divided in float32, halves away from zero.
            quotient = (array.astype(np.float32) / np.float32(port.scale)).astype(np.float64)
            scaled = np.sign(quotient) * np.floor(np.abs(quotient) + 0.5) + port.zero_point
            return np.clip(scaled, limits.min, limits.max).astype(wanted)
    if not np.can_cast(array.dtype, wanted, "same_kind") and not _exact(np, array, wanted):
        raise TypeError(f"input {port.name!r} is {port.dtype}, but {array.dtype} was given")
    converted = array.astype(wanted)
    if wanted.kind in "iub" and (converted != array).any():
        raise ValueError(f"input {port.name!r}: values exceed {port.dtype}: from {array.min()} to {array.max()}")
    return converted


def _exact(np: Any, array: Any, wanted: Any) -> bool:
    return array.dtype.kind in "iub" and wanted.kind in "iubf"


def _count(port: Tensor, shape: Sequence[int]) -> int:
    """Elements of the batch in an array of this shape."""
    if tuple(shape) == port.shape:
        return 1
    if len(shape) == len(port.shape) and port.shape and tuple(shape[1:]) == port.shape[1:] and shape[0] % port.shape[0] == 0:
        return shape[0] // port.shape[0]
    if tuple(shape[1:]) == port.shape:
        return shape[0]
    if port.shape[:1] == (1,) and tuple(shape) == port.shape[1:]:
        return 1
    raise ValueError(f"input {port.name!r} has the shape {port.shape}, but an array of {tuple(shape)} was given")


def _shaped(np: Any, port: Tensor, result: Any, batched: bool, raw: bool) -> Any:
    if not raw and port.scale:
        result = ((result.astype(np.float64) - port.zero_point) * port.scale).astype(np.float32)
    if not batched:
        return result[0]
    return result.reshape((-1, *port.shape[1:])) if port.shape[:1] == (1,) else result


def compile(model: Any, *, cpu: str | None = None, board: str | None = None, name: str | None = None,
            representative_data: Any = None, example_inputs: Any = None, **options: Any) -> Model:
    """Compiles a model to C for a microcontroller.

    model: the path of a .tflite or .onnx file or of a TVM graph; the bytes of one; an `onnx.ModelProto`; a Keras model;
    a `torch.nn.Module` (with `example_inputs`: a tensor, a tuple of them, or a dict by the names of forward's arguments;
    through litert-torch or ONNX, whichever is installed); an estimator of scikit-learn (with `example_inputs`, an array of
    samples). A subclassed Keras model with several arguments needs `example_inputs`, too. cpu: one of `aotc cpus`, such as
    "cortex-m4f". board: one of `aotc boards`, instead of a cpu. name: beginning of every C name.

    representative_data: samples of which int8 quantisation takes its ranges; without it a Keras or PyTorch model stays
    float. An array of samples, for several inputs a list of such arrays in their order or a dict by name; or an iterable of
    samples or batches (a tf.data set, a generator), each an array, a tuple in the inputs' order or a dict.

    Inputs and outputs have the names and the order that the framework gives them.

    Further options are those of `aotc compile`, with underscores: `optimize="speed"`, `prefer="ram"`,
    `shape={"input": (1, 98, 40)}`, `keep_dead_channels=True`.

    Raises ModelError for what is damaged or not supported and OptionError for options. The C is made whether or not the
    board has the memory for it: `Model.project` raises DoesNotFitError where it has not."""
    folder = tempfile.TemporaryDirectory(prefix="aotc-")
    try:
        shapes = options.get("shape")
        source = _convert.to_file(model, pathlib.Path(folder.name), representative_data, example_inputs,
                                  shapes if isinstance(shapes, Mapping) else {})
        if name is not None:
            options["prefix"] = name
        elif source.name:
            options.setdefault("prefix", source.name)
        if cpu is not None:
            options["cpu"] = cpu
        if board is not None:
            options["board"] = board
        return Model(source.path, options, folder, source.interface)
    except BaseException:
        shutil.rmtree(folder.name, ignore_errors=True)
        raise
