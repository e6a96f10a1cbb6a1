# SPDX-License-Identifier: Apache-2.0
"""Measures one model on one emulated board through the commands that a user has.

measure() makes a project, builds and runs it, and returns one row of figures; it needs nothing but
Python's own library, `aotc`, and the board's compiler and emulator.
"""
import json
import os
import pathlib
import shutil
import subprocess
import time
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("AOTC_SHARED") or ROOT.parent / "shared")
SHIPPED = ROOT / "tests" / "models" / "digits"


class Core(NamedTuple):
    """An emulated core and the checks that run on it."""
    board: str
    # Board of `scripts/bench --coverage`, with memory for every model; None: the core is not in that check.
    coverage: str | pathlib.Path | None = None
    estimated: bool = False  # compiler/cores/code_model.h models its code, so estimates must be near the count


CORES = {
    "m0": Core("qemu_microbit", pathlib.Path(__file__).with_name("cortex_m0_large.json")),
    "m3": Core("qemu_mps2_an385"),
    "m4": Core("qemu_mps2_an386", "qemu_mps2_an386", estimated=True),
    "m7": Core("qemu_mps2_an500"),
    "m33": Core("qemu_mps2_an505"),
    "m55": Core("qemu_mps3_an547", "qemu_mps3_an547", estimated=True),
    "rv32imac": Core("qemu_riscv32", "qemu_riscv32", estimated=True),
}
TARGETS = {name: core.board for name, core in CORES.items()}
SHIPPED_MODELS = ("digits_int8",)
SHARED_MODELS = ("kws", "vww", "resnet", "ad", "strww", "micro_speech", "hello_world_int8",
                 "vww_f32", "resnet_f32", "ad_f32", "hello_world_float")
# What -O is given, and what the figures call it.
LEVELS = {"balanced": "default", "speed": "speed", "size": "size"}
EXIT_DOES_NOT_FIT = 3
COMPILE_RUNS = 3


class Failure(Exception):
    """A measurement or a comparison failed; the text says what to do."""


def is_float(model):
    return model.endswith(("_f32", "_float"))


def model_path(model):
    """The file of a model, or None if it belongs to ../shared and that is not there."""
    for folder in (SHIPPED, SHARED / "models"):
        path = folder / f"{model}.tflite"
        if path.exists():
            return path
    if (SHARED / "models").is_dir():
        raise Failure(f"there is no model '{model}' in {SHIPPED.relative_to(ROOT)} "
                      f"or {SHARED / 'models'}")
    return None


def board_of(target):
    return json.loads((ROOT / "boards" / TARGETS[target] / "board.json").read_text())


def tools_of(targets):
    """First line of `--version` of every compiler and emulator that the targets use."""
    programs = set()
    for target in targets:
        board = board_of(target)
        programs |= {board["toolchain"]["compiler"], board["emulator"]["program"]}
    versions = {}
    for program in sorted(programs):
        if shutil.which(program) is None:
            raise Failure(f"'{program}' is not installed; scripts/setup installs it")
        done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
        versions[program] = done.stdout.splitlines()[0].strip()
    return versions


class Aotc:
    """The compiler under measurement."""

    def __init__(self, program, timeout):
        self.program = pathlib.Path(program).resolve()
        self.timeout = timeout
        self.environment = dict(os.environ)
        if shutil.which("ccache"):
            self.environment.setdefault("CMAKE_C_COMPILER_LAUNCHER", "ccache")
        if not self.program.is_file():
            raise Failure(f"{self.program} is missing; build it with 'cmake --preset release && "
                          "cmake --build build/release', or name it with --aotc")

    def run(self, *arguments, may_not_fit=False, quiet=True):
        """The JSON that a command prints; None if it says that the model does not fit."""
        command = [str(self.program), *map(str, arguments), "--json", *(["--quiet"] if quiet else [])]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace",
                              stdin=subprocess.DEVNULL, env=self.environment,
                              timeout=self.timeout + 60)
        if may_not_fit and done.returncode == EXIT_DOES_NOT_FIT:
            return None
        if done.returncode != 0:
            raise Failure(f"exit code {done.returncode}: {' '.join(command)}\n"
                          f"{done.stdout[-1500:]}{done.stderr[-3000:]}")
        return json.loads(done.stdout)

    def compile_ms(self, path, board, folder, options):
        """Processor time of `aotc compile`: other work of the machine does not disturb it much."""
        best = float("inf")
        for _ in range(COMPILE_RUNS):
            process = os.posix_spawn(
                self.program, [str(self.program), "compile", str(path), "--board", board, "-o",
                               str(folder), "--force", "--quiet", *options], self.environment,
                file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                              (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)])
            _, status, usage = os.wait4(process, 0)
            if status != 0:
                raise Failure(f"'aotc compile {path} --board {board}' fails")
            best = min(best, usage.ru_utime + usage.ru_stime)
        return round(best * 1000, 1)


def cycles_of(aotc, folder, report):
    """What the firmware's instructions take (docs/cycles.md) beside what was estimated before, whole and by layer."""
    counted = aotc.run("analyze", "cycles", folder, quiet=False)
    layers = counted["layers"] or [{} for _ in report["layers"]]
    return {"cycles": counted["cycles"], "counted_instructions": counted["instructions"],
            "estimated_cycles": report.get("estimated_cycles"),
            "cycle_layers": [{"op": layer.get("op_type"), "op_index": layer.get("op_index"),
                              "cycles": measured.get("cycles"), "estimated": layer.get("estimated_cycles")}
                             for layer, measured in zip(report["layers"], (taken or {} for taken in layers))]}


def run_project(aotc, path, board, folder, options, title):
    """(report, sizes, run) of a project that is made, built and run; None if the model does not fit the board."""
    if aotc.run("create", path, "--board", board, "-o", folder, *options, may_not_fit=True) is None:
        return None
    size = aotc.run("build", folder)
    run = aotc.run("run", folder, "--timeout", aotc.timeout)
    if run.get("status") != 0 or run.get("guard_ok") != 1:
        raise Failure(f"{title}: status {run.get('status')}, arena guards intact: {run.get('guard_ok')}; "
                      "'aotc verify' shows the layer")
    return aotc.run("report", folder, "--no-alternatives"), size, run


def measure(aotc, model, target, level, work, say, cycles=False):
    """One row, or None if the model does not fit the board."""
    path, board = model_path(model), TARGETS[target]
    folder = work / f"{model}.{target}.{level}"
    options = ["-O", level]
    shutil.rmtree(folder, ignore_errors=True)
    work.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    try:
        done = run_project(aotc, path, board, folder, options, f"{model} on {target}")
        if done is None:
            say(f"{model} on {target}: does not fit")
            return None
        report, size, run = done
        compile_ms = aotc.compile_ms(path, board, folder / "compile_only", options)
        taken = cycles_of(aotc, folder, report) if cycles else {}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    row = {
        "model": model, "target": target, "level": LEVELS[level],
        "instructions": run["instructions"], "arena_bytes": report["arena_bytes"],
        "io_bytes": sum(report[f"{port}_bytes"] for port in ("input", "output")
                        if not report[f"{port}_in_arena"]),
        "stack_bytes": run["stack_bytes"], "code_bytes": size["code_bytes"],
        "constants_bytes": size["constants_bytes"], "compile_ms": compile_ms,
        "macs": report["macs"], "layers": layers_of(report), **taken}
    if cycles and taken["counted_instructions"] != row["instructions"]:
        raise Failure(f"{model} on {target}: {taken['counted_instructions']:,} instructions by the plugin, "
                      f"{row['instructions']:,} by the firmware")
    say(f"{model} on {target}: {row['instructions']:,} instructions "
        f"({time.monotonic() - started:.0f} s)")
    return row


def layers_of(report):
    """One entry a call. `op` is the operator of the model file, null for a copy aotc added."""
    return [{"op": layer.get("op_type"), "op_index": layer.get("op_index"),
             "macs": layer.get("macs", 0), "instructions": layer.get("instructions", 0)}
            for layer in report["layers"]]
