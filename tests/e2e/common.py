# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests share: the models, running aotc, LiteRT's layers and comparing with them.

The comparison here knows nothing of aotc's own reference evaluation: results that a program traced
are matched to LiteRT's tensors by name and operator index. Layers that a pass removed are not
compared; every call of the generated program is.
"""
import functools
import importlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("AOTC_SHARED") or ROOT.parent / "shared")
AOTC = os.environ.get("AOTC") or ROOT / "build" / "release" / "compiler" / "aotc"
sys.path[:0] = [str(ROOT / "tests" / "oracle"), str(ROOT / "tests")]
import litert_layers  # noqa: E402
import records  # noqa: E402
import verdicts  # noqa: E402

SKIP = 77  # what ctest takes for "skipped"
OUTPUT, TIMING, SUMMARY = 0xFFFFFFFE, 0xFFFFFFFD, 0xFFFFFFFF
# Float layers are to be equal to the bit, but at and behind the exp and tanh of another C library.
LIBRARY_ULP = 64
# Behind the name of a tensor that lost channels: constant ones, and those nobody reads.
LIVE_CHANNELS = " (live channels)"
# How aotc names an int8 tensor in the place of a uint8 one: the top bit is the other.
AS_INT8 = " (int8)"
# Of a tensor whose dimensions stand in another order than LiteRT's: that order.
OTHER_ORDER = re.compile(r" \(order ([0-9,]+)\)$")
LIBRARY_OPERATORS = {"LOGISTIC", "SOFTMAX", "TANH", "UNIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_LSTM",
                     "RNN", "UNIDIRECTIONAL_SEQUENCE_RNN", "BIDIRECTIONAL_SEQUENCE_RNN"}
# Sums of floats that LiteRT adds up in vectors.
VECTOR_OPERATORS = {"SVDF", "RNN", "UNIDIRECTIONAL_SEQUENCE_RNN", "BIDIRECTIONAL_SEQUENCE_RNN"}
MORE_MODELS = "AOTC_MORE_MODELS"  # environment variable: a folder where models are looked for first
OWN_FOLDERS = ("digits", "gadget", "keras", "ops", "planes")


Failure = verdicts.Failure  # a test failed; the text says how


def main_of(test):
    """Runs test() as the whole program: 0, 1 with the reason, or the code for skipping."""
    try:
        test()
    except (Failure, litert_layers.Rejected) as failure:
        print(f"FAILED: {failure}")
        sys.exit(1)


class Skipped(SystemExit):
    """Ends a program, or skips a test of pytest (conftest.py)."""

    def __init__(self, why):
        super().__init__(SKIP)
        self.why = why


def skip(why):
    print(f"SKIPPED: {why}")
    raise Skipped(why)


def missing(what):
    """Skips a test that cannot run without `what`; fails in CI."""
    if os.environ.get("CI") == "true":
        raise Failure(f"{what}, and CI=true")
    skip(what)


def unpack(tar, folder):
    """All of an open archive that aotc wrote. Debian 12's Python knows no filters."""
    tar.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))


def need_modules(*names):
    """The modules of Python that a test needs; skips it where one is missing, fails in CI."""
    try:
        return [importlib.import_module(name) for name in names]
    except ImportError as error:
        missing(f"{error}: pip install -r tests/requirements.txt")


# --- Models --------------------------------------------------------------------------------------


def model_path(name):
    """The file of a model (its name, or itself); skips the test if it belongs to ../shared and that is not there."""
    if name.endswith(".tflite"):
        return pathlib.Path(name).resolve()
    more = [os.environ[MORE_MODELS]] if MORE_MODELS in os.environ else []
    for folder in (*more, *OWN_FOLDERS):
        path = ROOT / "tests" / "models" / folder / f"{name}.tflite"
        if path.exists():
            return path
    path = SHARED / "models" / f"{name}.tflite"
    if path.exists():
        return path
    missing(f"model '{name}' is not in {path.parent} (set AOTC_SHARED to the folder)")


def is_float(name):
    return name.endswith(("_f32", "_float"))


# --- Programs ------------------------------------------------------------------------------------


def run(command, expect=0, timeout=600, **options):
    """Standard output of a command that must exit with `expect` (None: with anything).

    A compiler's command that passed before with the same inputs is not run (verdicts.py); its file is written when a
    later command names it. Python code that opens such a file calls verdicts.make([path]) first."""
    command = [str(c) for c in command]
    step = verdicts.step_of(command, {**options, "timeout": timeout}) if expect == 0 else None
    if step:
        return verdicts.run_step(step)[0]
    folder = options.get("cwd") or "."
    looks_into = command[0] != str(AOTC) or command[1] in ("build", "flash", "run", "verify")
    verdicts.make(command, folder, below=looks_into)
    verdicts.forget(command, folder)
    done = subprocess.run(command, capture_output=True, text=True, errors="replace",
                          stdin=subprocess.DEVNULL, timeout=timeout, **options)
    if expect is not None and done.returncode != expect:
        raise Failure(f"exit code {done.returncode}, not {expect}: {' '.join(command)}\n"
                      f"{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done if expect is None else done.stdout


def run_program(command, reads=(), writes=(), timeout=600, cwd=None):
    """Standard output of a program that was built by run(), or of an emulator with its image, and that exits with 0.

    Where a verdict has both, the output and the files of `writes` come from there. `reads`: the files that the program
    reads. What it prints must not depend on a clock."""
    command = [str(c) for c in command]

    def work():
        for path in writes:
            pathlib.Path(path).unlink(missing_ok=True)
        return run(command, timeout=timeout, cwd=cwd)
    return verdicts.run_program(command, work, reads, writes, cwd or ".")


def aotc(*arguments, **options):
    return run([AOTC, *arguments], **options)


def report(target, *options):
    """What 'aotc report --json' tells of a model or project as it was asked for, without alternatives."""
    return json.loads(aotc("report", target, *options, "--no-alternatives", "--json"))


# With the list of what a source includes ccache (CCACHE_DEPEND) need not preprocess it first.
LISTED = ["-MMD"]


def cached(compiler):
    return ["ccache", compiler] if shutil.which("ccache") else [compiler]


ARDUINO_HARDWARE = pathlib.Path("/usr/share/arduino/hardware")


def arduino_builder(work):
    """The beginning of a call of arduino-builder: with what the package of the Arduino IDE (and its Java
    runtime) would add to that of the core, a folder of tools and links to the builder's own recipes."""
    tools = fresh(work / "avr_tools")
    (tools / "avr").mkdir()
    (tools / "avr" / "bin").symlink_to("/usr/bin")
    return ["arduino-builder", "-compile", "-hardware", ARDUINO_HARDWARE, "-hardware",
            "/usr/share/arduino-builder", "-tools", tools]


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


# --- Boards --------------------------------------------------------------------------------------


@functools.cache
def board(name):
    return json.loads((ROOT / "boards" / name / "board.json").read_text())


def require(*tools):
    for tool in tools:
        if shutil.which(tool) is None:
            raise Failure(f"'{tool}' is not installed; scripts/setup installs it")


def create_project(path, board_name, folder, *options):
    """A built project, or None if aotc says that the model does not fit the board."""
    require(board(board_name)["toolchain"]["compiler"])
    made = aotc("create", path, "--board", board_name, "-o", folder, "--quiet", *options,
                expect=None)
    if made.returncode == 3 and "[does-not-fit]" in made.stderr:
        return None
    if made.returncode != 0:
        raise Failure(f"aotc create exits with {made.returncode}\n{made.stdout}{made.stderr}")
    return built_project(folder, board_name)


# What of the compiler decides how a project is built, and how its figures are counted.
BUILDING = ("driver", "machine", "project", "support")


def built_project(folder, board_name):
    """What 'aotc build --json' says of a project; its image is written when something needs it."""
    def work():
        launcher = {"CMAKE_C_COMPILER_LAUNCHER": "ccache"} if shutil.which("ccache") else {}
        return json.loads(aotc("build", folder, "--quiet", "--json", env={**os.environ, **launcher}))
    folder = pathlib.Path(folder).resolve()
    key = verdicts.digest_of(
        "project", verdicts.own(), verdicts.tree(folder, without=("build",)),
        [verdicts.tree(ROOT / "compiler" / stage) for stage in BUILDING],
        [verdicts.tool(t) for t in (board(board_name)["toolchain"]["compiler"], "cmake")], os.environ.get("CFLAGS", ""))
    product = verdicts.Built(key, work)

    def build():
        product.is_made = True
        return work()
    said = verdicts.remember(f"aotc build {folder.name}", key, build, folder=folder)
    verdicts.pending[str(folder / "build" / "firmware.elf")] = product
    return said


def run_firmware(folder, board_name, *arguments, timeout=600, reads=(), writes=()):
    """Standard output of a project's image on its board's emulator, whose time is counted in instructions."""
    emulator = board(board_name)["emulator"]
    command = []
    for item in emulator["argv"]:
        if item == "{arguments}":
            command += arguments
        else:
            extra = "".join(f",arg={a}" for a in ("fw", *arguments)) if arguments else ""
            command.append(item.format(image=folder / "build" / "firmware.elf", arguments=extra))
    return run_program(command, reads, writes, timeout=timeout)


def verify_on_board(folder, board_name, samples):
    """Results of the firmware's verify mode, and its figures."""
    source, target = folder / "e2e_in.bin", folder / "e2e_out.bin"
    source.write_bytes(records.pack_inputs(samples))
    run_firmware(folder, board_name, "verify", str(source), str(target), reads=[source], writes=[target])
    found = records.unpack_results(target.read_bytes())
    timing = {r[2]: int.from_bytes(r[3], "little") for r in found if r[1] == TIMING}
    sample, op, _, data = found[-1]
    if op != SUMMARY or sample != len(samples):
        raise Failure("the firmware's results have no summary")
    figures = {
        "status": int.from_bytes(data[0:4], "little", signed=True),
        "stack_bytes": int.from_bytes(data[4:8], "little"),
        "guard_ok": int.from_bytes(data[8:12], "little"),
        "instructions": int.from_bytes(data[16:24], "little"),
        "op_ticks": [timing.get(i, 0) for i in range(len(timing))],
    }
    if figures["status"] != 0 or figures["guard_ok"] != 1:
        raise Failure(f"status {figures['status']}, guards intact: {figures['guard_ok']}")
    return [r for r in found if r[1] not in (TIMING, SUMMARY)], figures


# --- Comparing with LiteRT -----------------------------------------------------------------------


def escaped(name):
    """A tensor name as aotc's JSON spells it."""
    out = ""
    for char in name:
        if ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0 or char in "'\\":
            out += "".join(f"\\x{byte:02x}" for byte in char.encode())
        else:
            out += char
    return out


class Oracle:
    """LiteRT on one model: which results it has under which name, and their bytes."""

    def __init__(self, path, samples=2, seed=1, inputs=None):
        # "builtin" where the reference kernels lack an operator.
        self.layers = litert_layers.Layers(path, os.environ.get("AOTC_KERNELS", "reference"))
        self.has_composites = any(op["op_name"] == "STABLEHLO_COMPOSITE" for op in self.layers.operators)
        rng = np.random.default_rng(seed)
        self.samples = inputs or [self.layers.random_inputs(rng) for _ in range(samples)]
        names = {d["index"]: d["name"] for d in self.layers._interpreter.get_tensor_details()}
        self.places = {}
        for op, detail in enumerate(self.layers.operators):
            for result, tensor in enumerate(detail["outputs"]):
                if tensor >= 0:
                    place = self.places.setdefault(escaped(names[int(tensor)]), [])
                    place.append((op, result))
        self.inputs = {escaped(detail["name"]): i for i, detail in enumerate(self.layers.inputs)}
        self.results, self.outputs = [], []
        for arrays in self.samples:
            self.results.append(self.layers.run(arrays))
            self.outputs.append([a.copy() for a in self.layers.model_outputs()])

    def place(self, name, op_index):
        """(operator, result) of a tensor that operator `op_index`, perhaps fused, gives."""
        found = self.places.get(name, [])
        behind = [p for p in found if p[0] >= op_index]
        return behind[0] if behind else None

    def as_int8(self, name, op_index, sample):
        """What a tensor that aotc has as int8 is in LiteRT, as int8, or None if it is no such tensor. It may
        be an input, or the result of an operator before `op_index`."""
        if not name.endswith(AS_INT8):
            return None
        name = name.removesuffix(AS_INT8)
        place = self.place(name, op_index) or (self.places.get(name) or [None])[-1]
        given = [a for a, d in zip(self.samples[sample], self.layers.inputs) if escaped(d["name"]) == name]
        want = self.results[sample][place[0]][place[1]] if place else given[0] if given else None
        if want is None or np.asarray(want).dtype != np.uint8:
            return None
        return (np.asarray(want) ^ 0x80).view(np.int8)

    def value(self, sample, place):
        """What is at a place; that of an input is (None, input)."""
        return self.samples[sample][place[1]] if place[0] is None else self.results[sample][place[0]][place[1]]


def ulp_distance(a, b):
    a, b = (x.view(np.int32).astype(np.int64) for x in (a, b))
    a, b = (np.where(x < 0, -(x & 0x7FFFFFFF), x) for x in (a, b))
    return np.abs(a - b)


def difference(got, want, ulp):
    """(worst distance in ulp, None or a text that says where `got` bytes and `want` differ)."""
    expected = np.ascontiguousarray(want).reshape(-1)
    if len(got) != expected.nbytes:
        return 0, f"{len(got)} bytes, LiteRT has {expected.nbytes}"
    actual = np.frombuffer(got, expected.dtype)
    if expected.dtype != np.float32:
        wrong = np.flatnonzero(actual != expected)
        distance = 0
    else:
        both_nan = np.isnan(actual) & np.isnan(expected)
        distances = np.where(both_nan, 0, ulp_distance(actual, expected))
        wrong = np.flatnonzero(distances > ulp)
        distance = int(distances.max(initial=0))
    if len(wrong) == 0:
        return distance, None
    at = wrong[0]
    return distance, (f"{len(wrong)} of {len(expected)} elements differ, first [{at}]: "
                      f"{actual[at]!r}, LiteRT {expected[at]!r}")


def cut_results(layers):
    """How many results of aotc's calls hold only some channels of LiteRT's tensor."""
    results = [r for layer in layers for r in layer.get("results", [])]
    return sum(r["tensor"].endswith(LIVE_CHANNELS) for r in results)


def live_channels_of(got, shape, want):
    """Those channels of `want` that `got` (bytes of `shape`) holds, in their order.

    All of `want`, which then differs in size, if `got` has a channel that is not there.
    """
    all_channels = np.ascontiguousarray(want).reshape(-1, want.shape[-1])
    columns = np.frombuffer(got, want.dtype).reshape(-1, shape[-1])
    chosen, at = [], 0
    for column in columns.T:
        while at < all_channels.shape[1] and not np.array_equal(all_channels[:, at], column):
            at += 1
        if at == all_channels.shape[1]:
            return want
        chosen.append(at)
        at += 1
    return all_channels[:, chosen]


def place_of(oracle, name, op_index):
    """Where LiteRT has what aotc calls `name`; is it some channels only; its order of dimensions, if it is another;
    the name without these."""
    place = oracle.place(name, op_index)
    is_cut = place is None and name.endswith(LIVE_CHANNELS)
    if is_cut:
        name = name.removesuffix(LIVE_CHANNELS)
        place = oracle.place(name, op_index)
    moved = OTHER_ORDER.search(name) if place is None else None
    if not moved:
        return place, is_cut, None, name
    name = name[:moved.start()]
    place = (None, oracle.inputs[name]) if name in oracle.inputs else oracle.place(name, op_index)
    return place, is_cut, [int(i) for i in moved[1].split(",")], name


def compare(oracle, layers, found, outputs=True):
    """Checks traced records against LiteRT. `layers` is aotc's list of calls (`--json`).

    A tensor in another order of dimensions must hold LiteRT's in that order.
    A tensor that lost channels must hold channels of LiteRT's, in LiteRT's order; which ones aotc
    kept is not checked here: a wrong choice shows behind it.

    Returns the number of results compared and the worst distance in ulp.
    """
    limits, behind_library = [], False
    for layer in layers:
        is_float = any(r["dtype"] == "f32" for r in layer.get("results", []))
        if is_float and layer["op_type"] in LIBRARY_OPERATORS:
            behind_library = True
        limits.append(LIBRARY_ULP if behind_library else 0)
    compared, worst, seen = 0, 0, set()
    for sample, call, result, data in found:
        if call == OUTPUT:
            want, title, ulp = oracle.outputs[sample][result], f"output {result}", max(limits)
        else:
            layer = layers[call]
            seen.add((sample, call))
            if "op_index" not in layer:
                continue  # a copy into an output, which is compared as such
            name = layer["results"][result]["tensor"]
            place, is_cut, order, base = place_of(oracle, name, layer["op_index"])
            want = oracle.value(sample, place) if place else oracle.as_int8(base, layer["op_index"], sample)
            if want is None and oracle.has_composites:
                continue  # what a composite is made of is another subgraph to LiteRT
            if want is None:
                raise Failure(f"call {call} gives a tensor '{name}' that LiteRT does not have")
            ulp = limits[call]
            if order:
                want = np.asarray(want).transpose(order)
            if is_cut:
                want = live_channels_of(data, layer["results"][result]["shape"], want)
            title = f"call {call} ({layer['op_type']} '{name}')"
        distance, text = difference(data, want, ulp)
        worst, compared = max(worst, distance), compared + 1
        if text:
            raise Failure(f"sample {sample}, {title}: {text}")
    expected = {(s, c) for s in range(len(oracle.samples)) for c in range(len(layers))}
    if seen != expected:
        raise Failure(f"calls that left no trace: {sorted(expected - seen)[:10]}")
    got_outputs = {(s, r) for s, c, r, _ in found if c == OUTPUT}
    if outputs and len(got_outputs) != len(oracle.samples) * len(oracle.layers.outputs):
        raise Failure("outputs are missing from the results")
    return compared, worst


def store(folder, name, figures):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(figures, indent=1) + "\n")


def prefix_of(name):
    return re.sub(r"\W", "_", name)
