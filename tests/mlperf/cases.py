#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Firmware of the mlperf-tiny kind under the runner of this folder; LiteRT's reference kernels are
the second opinion on every result.

Usage: cases.py CASE --aotc PATH --work DIR
  accuracy      keyword spotting on the emulated Cortex-M4, every fifth of 1000 inputs; accuracy_whole: all
  models        the other benchmark models there, 20 random inputs each; and float ones on the host
  performance   performance mode; its time is the instructions that `aotc run` counts
  lines         other boards and lines: RISC-V over TCP, Cortex-M over a terminal, the host over both
  hostile       noise on the line, on the host under sanitizers and on the emulated Cortex-M4
  numbers       how floats are printed and quantised
  project       at most thirteen files, the same bytes each time, misfits refused
  zephyr        the Zephyr application on stand-ins for Zephyr: its answers and its clock
  arduino       the Arduino sketch for a Mega 2560, built by Debian's Arduino tools, in simavr
"""
import argparse
import concurrent.futures
import os
import pathlib
import random
import re
import shutil
import socket
import subprocess
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import common  # noqa: E402
import litert_layers  # noqa: E402
import runner  # noqa: E402
from common import Failure  # noqa: E402

M4 = "qemu_mps2_an386"
DATA = common.SHARED / "datasets" / "kws01"
PIXELS, WINDOW = {"vww", "resnet"}, {"ad", "ad_f32"}


def make(work, model, board=M4, *options, flags="-Werror"):
    """A built project; any warning is an error."""
    folder = common.fresh(work / f"{model}_{board}")
    before = os.environ.get("CFLAGS")
    os.environ["CFLAGS"] = flags
    built = common.create_project(common.model_path(model), board, folder / "app",
                                  "--project", "mlperf-tiny", *options)
    os.environ.pop("CFLAGS")
    if before is not None:
        os.environ["CFLAGS"] = before
    if built is None:
        raise Failure(f"{model} does not fit {board}")
    return folder / "app"


class Reference:
    """What the benchmark's device must answer, by LiteRT's reference kernels."""

    def __init__(self, model):
        self.model, self.layers = model, litert_layers.Layers(common.model_path(model))

    def data(self, rng):
        """Random bytes of an input, as the benchmark's runner sends them."""
        detail = self.layers.inputs[0]
        count = int(np.prod(detail["shape"]))
        if self.model in WINDOW:
            return rng.normal(-20.0, 30.0, count).astype("<f4").tobytes()
        if detail["dtype"] == np.float32 and self.model not in ("vww_f32", "resnet_f32"):
            return rng.normal(0.0, 1.0, count).astype("<f4").tobytes()
        return rng.integers(0, 256, count, dtype=np.uint8).tobytes()

    def _tensor(self, data):
        detail = self.layers.inputs[0]
        if self.model in PIXELS:
            return (np.frombuffer(data, np.uint8).astype(np.int16) - 128).astype(np.int8)
        if self.model == "vww_f32":
            return np.frombuffer(data, np.uint8).astype(np.float32) * np.float32(1 / 255)
        if self.model == "resnet_f32":
            return np.frombuffer(data, np.uint8).astype(np.float32)
        if self.model == "ad":
            scale, zero = detail["quantization"]
            steps = (np.frombuffer(data, "<f4") / np.float32(scale)).astype(np.float64)
            rounded = np.sign(steps) * np.floor(np.abs(steps) + 0.5)
            return np.clip(rounded + zero, -128, 127).astype(np.int8)
        return np.frombuffer(data, detail["dtype"])

    def results(self, data):
        self.layers.run([self._tensor(data).reshape(self.layers.inputs[0]["shape"])])
        detail, out = self.layers.outputs[0], self.layers.model_outputs()[0].reshape(-1)
        if out.dtype != np.float32:
            scale, zero = detail["quantization"]
            out = (out.astype(np.int32) - zero).astype(np.float32) * np.float32(scale)
        if self.model in WINDOW:
            difference = out - np.frombuffer(data, "<f4")
            return np.cumsum(difference * difference, dtype=np.float32)[-1:] / np.float32(len(out))
        return out


def compare(found, expected, what, ulp=0):
    found = np.array(found, np.float32)
    if found.shape != expected.shape or (common.ulp_distance(found, expected) > ulp).any():
        raise Failure(f"{what}: {found.tolist()}, LiteRT {expected.tolist()}")


# --- Accuracy and performance --------------------------------------------------------------------


def test_accuracy(work, every=5):
    if not DATA.is_dir():
        if os.environ.get("CI") == "true":
            raise Failure(f"{DATA} is missing, and CI=true")
        common.skip(f"{DATA} is missing")
    app, dataset, reference = make(work, "kws"), runner.DataSet(DATA), Reference("kws")
    begin = time.monotonic()

    def part(first, step):
        with runner.start(app, counts=False) as line:
            return runner.accuracy(runner.Device(line).identify(), dataset, first, step)

    found, lanes = {}, min(4, os.cpu_count() or 1)
    with concurrent.futures.ThreadPoolExecutor(lanes) as pool:
        for some in pool.map(part, range(0, lanes * every, every), [lanes * every] * lanes):
            found.update(some)
    took = time.monotonic() - begin
    right = 0
    for i in sorted(found):
        expected = reference.results(dataset.inputs(i)[0])
        compare(found[i][0], expected, dataset.rows[i][0])
        right += int(expected.argmax() == dataset.label(i))
    percent, area = runner.judge(dataset, found)
    print(f"{len(found)} inputs in {took:.0f} s: {right} right, as LiteRT's reference kernels; "
          f"top-1 {percent:.1f} %, AUC {area:.3f}; every result equal")
    if len(dataset) != 1000 or len(found) != 1000 // every or round(percent * 10) != right * every or right < 901 // every:
        raise Failure(f"{percent} % of {len(dataset)}, LiteRT has {right}")


def test_accuracy_whole(work):
    test_accuracy(work, 1)


def check_random(work, model, board, count, *options):
    app, reference = make(work, model, board, *options), Reference(model)
    rng = np.random.default_rng(5)
    with runner.start(app, counts=False) as line:
        device = runner.Device(line).identify()
        for i in range(count):
            data = reference.data(rng)
            device.load(data)
            # Results of floats behind exp are as near as the two C libraries are.
            ulp = common.LIBRARY_ULP if common.is_float(model) and model != "ad_f32" else 0
            compare(device.infer(1 + i % 2, i % 3)[0], reference.results(data),
                    f"{model}, input {i}", ulp)
    print(f"{model} on {board}: answers for {device.model}, {count} results equal")
    return device.model


def test_models(work):
    for model, board, count, name in (("ad", M4, 20, "ad01"), ("resnet", M4, 20, "ic01"),
                                      ("vww", M4, 20, "vww01"), ("ad_f32", "host", 5, "ad01"),
                                      ("vww_f32", "host", 5, "vww01"),
                                      ("resnet_f32", "host", 5, "ic01")):
        if check_random(work, model, board, count) != name:
            raise Failure(f"{model} is not taken for {name}")


def test_performance(work):
    app, reference = make(work, "kws"), Reference("kws")
    plain = work / "kws_plain"
    common.fresh(plain)
    common.create_project(common.model_path("kws"), M4, plain / "app")
    ran = common.json.loads(common.aotc("run", plain / "app", "--json"))
    rng = np.random.default_rng(6)
    with runner.start(app) as line:
        device = runner.Device(line).identify()
        before = int(device.command("timestamp")[0].removeprefix("m-lap-us-"))
        rates = []
        for _ in range(runner.LOOPS):
            data = reference.data(rng)
            device.load(data)
            results, took = device.infer(70, 10)
            compare(results, reference.results(data), "the last of 70 inferences")
            rates.append(70 / (took / 1e6))
        after = int(device.command("timestamp")[0].removeprefix("m-lap-us-"))
    rate, instructions = float(np.median(rates)), ran["instructions"]
    print(f"median throughput {rate:.3f} inferences/s: {1e9 / rate:.0f} instructions each at one "
          f"nanosecond; aotc run counts {instructions}")
    if abs(1e9 / rate / instructions - 1) > 0.01:
        raise Failure("these differ by more than 1 %")
    # More than one turn of the 24 bit counter, at 25 MHz.
    if not 0.8 * runner.LOOPS * 80 / rate < (after - before) / 1e6 or after - before < 700000:
        raise Failure(f"the clock of the device stood at {before} and {after} us")


# --- Other boards and lines ----------------------------------------------------------------------


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Started:
    """Firmware that runs with its line elsewhere: a terminal ("pty") or a socket ("tcp")."""

    def __init__(self, app, board, kind):
        words = runner.emulator_command(app)
        if board == "host":
            words = [words[0], "pty"]
        else:
            self.port = free_port()
            where = "pty" if kind == "pty" else f"tcp:127.0.0.1:{self.port},server=on,wait=off"
            words[words.index("-serial") + 1] = where
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True)
        if kind == "pty":
            self.path = re.search(r"/dev/\S+", self.process.stdout.readline()).group()
        self.kind = kind

    def connect(self):
        for _ in range(100):
            time.sleep(0.2)
            try:
                line = (runner.open_port(self.path) if self.kind == "pty"
                        else runner.open_tcp(f"127.0.0.1:{self.port}"))
            except ConnectionRefusedError:
                continue
            line.drain(1.5)  # it may boot only now
            return line
        raise Failure("the emulator does not listen")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def test_lines(work):
    model = "digits_int8"
    reference = Reference(model)
    inputs = np.load(common.ROOT / "tests" / "models" / "digits" / "test_inputs_int8.npy")
    for board, kind in (("qemu_riscv32", "tcp"), (M4, "pty"), ("host", "pty")):
        app = make(work, model, board)
        with Started(app, board, kind) as started, started.connect() as line:
            device = runner.Device(line).identify()
            if (device.name, device.model) != (board, model):
                raise Failure(f"it says that it is {device.name} with {device.model}")
            for image in inputs[:10]:
                data = image.tobytes()
                device.load(data)
                compare(device.infer(2, 1)[0], reference.results(data), f"{board} over {kind}")
        print(f"{board} over {kind}: 10 results equal")
    for board in ("host", "qemu_riscv32"):
        check_random(work, model, board, 10)
    check_random(work, "digits_f32", "host", 50)
    check_random(work, "digits_int8", "host", 5, "--input", "preserve", "--output", "overwrite")
    check_random(work, "digits_int8", "host", 5, "--arena", "model")


# --- Noise ---------------------------------------------------------------------------------------

# What is sent after `db load 4%`, and the lines that must come before the last m-ready.
HOSTILE = [
    (b"%", ["e-[Unknown command: ]"]),
    (b"  %", ["e-[Unknown command: ]"]),
    (b"\r\n\0name%", ["m-name-dut-[qemu_mps2_an386]"]),
    (b"nam%", ["e-[Unknown command: nam]"]),
    (b"namename%", ["e-[Unknown command: namename]"]),
    (b"\xff\x80na\x01me%", ["e-[Unknown command: ??na?me]"]),
    (b"x" * 80 + b"%", ["e-[Unknown command: " + "x" * 80 + "]"]),
    (b"x" * 81 + b"%", ["e-[A command has at most 80 characters]"]),
    (b"db " + b"0" * 5000 + b"%", ["e-[A command has at most 80 characters]"]),
    (b"db%", ["e-[Command 'db' requires a subcommand]"]),
    (b"db load%", ["e-[Command 'db load' requires the # of bytes]"]),
    (b"db 00%", ["e-[No data expected: 'db load' comes first]"]),
    (b"db load 0%", ["e-[Command 'db load' must be >0 bytes]"]),
    (b"db load -1%", ["e-[Command 'db load' must be >0 bytes]"]),
    (b"db load 4x%", ["e-[Command 'db load' must be >0 bytes]"]),
    (b"db load 99999999999999999999%", ["e-[Command 'db load' must be >0 bytes]"]),
    (b"db load 491%", ["e-[Supplied buffer size 491 exceeds maximum of 490]"]),
    (b"db load 999999999%", ["e-[Supplied buffer size 999999999 exceeds maximum of 490]"]),
    (b"infer 1 0%", ["e-[The buffer holds 0 bytes, expected 490]"]),
    (b"db load 4%", ["m-[Expecting 4 bytes]"]),
    (b"db 010%", ["e-[Insufficent number of hex digits]"]),
    (b"db 01g2%", ["e-[Invalid hex digit 'g2']"]),
    (b"db 01\xff2%", ["e-[Invalid hex digit '?2']"]),
    (b"db 0102030405%", ["e-[More than the 4 bytes expected]"]),
    (b"db print%", []),
    (b"db 01fF%", []),
    (b"db print%", ["m-buffer-01-ff"]),
    (b"db Aa03%", ["m-load-done"]),
    (b"db 05%", ["e-[No data expected: 'db load' comes first]"]),
    (b"db print%", ["m-buffer-01-ff-aa-03"]),
    (b"infer 1 0%", ["e-[The buffer holds 4 bytes, expected 490]"]),
    (b"infer 0 0%", ["e-[Inference iterations must be >0 and at most 1000000]"]),
    (b"infer -1 0%", ["e-[Inference iterations must be >0 and at most 1000000]"]),
    (b"infer 1000001 0%", ["e-[Inference iterations must be >0 and at most 1000000]"]),
    (b"infer 1 -1%", ["e-[Inference warmup must be >=0 and at most 1000000]"]),
    (b"infer 1 4294967296%", ["e-[Inference warmup must be >=0 and at most 1000000]"]),
    (b"results%", ["e-[There are no results: nothing was inferred from this data]"]),
]
ALLOWED = re.compile(r"(m-|e-\[)[ -~]*|name, profile.*|db load N.*|infer N W.*|results: .*")


def check_usable(device, reference, rng, what):
    data = reference.data(rng)
    device.load(data)
    compare(device.infer(2, 0)[0], reference.results(data), what)
    again = device.command("results")
    if len(again) != 2 or not again[0].startswith("m-results-["):
        raise Failure(f"{what}: results% says {again}")
    if rest := device.line.drain(0.2):
        raise Failure(f"{what}: unasked for, the device says {rest}")


def noise(rng):
    """A piece of a conversation as a bad line has it; never an inference that takes long."""
    digits = "".join(rng.choice("0123456789abcdefABCDEF") for _ in range(rng.randrange(0, 90)))
    text = rng.choice([
        "name%", "profile%", "timestamp%", "help%", "results%", "db print%", "db%", "%",
        f"db load {rng.choice([0, 1, 4, 31, 62, 489, 490, 491, 2 ** 32, -5])}%", f"db {digits}%",
        f"infer {rng.choice([0, 1, 2, 'x', ''])} {rng.choice([0, 1, 2, '-', ''])}%",
        "db load 31%db " + "5a" * 31 + "%db print%"]).encode()
    kind = rng.randrange(5)
    if kind == 0:
        text = bytes(rng.randrange(256) for _ in range(rng.randrange(120))) + text
    elif kind == 1 and len(text) > 1:
        at = rng.randrange(len(text))
        text = text[:at] + bytes([rng.randrange(256)]) + text[at + rng.randrange(2):]
    # Two commands that ran into each other must not become a million inferences.
    return b"%" if re.search(rb"infer\s+[0-9]{3}", text) else text


def check_noise(device, rounds):
    rng = random.Random(11)
    for _ in range(rounds):
        sent = b"".join(noise(rng) for _ in range(rng.randrange(1, 4))) + b"%"
        device.line.write(sent)
        lines, ready = [], 0
        while ready < sent.count(b"%"):
            line = device.line.read_line(runner.PATIENCE_INFER)
            if line is None:
                raise Failure(f"no answer to {sent!r} but {lines}")
            lines.append(line)
            ready += line == "m-ready"
        for line in lines:
            if not ALLOWED.fullmatch(line):
                raise Failure(f"{sent!r} is answered by {line!r}")


def test_hostile(work):
    reference, rng = Reference("kws"), np.random.default_rng(8)
    sanitizers = "-Werror -g -fsanitize=address,undefined -fno-sanitize-recover=all"
    for board, flags, rounds in (("host", sanitizers, 20000), (M4, "-Werror", 300)):
        app = make(work, "kws", board, flags=flags)
        with runner.start(app, counts=False) as line:
            if line.boot[0] != "m-timestamp-mode-performance" or line.boot[2:] != [
                    "m-init-done", "m-ready"] or not re.fullmatch(r"m-lap-us-\d+", line.boot[1]):
                raise Failure(f"at boot it says {line.boot}")
            device = runner.Device(line).identify()
            for sent, answer in HOSTILE:
                line.write(sent)
                said = answer_to(sent, line)
                wanted = [a.replace(M4, board) for a in answer] + ["m-ready"]
                if said != wanted:
                    raise Failure(f"{board}: {sent[:90]!r} is answered by {said}, not {wanted}")
            check_usable(device, reference, rng, f"{board} after errors")
            check_noise(device, rounds)
            check_usable(device, reference, rng, f"{board} after noise")
        print(f"{board}: {len(HOSTILE)} errors and {rounds} pieces of noise, then right results")


def answer_to(sent, line):
    lines = []
    while not lines or lines[-1] != "m-ready":
        said = line.read_line(runner.PATIENCE)
        if said is None:
            raise Failure(f"{sent[:90]!r} is answered by {lines} and nothing more")
        lines.append(said)
    return lines


# --- Numbers and projects ------------------------------------------------------------------------


def test_numbers(work):
    app = make(work, "digits_int8", "host")
    program = work / "numbers_test"
    common.run(["cc", "-std=gnu99", "-O1", "-g", "-Wall", "-Wextra", "-ffp-contract=off",
                "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
                "-I", app / "src", "-I", app / "model",
                pathlib.Path(__file__).parent / "numbers_test.c", *app.glob("model/*.c"),
                "-o", program])
    rng = np.random.default_rng(3)
    special = [0, 1, 0x7FFFFF, 0x800000, 0x7F7FFFFF, 0x7F800000, 0x7FC00000]
    plain = np.concatenate([np.array([0.1, 0.5, 1, 10, 99999999, 1e9, 1e10, 123456789, 2 ** 30,
                                      0.99609375, 1e-8, 1e-9, 3e-38], np.float32),
                            np.arange(-300, 300, dtype=np.float32) / 256,
                            (10.0 ** np.arange(-40, 39)).astype(np.float32)])
    bits = np.concatenate([np.array(special, np.uint32), np.array(special, np.uint32) | 1 << 31,
                           plain.view(np.uint32), rng.integers(0, 2 ** 32, 100000, np.uint32)])
    halves = np.concatenate([np.arange(-400, 400, dtype=np.float32) / 8, np.float32(
        [np.nan, np.inf, -np.inf, 3e38, -3e38, np.nextafter(np.float32(0.25), np.float32(0))])])
    text = "".join(f"f {b:x}\n" for b in bits)
    text += "".join(f"q {b:x}\n" for b in halves.view(np.uint32))
    lines = subprocess.run([program], input=text, capture_output=True, text=True, timeout=600,
                           check=True).stdout.splitlines()
    for b, line in zip(bits, lines):
        want = np.uint32(b).view(np.float32)
        got = np.float32(line)
        if not (got == want and np.signbit(got) == np.signbit(want)
                or np.isnan(got) and np.isnan(want)):
            raise Failure(f"{b:08x}: {want!r} is printed as {line}")
    for value, line in zip(halves, lines[len(bits):]):
        steps = np.nan_to_num(float(value) / 0.5, nan=-1e9, posinf=1e9, neginf=-1e9)
        whole = np.sign(steps) * np.floor(abs(steps) + 0.5)
        want = [int(np.clip(whole + 3, -128, 127)), int(np.clip(whole + 128, 0, 255))]
        if [int(x) for x in line.split()] != want:
            raise Failure(f"{value!r} is quantised to {line}, not {want}")
    if len(lines) != len(bits) + len(halves):
        raise Failure(f"{len(lines)} lines")
    shown = [lines[len(special) * 2 + i] for i in range(13)]
    print(f"{len(bits)} floats read back as they were, such as {', '.join(shown)}; "
          f"{len(halves)} quantised")


def test_project(work):
    def content(folder):
        return {str(p.relative_to(folder)): p.read_bytes()
                for p in sorted(folder.rglob("*")) if p.is_file()}

    model = common.model_path("digits_int8")
    for board, kind in ((M4, "mlperf-tiny"), ("qemu_riscv32", "mlperf-tiny"),
                        ("host", "mlperf-tiny"), ("arduino_mega2560", "mlperf-tiny-arduino"),
                        ("nucleo_f446re", "mlperf-tiny-zephyr")):
        found = []
        for name in ("one", "two"):
            folder = work / f"{name}_{board}"
            shutil.rmtree(folder, ignore_errors=True)
            common.aotc("create", model, "--board", board, "--project", kind, "-q", "-o", folder,
                        *(("--project-option", "name=digits") if "arduino" in kind else ()))
            found.append(content(folder))
        if found[0] != found[1]:
            raise Failure(f"{board}: two projects of one model differ")
        own = [p for p in found[0] if not re.search(r"model/|digits_int8|aotc\.json|LICENSE\.txt", p)]
        if len(own) > 13:
            raise Failure(f"{board}: {len(own)} files beside the model: {own}")
        print(f"{kind} for {board}: {len(own)} files beside the model, the same bytes twice")
    check_benchmarks(work, model)


def check_benchmarks(work, model):
    """What is of no benchmark says so, what is not of the chosen one is refused."""
    folder = work / "misfit"

    def said(kind, *options, model=model):
        shutil.rmtree(folder, ignore_errors=True)
        board = ("--board", "qemu_mps2_an385") if "arduino" not in kind else ("--board", "arduino_mega2560")
        return common.aotc("create", model, *board, "--project", kind, "-q", "-o", folder,
                           *(word for o in options for word in ("--project-option", o)), expect=None)

    for kind in ("mlperf-tiny", "mlperf-tiny-zephyr", "mlperf-tiny-arduino"):
        name = ["name=misfit"] if "arduino" in kind else []
        warned, meant = said(kind, *name), said(kind, *name, "benchmark=raw")
        slug = "[no-benchmark]"
        if warned.returncode != 0 or slug not in warned.stderr or slug in meant.stderr:
            raise Failure(f"{kind} of no benchmark: {warned.stderr}, {meant.stderr}")
        for benchmark, lack in (("ad01", "as many outputs as inputs"), ("sww01", "30 frames of 40 features")):
            failed = said(kind, *name, f"benchmark={benchmark}")
            if failed.returncode == 0 or f"{lack} [template-option]" not in failed.stderr:
                raise Failure(f"{kind}: a misfit is made for {benchmark}: {failed.stderr}")
    whole = said("mlperf-tiny", model=common.model_path("strww"))
    streams = {p.name for p in folder.glob("src/*")} & {"streaming.c", "features.c", "pins.c", "streaming.h"}
    if whole.returncode != 0 or whole.stderr or len(streams) != 4:
        raise Failure(f"the streaming model has {streams}: {whole.stderr}")
    print("what is of no benchmark says so, what is not of the chosen one is refused")


def test_zephyr(work):
    board = "qemu_mps2_an385"
    if "zephyr" not in common.board(board).get("frameworks", {}):
        common.skip(f"{board} is not known to Zephyr")
    app, here = work / "app", pathlib.Path(__file__).parent
    shutil.rmtree(app, ignore_errors=True)
    common.aotc("create", common.model_path("digits_int8"), "--board", board, "--project",
                "mlperf-tiny-zephyr", "-q", "-o", app)
    program = app / "build" / "zephyr" / "zephyr.elf"
    program.parent.mkdir(parents=True)
    common.run(["cc", "-std=gnu99", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Wshadow",
                "-Werror", "-ffp-contract=off", "-fsanitize=address,undefined",
                "-fno-sanitize-recover=all", "-I", app / "src", "-I", app / "model",
                "-I", here / "zephyr_stand_in", here / "zephyr_test.c", app / "src" / "benchmark.c",
                *app.glob("model/*.c"), "-o", program])
    for hz in (32768, 1000000, 25000000, 64000000, 480000000, 2000000000):
        for counter in (0, 2 ** 31 - 5, 2 ** 31, 2 ** 32 - 20000):
            done = common.run([program, hz, counter], expect=None)
            if done.returncode != 0:
                raise Failure(f"clock of {hz} Hz from {counter}: {done.stdout}{done.stderr}")
    reference, rng = Reference("digits_int8"), np.random.default_rng(9)
    with runner.start_command([str(program)]) as line:
        device = runner.Device(line).identify()
        for i in range(20):
            data = reference.data(rng)
            device.load(data)
            compare(device.infer(1, 1)[0], reference.results(data), f"input {i}")
    print(f"{device.name}: 20 results equal, clocks of six rates right")


def test_arduino(work):
    common.require("arduino-builder")
    app, build = work / "digits_mlperf", common.fresh(work / "build")
    libraries = common.fresh(work / "libraries")
    shutil.rmtree(app, ignore_errors=True)
    common.aotc("create", common.model_path("digits_int8"), "--board", "arduino_mega2560",
                "--project", "mlperf-tiny-arduino", "-q", "-o", app)
    said = common.run([*common.arduino_builder(work), "-libraries", libraries, "-fqbn",
                       "arduino:avr:mega:cpu=atmega2560", "-build-path", build, "-warnings", "all",
                       "-prefs=compiler.cpp.extra_flags=-DDECIMAL_DIG=__DECIMAL_DIG__",
                       app / "digits_mlperf.ino"], expect=None)
    text = said.stdout + said.stderr
    ours = [line for line in text.splitlines()
            if re.search("(warning|error):", line) and not line.startswith(str(common.ARDUINO_HARDWARE))]
    if said.returncode != 0 or ours:
        raise Failure(f"arduino-builder ends with {said.returncode}\n{text[-3000:]}")
    simulator = work / "avr_line"
    common.run(["cc", "-O2", "-Wall", "-Wextra", "-Werror",
                pathlib.Path(__file__).parent / "avr_line.c", "-o", simulator, "-lsimavr"])
    reference, rng = Reference("digits_int8"), np.random.default_rng(10)
    with runner.start_command([str(simulator), str(build / "digits_mlperf.ino.elf")]) as line:
        device = runner.Device(line).identify()
        for i in range(3):
            data = reference.data(rng)
            device.load(data)
            results, took = device.infer(1, 0)
            compare(results, reference.results(data), f"input {i}")
    sizes = [line for line in text.splitlines() if "bytes" in line][-2:]
    print(f"{device.name}: 3 results equal, {took} us an inference", *sizes, sep="\n")
    if not 100000 < took < 5000000:
        raise Failure(f"{took} us an inference")


def run_case(parser, tests):
    """The case that the command line names."""
    parser.add_argument("--aotc", required=True)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    args = parser.parse_args()
    os.environ["AOTC"] = str(pathlib.Path(args.aotc).resolve())
    args.work.mkdir(parents=True, exist_ok=True)

    def test():
        try:
            tests[args.case](args.work)
        except runner.RunnerFailed as failure:
            raise Failure(str(failure)) from failure

    common.main_of(test)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    tests = {name[5:]: test for name, test in globals().items() if name.startswith("test_")}
    parser.add_argument("case", choices=sorted(tests))
    run_case(parser, tests)


if __name__ == "__main__":
    main()
