# SPDX-License-Identifier: Apache-2.0
"""`aotc analyze stack` on whole firmware beside what it takes in QEMU: every thread and every handler.

test_mlperf: firmware for the runner of MLPerf Tiny on a Cortex-M4, while it is told to infer, and told nonsense.
test_zephyr: with a Zephyr tree (AOTC_ZEPHYR) and the CMSIS module of it (AOTC_ZEPHYR_CMSIS): the application and
the module of a model, and the MLPerf Tiny application. AOTC_ZEPHYR_PYTHON: a folder with the python3 that Zephyr's build uses.

Stacks are painted through QEMU's gdb stub, and handlers stepped through. Each bound is at least what was seen, is a bound, and
the calls through pointers that ran are either listed with their place or of an address that stands in the code. Prints a
table (pytest -s); each check of it is a subtest.
"""
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import shutil
import threading
import types

import common
from common import Failure, SHARED
import gdb_stub
import pytest

ROOT = common.ROOT
DIGITS = ROOT / "tests" / "models" / "digits" / "digits_int8.tflite"
PAINT = 0xC5
STEPS, TIMES = 20_000, 3
# Of the vector table: which may interrupt which. PendSV comes last, those of the board have each the same here.
PRIORITIES = {2: 0, 3: 1, 14: 5, 15: 3}
NONSENSE = ["frobnicate%", "db load 9999999%", "db zz%", "infer 0 0%", "infer%", "%", "x" * 100 + "%"]


def run(*command, **more):
    return common.run(command, **more)


class Program:
    """What binutils say of a linked program."""

    def __init__(self, elf):
        self.elf, self.functions, self.objects = elf, {}, {}
        for line in run("arm-none-eabi-nm", "-S", elf).splitlines():
            words = line.split()
            if words[-2] in "tTwW":
                self.functions.setdefault(words[-1], int(words[0], 16))
            elif len(words) == 4 and words[2] in "bBdD":
                self.objects[words[3]] = (int(words[0], 16), int(words[1], 16))
        self.names = {address: name for name, address in self.functions.items()}
        self.code = re.findall(r"^\s+([0-9a-f]+):\t\S.*?\t(\S+)(?:\t([^\t\n]*))?", run("arm-none-eabi-objdump", "-d", elf), re.M)

    def section(self, name):
        for line in run("arm-none-eabi-objdump", "-h", self.elf).splitlines():
            words = line.split()
            if len(words) > 3 and words[1] == name:
                return int(words[3], 16), int(words[2], 16)
        raise Failure(f"there is no section {name}")

    def pointer_calls(self):
        """{address of a call through a register: the register}."""
        named = {"sb": 9, "sl": 10, "fp": 11, "ip": 12}
        found = ((a, re.match(r"r(\d+)\b|(ip|sl|fp|sb)\b", operands)) for a, mnemonic, operands in self.code if mnemonic in ("blx", "bx"))
        return {int(a, 16): named[m[2]] if m[2] else int(m[1]) for a, m in found if m}

    def function_around(self, address):
        return max(a for a in self.names if a <= address)


class Watched:
    """A firmware that runs with painted stacks; handlers and calls through pointers are watched."""

    def __init__(self, program, board, stacks, counts):
        argv = common.board(board)["emulator"]["argv"]
        argv = [w.replace("{image}", str(program.elf)).replace("{arguments}", "") for w in argv]
        if not counts:  # several times as fast
            del argv[argv.index("-icount"):argv.index("-icount") + 2]
        self.machine = gdb_stub.Machine(argv)
        self.program, self.stacks = program, stacks
        self.text, self.handlers, self.depths, self.ran, self.seen = "", {}, {}, {}, {}
        vectors = [int.from_bytes(bytes(self.machine.read(4 * i, 4)), "little") for i in range(16 + 32)]
        for number, word in enumerate(vectors):
            if number >= 2 and word & 1 and word - 1 in program.names:
                self.handlers.setdefault(word - 1, number)
        self.calls = program.pointer_calls()
        for name in stacks:
            self.paint(name)
        for address in set(self.handlers) | set(self.calls):
            self.machine.stop_at(address)
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        while data := self.machine.process.stdout.read(4096):
            self.text += data.decode("latin-1")

    def paint(self, name):
        address, size = self.stacks[name]
        self.machine.write(address, bytes([PAINT]) * size)

    def used(self, name):
        """Bytes from the lowest that was written to the end."""
        address, size = self.stacks[name]
        bytes_ = self.machine.read(address, size)
        return next((size - n for n, b in enumerate(bytes_) if b is not None and b != PAINT), 0)

    def _handler(self, address):
        number = self.machine.register(gdb_stub.XPSR) & 0x1ff
        begin = least = self.machine.register(gdb_stub.SP)
        for _ in range(STEPS):
            self.machine.step()
            if self.machine.register(gdb_stub.XPSR) & 0x1ff != number:
                break
            least = min(least, self.machine.register(gdb_stub.SP))
            self._note_call(self.machine.register(gdb_stub.PC))
        else:
            raise Failure(f"{self.program.names[address]} does not end")
        self.depths[address] = max(self.depths.get(address, 0), begin - least)
        self.seen[address] = self.seen.get(address, 0) + 1
        if self.seen[address] == TIMES:
            self.machine.stop_at(address, False)

    def _note_call(self, at):
        """Where a call through a pointer goes."""
        if at in self.calls:
            self.ran.setdefault(at, set()).add(self.machine.register(self.calls[at]) & ~1)

    def until(self, done, stop=None):
        """Runs until done() is true, or control is at `stop`."""
        if stop is not None:
            self.machine.stop_at(stop)
        for _ in range(20_000):
            self.machine.go()
            while (pc := self.machine.stopped(0.05)) is None:
                if done():
                    self.machine.interrupt()
                    return
            if pc == stop:
                self.machine.stop_at(stop, False)
                return
            if pc in self.handlers:
                self._handler(pc)
            else:
                self._note_call(pc)
                self.machine.stop_at(pc, False)
        raise Failure(f"the firmware does not come to an end: {self.text[-300:]}")

    def say(self, command):
        """A command of the benchmark's runner, up to the end of its answer."""
        before = self.text.count("m-ready")
        self.machine.process.stdin.write(command.encode())
        self.until(lambda: self.text.count("m-ready") > before)


def analysed(program, handlers, *roots, work, lines=(), apart=False):
    """What `aotc analyze stack --json` says."""
    command = [common.AOTC, "analyze", "stack", program.elf, "--json", *[w for r in roots for w in ("--root", r)]]
    given = [f"{a:#x}={PRIORITIES.get(n, 2 if n < 14 else 4)}" for a, n in sorted(handlers.items())]
    command += ["--interrupts", ",".join(given)] if given else []
    command += ["--interrupt-stack"] if apart else []
    if lines:
        (work / "calls.txt").write_text("\n".join(lines) + "\n")
        command += ["--indirect", work / "calls.txt"]
    return json.loads(run(*command))


class Table:
    def __init__(self, subtests):
        self.rows, self.subtests = [], subtests

    def check(self, good, what):
        with self.subtests.test():
            assert good, what

    def row(self, project, what, bound, state, measured, problems=()):
        listed = sum(p["kind"] == "indirect-call" for p in problems)
        self.rows.append([project, what, f"{bound:,}", state, str(listed), f"{measured:,}"])
        self.check(bound >= measured and (measured > 0 or what.startswith("handler")) and state != "unbounded", f"{project}, {what}: bound {bound} {state}, measured {measured}: {problems}")
        self.check(all(re.search(r"\(0x[0-9a-f]+\)$|^0x", p["place"]) for p in problems), f"{project}, {what}: places of {problems}")

    def handlers(self, project, watched, found):
        for one in found["interrupts"]:
            if one["address"] in watched.depths:
                self.row(project, f"handler `{one['function']}`", one["bytes"], one["state"], watched.depths[one["address"]], one["problems"])

    def pointers(self, project, watched, reports):
        """What ran is listed, or its target was known: then the caller's bound holds the target's."""
        listed = {p["address"] for r in reports for b in r["roots"] + r["interrupts"] for p in b["problems"]}
        names = watched.program.names
        known = {(watched.program.function_around(at), to) for at, targets in watched.ran.items() if at not in listed for to in targets}
        for caller, target in known:
            bounds = json.loads(common.aotc("analyze", "stack", watched.program.elf, "--json", "--root", f"{caller:#x}", "--root", f"{target:#x}"))["roots"]
            # What is only assumed differs with the root: where pointers lead back to it.
            self.check(bounds[1]["state"] != "proven" or bounds[0]["bytes"] >= bounds[1]["bytes"], f"{project}: {names[caller]} calls {names.get(target)} through a pointer: {bounds}")
        print(f"{project}: {len(watched.ran)} calls through pointers ran, {len(set(watched.ran) & listed)} of them listed, the targets of the "
              "others known", flush=True)

    def print(self):
        for n, row in enumerate([["Firmware", "stack", "bound", "", "calls through pointers", "measured"], *self.rows]):
            print("| " + " | ".join(row) + " |")
            if n == 0:
                print("| :--- | :--- | ---: | :--- | ---: | ---: |")


def benchmark(watched, size):
    watched.until(lambda: "m-ready" in watched.text)
    for command in ["name%", "profile%", *NONSENSE, f"db load {size}%"]:
        watched.say(command)
    for at in range(0, size, 31):
        watched.say(f"db {bytes(i % 251 for i in range(at, min(size, at + 31))).hex()}%")
    for command in ["infer 2 1%", "results%", "db print%"]:
        watched.say(command)
    if "m-results-[" not in watched.text or "e-[" not in watched.text:
        raise Failure(f"no results, or no errors: {watched.text[-500:]}")


def model_of_the_benchmark():
    """The keyword model, or the digits where it is not there; bytes of its input."""
    model = SHARED / "models" / "kws.tflite"
    return (model, 490) if model.exists() else (DIGITS, 64)


def test_mlperf(table, tmp_path):
    model, size = model_of_the_benchmark()
    folder = tmp_path / "mlperf"
    common.aotc("create", model, "--board", "qemu_mps2_an386", "--project", "mlperf-tiny", "-o", folder, "--quiet")
    common.aotc("build", folder, "--quiet")
    program = Program(folder / "build" / "firmware.elf")
    watched = Watched(program, "qemu_mps2_an386", {"all": program.section(".stack")}, counts=False)
    with watched.machine:
        benchmark(watched, size)
        measured = watched.used("all")
    name = f"`mlperf-tiny`, {model.stem}, Cortex-M4"
    found = analysed(program, watched.handlers, work=tmp_path)
    root = found["roots"][0]
    table.row(name, "all, handlers on top", root["with_interrupts"], root["state"], measured, root["problems"])
    table.check(watched.depths, f"{name}: no handler ran")
    table.handlers(name, watched, found)
    table.pointers(name, watched, [found])


# --- Zephyr --------------------------------------------------------------------------------------


def zephyr_check():
    """scripts/zephyr-check, which knows how a tree builds."""
    loader = importlib.machinery.SourceFileLoader("zephyr_check", str(ROOT / "scripts" / "zephyr-check"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("zephyr_check", loader))
    loader.exec_module(module)
    return module


def build_zephyr(zephyr_tree, model, board, kind, work):
    """The linked program of an application, or of one around the module."""
    zephyr = zephyr_check()
    tree, module, python = zephyr_tree
    known = common.board(board)
    name = known["frameworks"]["zephyr"]["board_v2" if zephyr.version_of(tree) >= (3, 6, 99) else "board"]
    project = work / "project"
    common.aotc(model, "--board", board, "-o", project, "--project", kind, "--prefix", "net")
    source, modules = project, [module]
    if kind == "zephyr-module":
        source = work / "user"
        zephyr.module_user(source, "net")
        modules.append(project)
    env = zephyr.environment(types.SimpleNamespace(tree=tree, python=python, work=work), known)
    run("cmake", "-G", "Ninja", "-S", source, "-B", work / "build", f"-DBOARD={name}",
        "-DZEPHYR_MODULES=" + ";".join(map(str, modules)), env=env)
    run("ninja", "-C", work / "build", env=env)
    return work / "build" / "zephyr" / "zephyr.elf"


# Stacks of threads and what each begins with.
THREADS = {"z_main_stack": ("main", "bg_thread_main"), "z_idle_stacks": ("idle", "idle"), "_k_thread_stack_model": ("model", "model_thread")}
INTERRUPTS = "z_interrupt_stacks"


def check_zephyr_program(zephyr_tree, table, model, board, kind, use, work):
    program = Program(build_zephyr(zephyr_tree, model, board, kind, work))
    threads = {s: t for s, t in THREADS.items() if s in program.objects}
    stacks = {s: program.objects[s] for s in [*threads, INTERRUPTS]}
    watched = Watched(program, board, stacks, counts=True)
    with watched.machine:
        # The start runs on the stack of the interrupts, until it is the first thread.
        watched.until(lambda: False, stop=program.functions["bg_thread_main"])
        start = watched.used(INTERRUPTS)
        watched.paint(INTERRUPTS)
        use(watched)
        measured = {s: watched.used(s) for s in stacks}
    core = common.board(board)["cpu"]
    name = f"`{kind}`, {model.stem}, {core.replace('cortex-m', 'Cortex-M')}"
    reports = []
    for stack, (title, entry) in threads.items():
        found = analysed(program, watched.handlers, "z_thread_entry", work=work, apart=True,
                         lines=[f"z_thread_entry: {entry}"])
        reports.append(found)
        root = found["roots"][0]
        table.row(name, f"thread `{title}`", root["with_interrupts"], root["state"], measured[stack], root["problems"])
    first = next(n for n in ("z_prep_c", "z_arm_prep_c") if n in program.functions)
    found = analysed(program, watched.handlers, first, work=work, apart=True)
    reports.append(found)
    root = found["roots"][0]
    table.row(name, "start, on the stack of the handlers", root["with_interrupts"], root["state"], start, root["problems"])
    state = max((i["state"] for i in found["interrupts"]), key=["proven", "assumed", "unbounded"].index)
    problems = {p["address"]: p for i in found["interrupts"] for p in i["problems"]}
    table.row(name, "handlers, one on the other", found["interrupt_stack_bytes"], state, measured[INTERRUPTS], list(problems.values()))
    table.check(watched.depths or kind == "zephyr", f"{name}: no handler ran")  # a demo may end before the first tick
    table.handlers(name, watched, found)
    table.pointers(name, watched, reports)


@pytest.fixture(scope="module", autouse=True)
def programs():
    for program in ("arm-none-eabi-gcc", "qemu-system-arm"):
        if shutil.which(program) is None:
            common.missing(f"'{program}' is not installed")


@pytest.fixture
def table(subtests):
    one = Table(subtests)
    yield one
    one.print()


@pytest.fixture
def zephyr_tree():
    """(the tree, its CMSIS module, a folder with its python3 or None)"""
    tree, module, python = (pathlib.Path(os.environ[name]).absolute() if os.environ.get(name) else None
                            for name in ("AOTC_ZEPHYR", "AOTC_ZEPHYR_CMSIS", "AOTC_ZEPHYR_PYTHON"))
    if not (tree and module and (tree / "VERSION").exists()):
        pytest.skip("AOTC_ZEPHYR names no Zephyr tree, or AOTC_ZEPHYR_CMSIS not its module")
    return tree, module, python


def demo(watched):
    watched.until(lambda: re.search(r"@aotc done status=0\s", watched.text))


def module(watched):
    watched.until(lambda: "stack_unused=" in watched.text)


@pytest.mark.parametrize("kind, use", [("zephyr", demo), ("zephyr-module", module), ("mlperf-tiny-zephyr", None)],
                         ids=["zephyr", "zephyr-module", "mlperf-tiny-zephyr"])
def test_zephyr(kind, use, zephyr_tree, table, tmp_path):
    model, size = (DIGITS, None) if use else model_of_the_benchmark()
    check_zephyr_program(zephyr_tree, table, model, "qemu_mps2_an385", kind,
                         use or (lambda watched: benchmark(watched, size)), tmp_path)
