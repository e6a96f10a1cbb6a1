#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random option sets on random models: every byte as LiteRT's or onnxruntime's, whatever the options and the compiler.

Usage: lane.py --work DIR [--count N] [--seed FIRST] [--jobs N] [--aotc PROGRAM]

A seed draws one to three models, options of `aotc compile`, a C compiler and its level (options.py). The C is compiled
without a warning by gcc, by clang, by gcc with sanitizers or for 32 bits, or by the compiler of an emulated Cortex-M0,
M3, M4, M55 or RV32. It runs in every way that its header offers (harness.py). An option set ends in one of these ways:

  equal      all outputs are those of the reference, in every way to run
  refused    aotc says what is wrong, where, and what to do about it; docs/errors.md or docs/cli.md lists the slug
  no oracle  LiteRT or onnxruntime does not run the model, and aotc compiles it

Everything else fails: a crash, a message without help, a warning, an access outside of memory, another byte. Options that
a failure does not need are taken away, and its folder is kept. The last line is "N passed, N failed".
"""

import argparse
import collections
import dataclasses
import itertools
import json
import os
import pathlib
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tarfile
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
import common  # noqa: E402
import harness  # noqa: E402
import models  # noqa: E402
import options as option_sets  # noqa: E402
from emitted_cases import TARGETS  # noqa: E402
from oracle import LiteRT  # noqa: E402

ROOT = HERE.parents[1]
STRICT = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
HOST = {"gcc": ("gcc", []), "clang": ("clang-19", []),
        "sanitized": ("gcc", ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]),
        "gcc32": ("gcc", ["-m32", "-msse2", "-mfpmath=sse"])}
AVR = {"atmega328p": "atmega328p", "atmega2560": "atmega2560"}
RUNS = 3
BATCH = 25
LEAST_EQUAL = 55  # per cent of the draws
EQUAL, REFUSED, NO_ORACLE, FAILED = "equal", "refused", "no oracle", "failed"
# Messages that no model and no option may cause.
BUGS = re.compile(r"internal|(ir|tir)-.*|plan-invalid|packing-.*|template-key")
# Floats that exp or tanh made: units in the last place of the largest (tests/random_models/judge.py), and on the C
# library of an emulated board.
ULP, LIBRARY_ULP = 4, 64


class Failure(Exception):
    """A draw failed. The first word of the text is the kind of failure."""


@dataclasses.dataclass
class Program:
    """A draw on its way. `wanted`: of each part the bytes, or the arrays, of its outputs in every run."""

    draw: option_sets.Draw
    folder: pathlib.Path
    parts: list = dataclasses.field(default_factory=list)
    objects: list = dataclasses.field(default_factory=list)
    wanted: list = dataclasses.field(default_factory=list)
    passes: list = dataclasses.field(default_factory=list)
    what: str = ""
    detail: str = ""

    def end(self, what, detail=""):
        self.what, self.detail = what, detail


def documented():
    text = (ROOT / "docs/errors.md").read_text() + (ROOT / "docs/cli.md").read_text()
    return set(re.findall(r"^\| `([a-z0-9-]+)` \|", text, re.M))


def prefix_of(draw, at=0):
    return f"d{draw.seed}" + (f"_{at}" if len(draw.parts) > 1 else "")


class Lane:
    def __init__(self, settings):
        self._aotc, self._work, self._jobs = settings.aotc.resolve(), settings.work.resolve(), settings.jobs
        self._litert = LiteRT()
        self._oracle = models.Oracle(self._litert)
        self._slugs = documented()
        self._runtime = {}
        self._damage = settings.damage

    def close(self):
        self._litert.close()

    def drawn(self, seed):
        return option_sets.draw(seed, lambda at, kind=None: models.draw(at, self._litert, kind))

    # --- aotc ------------------------------------------------------------------------------------------

    def command(self, draw, folder):
        """The words of the command, and the files that it names are written."""
        files, words = [], []
        for at, part in enumerate(draw.parts):
            path = folder / f"{prefix_of(draw, at)}.{part.suffix}"
            path.write_bytes(part.file)
            files.append(path.name)
        for option in draw.options:
            words += option.words
            if option.file:
                (folder / option.file[0]).write_text(option.file[1])
        if draw.has("--together"):
            words += [w for at in range(len(draw.parts)) for w in ("--name", prefix_of(draw, at))]
        out = "c.tar" if draw.value("--format") == "mlf" else "c"
        return ["compile", *files, "--prefix", f"d{draw.seed}", *words, "-o", out, "--quiet"]

    def compile(self, program):
        draw, folder = program.draw, program.folder
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        command = self.command(draw, folder)
        done = self._run_aotc(command, folder)
        if "least" in command and done.returncode == 1:
            raise Failure(f"usage '--slice least': {done.stderr}")
        if "least" in command:  # the shortest slices that this model can have
            at = command.index("least")
            done = self._run_aotc([*command[:at], "1", *command[at + 1:]], folder)
            found = re.search(r"--slice (\d+)$", done.stderr, re.M)
            if found:
                option = next(o for o in draw.options if "least" in o.words)
                option.words[option.words.index("least")] = found[1]
                done = self._run_aotc([*command[:at], found[1], *command[at + 1:]], folder)
        if done.returncode == 0:
            return True
        if done.returncode not in (1, 2, 3):
            raise Failure(f"crash: exit code {done.returncode}: {done.stderr[-1500:]}")
        slugs = re.findall(r"\berror: .*\[([a-z0-9-]+)\]$", done.stderr, re.M)
        unknown = [s for s in slugs if s not in self._slugs or BUGS.fullmatch(s)]
        if not slugs or unknown:
            raise Failure(f"message {unknown or 'without a slug'}: {done.stderr}")
        if done.stderr.count("  help: ") < 1:
            raise Failure(f"message without help [{slugs[0]}]: {done.stderr}")
        if any((folder / name).exists() for name in ("c", "c.tar")):
            raise Failure(f"output of a refused command [{slugs[0]}]: {done.stderr}")
        said = re.search(r"\berror: (.*) \[[a-z0-9-]+\]$", done.stderr, re.M)[1]
        if slugs[0] == "usage" and " is not one of " in said:
            raise Failure(f"a word that the option does not have: {said}")
        program.end(REFUSED, f"option-conflict ({said})" if slugs[0] == "option-conflict" else slugs[0])
        return False

    def _run_aotc(self, command, folder):
        return subprocess.run([self._aotc, *command], cwd=folder, capture_output=True, text=True, errors="replace",
                              stdin=subprocess.DEVNULL, timeout=300)

    # --- C ---------------------------------------------------------------------------------------------

    def sources(self, program):
        """(the file of operators, those that the test's file includes, folders of headers, TVM's module and header)."""
        draw, base = program.draw, f"d{program.draw.seed}"
        if draw.value("--format") == "mlf":
            with tarfile.open(program.folder / "c.tar") as tar:
                tar.extractall(program.folder / "c", **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
            host = program.folder / "c/codegen/host"
            files = sorted((host / "src").glob("*.c"))
            main = next(f for f in files if re.search(rf"^int32_t {base}_run\(", f.read_text(), re.M))
            include, more = host / "include", [program.folder / "c/runtime/include"]
            others = [f for f in files if f != main]
        else:
            include, more = program.folder / "c", [ROOT / "crt/include"]
            main = include / f"{base}.c"
            others = [include / f"{base}_data.c", *include.glob("tvmgen_*.c")]
        tvm = next(include.glob("tvmgen_*.h"), None)
        return main, others, [include, *more], tvm and (tvm.stem.removeprefix("tvmgen_"), tvm.read_text())

    def build(self, program, number):
        """Objects of the model and its test."""
        draw, folder = program.draw, program.folder
        main, others, includes, tvm = self.sources(program)
        program.parts = [harness.Part(prefix_of(draw, at), (includes[0] / f"{prefix_of(draw, at)}.h").read_text())
                         for at in range(len(draw.parts))]
        devices = []
        for option in draw.options:
            if option.file and option.file[0] == "devices.json":
                devices = json.loads(option.file[1])["devices"][1:]
        tables = folder / "c/tables.bin" if draw.has("--constants-file") else None
        test = folder / f"test_{number}.c"
        program.passes = [len(harness.pass_texts(p, tvm[0] if tvm else None)) for p in program.parts]
        test.write_text(harness.program_text(number, program.parts, folder.relative_to(self._work), others, RUNS, devices, tvm,
                                             tables, draw.value("--constants-address")))
        if draw.target in HOST:
            compiler, flags = HOST[draw.target]
        else:
            target = TARGETS[draw.target]
            compiler, flags = target.compiler, target.flags
        avr = AVR.get(draw.value("--cpu"))
        headers = ["-I", str(self._work), *[w for i in includes for w in ("-I", str(i))]]
        words = [compiler, *STRICT, "-ffp-contract=off", *flags]
        if avr:
            # Its own compiler says whether the C is clean; the int of this machine is another, and so are its warnings.
            self._cc(["avr-gcc", f"-mmcu={avr}", *STRICT, "-fsyntax-only", *headers, str(main)])
            words += ["-Wno-conversion", "-I", str(HERE / "include")]
        if self._damage == "warning":
            main.write_text(main.read_text() + "\nstatic int unused;\n")
        for source, level in ((main, draw.level), (test, "-O0")):
            made = folder / f"{source.stem}.o"
            self._cc([*words, level, *headers, "-c", str(source), "-o", str(made)])
            program.objects.append(made)

    @staticmethod
    def _cc(command):
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode:
            raise Failure(f"warning or error of {command[0]}: {done.stderr[:1500]}")

    def expect(self, program):
        """Writes the inputs of every part, and computes its outputs."""
        draw = program.draw
        for at, (model, part) in enumerate(zip(draw.parts, program.parts)):
            state = model.state if draw.has("--state") and at == 0 else None
            kept = [i for i, n in enumerate(model.inputs or part.inputs) if state is None or n != state[1]]
            if len(kept) != len(part.inputs):
                raise Failure(f"interface: {len(part.inputs)} inputs, the model has {len(kept)}")
            # --strip-float-io takes integers where the model has floats that one QUANTIZE reads.
            shapes, stripped = list(model.shapes), set()
            for i, field in zip(kept, part.inputs):
                if shapes[i][1] == np.float32 and field.c_type != "float":
                    shapes[i] = (shapes[i][0], np.dtype(field.c_type.removesuffix("_t")))
            if draw.has("--strip-float-io") and model.model:
                outputs = [t for t in model.model.outputs if state is None or models.name_of(t) != state[0]]
                stripped = {t for t, field in zip(outputs, part.outputs)
                            if model.model.tensors[t].dtype == "float32" and field.c_type != "float"}
            runs = models.inputs_of(dataclasses.replace(model, shapes=shapes), draw.seed, RUNS)
            if part.step:
                runs = windows(runs, part.step)
            real = [[dequantized(model.model, i, a) if a.dtype != model.shapes[i][1] else a for i, a in enumerate(arrays)]
                    for arrays in runs]
            try:
                program.wanted.append(self._oracle.outputs(model, real, state, stripped))
            except models.Refused as error:
                program.end(NO_ORACLE, str(error)[:200])
                return False
            if self._damage == "bytes":
                last = np.array(program.wanted[-1][-1][-1])
                last.reshape(-1).view(np.uint8)[-1] ^= 1
                program.wanted[-1][-1] = [*program.wanted[-1][-1][:-1], last]
            moved = (lambda a: a.transpose(0, 2, 3, 1)) if draw.has("--input-layout") and at == 0 else (lambda a: a)
            data = b"".join(np.ascontiguousarray(moved(arrays[i])).tobytes() for arrays in runs for i in kept)
            size = RUNS * sum(f.elements * _size(f.c_type) for f in part.inputs)
            if len(data) != size:
                raise Failure(f"interface: inputs of {size} bytes, the model's have {len(data)}")
            (program.folder / f"{part.prefix}.in").write_bytes(data)
        return True

    # --- Programs of many models -----------------------------------------------------------------------

    def runtime(self, target):
        """The object of the C runtime for a host target."""
        if target not in self._runtime:
            compiler, flags = HOST[target]
            folder = self._work / f"runtime_{target}"
            folder.mkdir(exist_ok=True)
            made = []
            for source in sorted((ROOT / "crt/src").glob("*.c")):
                made.append(folder / f"{source.stem}.o")
                subprocess.run([*common.cached(compiler), *common.LISTED, *flags, "-std=c99", "-O1",
                                "-DTVM_WORKSPACE_SIZE_BYTES=1048576", "-I", ROOT / "crt/include", "-c", source, "-o",
                                made[-1]], check=True)
            self._runtime[target] = made
        return self._runtime[target]

    def link(self, target, programs, name):
        """Links the programs of (number, program), and gives the command that runs them."""
        main = self._work / f"{name}.c"
        main.write_text(harness.MAIN.format(
            prototypes="".join(f"int test_{n}(void);\n" for n, _ in programs),
            tests=", ".join(f"test_{n}" for n, _ in programs)))
        image = self._work / f"{name}.elf"
        objects = [o for _, p in programs for o in p.objects]
        if target in HOST:
            compiler, flags = HOST[target]
            if any(p.draw.packed for _, p in programs):
                objects += self.runtime(target)
            tail, command, sources = ["-lm"], [image], []
        else:
            emulated = TARGETS[target]
            compiler, flags = emulated.compiler, emulated.flags
            tail = emulated.link
            command = [word.replace("{image}", str(image)) for word in emulated.command]
            sources = [HERE.parent / "e2e" / s for s in emulated.sources]
        done = subprocess.run([compiler, *flags, "-I", self._work, "-std=gnu99", main, *sources, *objects, "-o", image, *tail],
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode:
            raise Failure(f"link: {done.stderr[:1500]}")
        return command

    def run_all(self, target, programs, name):
        """Runs programs that were built; each is judged, or blamed for what ends the run of all."""
        try:
            command = self.link(target, list(enumerate(programs)), name)
        except Failure as failure:
            if len(programs) == 1:
                programs[0].end(FAILED, str(failure))
                return
            for n, program in enumerate(programs):
                self.run_alone(program, f"{name}_{n}")
            return
        todo = list(range(len(programs)))
        while todo:
            (self._work / "todo").write_text(" ".join(map(str, todo)) + "\n")
            try:
                done = subprocess.run(command, cwd=self._work, capture_output=True, text=True, errors="replace",
                                      stdin=subprocess.DEVNULL, timeout=300)
                said = done.stdout + done.stderr
            except subprocess.TimeoutExpired as error:
                said = (error.stdout or b"").decode(errors="replace") + "\ntimeout"
            ended = {int(n): int(f) for n, f in re.findall(r"^end (\d+) (\d+)", said, re.M)}
            begun = [int(n) for n in re.findall(r"^begin (\d+)", said, re.M)]
            for n, failed in ended.items():
                lines = re.search(rf"^begin {n}$(.*?)^end {n} ", said, re.M | re.S)
                self.judge(programs[n], failed, lines[1].strip() if lines else "")
            guilty = [n for n in begun if n not in ended] or ([todo[0]] if not ended else [])
            for n in guilty[:1]:
                programs[n].end(FAILED, f"run: {said[-1500:]}")
            todo = [n for n in todo if n not in ended and n not in guilty[:1]]
        pathlib.Path(command[0] if target in HOST else self._work / f"{name}.elf").unlink(missing_ok=True)

    def run_alone(self, program, name):
        test = next(program.folder.glob("test_*.c"))
        text = re.sub(r"\btest_\d+", "test_0", test.read_text())
        test.write_text(text)
        program.objects = []
        try:
            self.rebuild(program, test)
            self.run_all(program.draw.target, [program], name)
        except Failure as failure:
            program.end(FAILED, str(failure))

    def rebuild(self, program, test):
        test.unlink()
        self.build(program, 0)

    def judge(self, program, failed, said):
        if failed:
            program.end(FAILED, f"run: {said}")
            return
        draw = program.draw
        ulp = ULP if draw.target in HOST else LIBRARY_ULP
        for at, (model, part) in enumerate(zip(draw.parts, program.parts)):
            data = (program.folder / f"{part.prefix}.out").read_bytes()
            want = program.wanted[at]
            if len(data) != program.passes[at] * sum(np.asarray(a).nbytes for arrays in want for a in arrays):
                program.end(FAILED, f"interface: {len(data)} bytes of outputs in {program.passes[at]} passes")
                return
            for number, (way, run, output) in enumerate(itertools.product(
                    range(program.passes[at]), range(RUNS), range(len(want[0])))):
                a = np.ascontiguousarray(want[run][output])
                have, data = np.frombuffer(data[:a.nbytes], a.dtype), data[a.nbytes:]
                wrong = differing(have, a.reshape(-1), model, output, ulp)
                if wrong is not None:
                    program.end(FAILED, f"differs: {part.prefix} output {output} of run {run}, way {way}: element {wrong} is "
                                        f"{have[wrong]}, the reference gives {a.reshape(-1)[wrong]}")
                    return
        program.end(EQUAL)

    # --- Many draws ------------------------------------------------------------------------------------

    def prepared(self, draw, number):
        """A program that is ready to be linked, or ended."""
        program = Program(draw, self._work / f"draw_{draw.seed}")
        try:
            if self.compile(program):
                self.build(program, number)
        except Failure as failure:
            program.end(FAILED, str(failure))
        except (subprocess.TimeoutExpired, OSError, KeyError, StopIteration, harness.Unreadable) as error:
            program.end(FAILED, f"lane: {type(error).__name__}: {error}")
        return program

    def outcomes(self, draws):
        """Programs, ended, of the draws of one target that are linked together. No two have a system library."""
        with ThreadPoolExecutor(self._jobs) as pool:
            programs = list(pool.map(self.prepared, draws, range(len(draws))))
        ready = []
        for program in programs:
            if program.what:
                continue
            try:
                if self.expect(program):
                    ready.append(program)
            except Failure as failure:
                program.end(FAILED, str(failure))
        if ready:
            # Numbers of the tests are places in the list of all.
            numbers = [programs.index(p) for p in ready]
            for new, (old, program) in enumerate(zip(numbers, ready)):
                if new != old:
                    program.objects = program.objects[:1] + [self._renumbered(program, old, new)]
            self.run_all(ready[0].draw.target, ready, f"batch_{ready[0].draw.seed}")
        return programs

    def _renumbered(self, program, old, new):
        """The test's object under another number."""
        target = program.draw.target
        tool = {"cortex": "arm-none-eabi-objcopy", "thumb": "arm-none-eabi-objcopy", "rv32": "riscv64-unknown-elf-objcopy"}
        objcopy = next((t for start, t in tool.items() if target.startswith(start)), "objcopy")
        made = program.folder / f"renumbered_{new}.o"
        subprocess.run([objcopy, "--redefine-sym", f"test_{old}=test_{new}", program.objects[1], made], check=True)
        return made

    def reduced(self, program):
        """The draw without options that its failure does not need."""
        kind = program.detail.split()[0]
        draw, changed = program.draw, True
        while changed:
            changed = False
            for option in list(draw.options):
                less = dataclasses.replace(draw, options=[o for o in draw.options if o is not option])
                if option.words == ["--together"]:
                    less.parts = less.parts[:1]
                again = self.outcomes([less])[0]
                if again.what == FAILED and again.detail.split()[0] == kind:
                    draw, changed, program = less, True, again
                    break
        # Its files again, for whoever looks.
        return self.outcomes([draw])[0]


def windows(runs, step):
    """Runs whose inputs are windows of one sequence of frames, each `step` behind the one before."""
    frames = np.concatenate([arrays[0] for arrays in runs], axis=1)
    rows = runs[0][0].shape[1]
    while frames.shape[1] < rows + step * len(runs):
        frames = np.concatenate([frames, frames], axis=1)
    return [[frames[:, at * step:at * step + rows]] for at in range(len(runs))]


def dequantized(model, number, values):
    """The floats that the model's input `number` quantises to these values."""
    op = next(op for op in model.ops if op.kind == "QUANTIZE" and op.inputs[0] == model.inputs[number]
              and model.tensors[op.outputs[0]].dtype == values.dtype.name)
    like = model.tensors[op.outputs[0]]
    return ((values.astype(np.float32) - np.float32(like.zero_point[0])) * np.float32(like.scale[0])).astype(np.float32)


def _size(c_type):
    return {"float": 4, "double": 8, "bool": 1, "_Bool": 1}.get(c_type) or int(re.search(r"\d+", c_type)[0]) // 8


def differing(have, want, model, output, ulp):
    """The first element that is not as it must be; None if all are."""
    if have.tobytes() == want.tobytes():
        return None
    if want.dtype.kind != "f":
        wrong = np.flatnonzero(have != want)
        return int(wrong[0]) if len(wrong) else None
    bad = have.view(np.uint32) != want.view(np.uint32)
    bad &= ~(np.isnan(have) & np.isnan(want))
    largest = np.abs(want[np.isfinite(want)]).max(initial=0)
    with np.errstate(invalid="ignore", over="ignore"):
        if model.tolerance:
            # Sums in another order: a part in a thousand, or in a million of the largest.
            bad &= ~(np.abs(have - want) <= 1e-3 * np.abs(want) + 1e-6 * largest)
        elif output in model.inexact:
            bad &= ~(np.abs(have.astype(np.float64) - want) <= ulp * np.spacing(np.float32(largest)))
    return int(np.flatnonzero(bad)[0]) if bad.any() else None


def batches(draws):
    """Lists of draws of one target, in which at most one has TVM's system library."""
    by_target = collections.defaultdict(list)
    for draw in draws:
        registry = draw.value("--calling-convention") == "registry"
        groups = by_target[draw.target]
        group = next((g for g in groups if len(g) < BATCH and not (
            registry and any(d.value("--calling-convention") == "registry" for d in g))), None)
        if group is None:
            groups.append([draw])
        else:
            group.append(draw)
    return [g for groups in by_target.values() for g in groups]


def repeat_lines(lane, program):
    folder = program.folder
    words = lane.command(program.draw, folder)
    again = "" if program.draw.seed >= option_sets.FIRST_FOUND else \
        f"; or: tests/option_sets/lane.py --seed {program.draw.seed} --count 1 --work {os.path.relpath(folder.parent)}"
    return [f"  repeat: cd {os.path.relpath(folder)} && aotc {shlex.join(words)}",
            f"  built for {program.draw.target} at {program.draw.level}{again}"]


def report(lane, programs, keep):
    counts = collections.Counter(p.what for p in programs)
    for program in sorted((p for p in programs if p.what == FAILED), key=lambda p: p.draw.seed):
        print(f"FAILED seed {program.draw.seed} ({program.draw.parts[0].kind}): {program.detail}", flush=True)
        if keep.get(program.draw.seed):
            program = keep[program.draw.seed]
        for line in repeat_lines(lane, program):
            print(line, flush=True)
    for what in (EQUAL, REFUSED, NO_ORACLE, FAILED):
        print(f"{counts[what]:6}  {100 * counts[what] / len(programs):5.1f} %  {what}")
        if what == REFUSED:
            reasons = collections.Counter(p.detail for p in programs if p.what == what)
            print("        " + ", ".join(f"{reason} {n}" for reason, n in reasons.most_common()))
    words = collections.Counter(w for p in programs if p.what == EQUAL for o in p.draw.options for w in o.words
                                if w.startswith("-"))
    print("options of equal programs: " + ", ".join(f"{w} {n}" for w, n in words.most_common()))
    targets = collections.Counter(p.draw.target for p in programs if p.what == EQUAL)
    print("targets: " + ", ".join(f"{t} {n}" for t, n in targets.most_common()))
    return counts


def run(settings):
    lane = Lane(settings)
    try:
        programs, reductions = [], {}
        known = option_sets.found(models.own_model) if settings.count > 1 else []
        total = settings.count + len(known)
        for first in range(settings.seed, settings.seed + settings.count, settings.chunk):
            last = min(first + settings.chunk, settings.seed + settings.count)
            draws = [*known, *(lane.drawn(seed) for seed in range(first, last))]
            known = []
            for batch in batches(draws):
                ended = lane.outcomes(batch)
                for program in ended:
                    if program.what == FAILED and len(reductions) < settings.reduce:
                        reductions[program.draw.seed] = lane.reduced(program)
                    elif program.what != FAILED:
                        shutil.rmtree(program.folder, ignore_errors=True)
                    program.objects = []
                programs += ended
            failed = sum(p.what == FAILED for p in programs)
            print(f"option-sets: {len(programs)} of {total}, {failed} failed", file=sys.stderr, flush=True)
        counts = report(lane, programs, reductions)
    finally:
        lane.close()
    few = counts[EQUAL] * 100 < LEAST_EQUAL * total and settings.count >= 100
    if few:
        print(f"FAILED: fewer than {LEAST_EQUAL} % are equal")
    print(f"{total - counts[FAILED]} passed, {counts[FAILED]} failed")
    return 1 if counts[FAILED] or few else 0


def main():
    parser = argparse.ArgumentParser(prog="option-sets", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/option_sets", help="a folder that is emptied")
    parser.add_argument("--count", type=int, default=300, help="option sets (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the first one (%(default)s)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compilers at a time")
    parser.add_argument("--chunk", type=int, default=300, help="draws whose programs are linked together (%(default)s)")
    parser.add_argument("--reduce", type=int, default=8, help="failures whose options are reduced (%(default)s)")
    parser.add_argument("--aotc", type=pathlib.Path, default=ROOT / "build/release/compiler/aotc")
    parser.add_argument("--damage", choices=["", "bytes", "warning"], default="", help="spoil what a draw is compared with, "
                        "or its C, to see the lane fail")
    settings = parser.parse_args()
    if settings.count < 1 or settings.jobs < 1 or settings.chunk < 1:
        parser.error("--count, --jobs and --chunk take numbers from 1")
    common.require("gcc", "clang-19", "avr-gcc", "objcopy",
                   *{t for name in set(option_sets.EMULATED.values()) for t in (TARGETS[name].compiler, TARGETS[name].command[0])})
    shutil.rmtree(settings.work, ignore_errors=True)
    settings.work.mkdir(parents=True)
    (settings.work / "option_sets.h").write_text(harness.COMMON)
    started = time.monotonic()
    code = run(settings)
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(f"option-sets: {time.monotonic() - started:.0f} s; CPU {own.ru_utime + own.ru_stime:.0f} s here, "
          f"{children.ru_utime + children.ru_stime:.0f} s in compilers, emulators and aotc", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
