#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds and runs the bare-metal template around a hand-written model on every board.

Usage: run_boards.py [--boards a,b] [--work DIR] [--quick | --long]

Shows that every board gives the same bytes, that instruction counts are exact, that stack, guards,
failures and faults are reported, and that the options of the template work. A missing toolchain or
emulator is a failure that says what to install. --quick leaves out the runs that are long enough
for a counter to wrap; --long adds a run of 3e9 instructions per board.
"""
import argparse
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from instantiate import ROOT, instantiate  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
OUTPUT, TIMING, SUMMARY = 0xFFFFFFFE, 0xFFFFFFFD, 0xFFFFFFFF
SAMPLES = [bytes((i * 37 + s * 91 + 5) % 256 for i in range(64)) for s in range(3)]
LABELS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]


class Results:
    def __init__(self):
        self.passed = 0
        self.failed = 0

    def check(self, good, what, detail=""):
        if good:
            self.passed += 1
            print(f"pass: {what}")
        else:
            self.failed += 1
            print(f"FAIL: {what}" + (f"\n      {detail}" if detail != "" else ""))
        sys.stdout.flush()
        return good


# --- What the model computes, once more ----------------------------------------------------------


def toy_bias():
    text = (HERE / "toy_model" / "toy_data.c").read_text()
    return [int(n) for n in re.findall(r"-?\d+", text.split("= {")[1])]


def c_divide(a, b):
    return abs(a) // b * (1 if a >= 0 else -1)


def clamp(value):
    return max(-128, min(127, value))


def toy_reference(sample):
    pixels = struct.unpack("64b", sample)
    scaled = [clamp(c_divide(p * 3, 2) + b) for p, b in zip(pixels, toy_bias())]
    scratch = [scaled[i % 64] * (i + 1) for i in range(128)]
    values = [c_divide(scratch[i * 7] + scratch[127 - i * 5], 64) for i in range(10)]
    single = struct.unpack("f", struct.pack("f", 0.37))[0]
    return (struct.pack("64b", *scaled), struct.pack("10b", *map(clamp, values)),
            struct.pack("<f", sum(values) * single))


def expected_records():
    records = []
    for s, sample in enumerate(SAMPLES):
        scaled, scores, level = toy_reference(sample)
        records += [(s, 0, 0, scaled), (s, 1, 0, scores), (s, 1, 1, level),
                    (s, OUTPUT, 0, scores), (s, OUTPUT, 1, level)]
    return records


def input_file(samples, promised=None):
    return struct.pack("<2I", 0x43544F41, promised or len(samples)) + b"".join(samples)


def parse_output(data):
    assert struct.unpack_from("<I", data)[0] == 0x52544F41, "magic"
    at, records = 4, []
    while at < len(data):
        sample, op, result, size = struct.unpack_from("<4I", data, at)
        assert at + 16 + size <= len(data), "record ends after the file"
        records.append((sample, op, result, data[at + 16:at + 16 + size]))
        at += 16 + size
    return records


# --- One board -----------------------------------------------------------------------------------


def run_until(command, text):
    """Ends a program that has written a line with `text`; one that ends before keeps its exit code."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
    said = ""
    for line in process.stdout:
        said += line
        if text in line:
            break
    ended = text not in said or process.poll() is not None
    process.kill()
    process.stdout.close()
    code = process.wait()
    return subprocess.CompletedProcess(command, code if ended else "ended here", said, "")


class Board:
    def __init__(self, name, work, results):
        self.name = name
        self.results = results
        self.folder = work / name
        self.data = json.loads((ROOT / "boards" / name / "board.json").read_text())
        self.emulated = self.data["clock"]["unit"] == "instructions"
        self.generator = "Ninja" if shutil.which("ninja") else "Unix Makefiles"

    def check(self, good, what, detail=""):
        return self.results.check(good, f"{self.name}: {what}", detail)

    def missing(self):
        """What is not installed, as a message, or nothing."""
        compiler = self.data["toolchain"]["compiler"]
        program = self.data["emulator"]["program"]
        for tool, packages in ((compiler, self.data["toolchain"]["packages"]),
                               (program, self.data["emulator"]["packages"]), ("cmake", ["cmake"])):
            if "{" not in tool and shutil.which(tool) is None:
                return f"'{tool}' is not installed; it is in: {' '.join(packages)}"
        return None

    def configure(self, project, *arguments):
        command = ["cmake", "-G", self.generator, "-S", project, "-B", project / "build",
                   "-DCMAKE_COMPILE_WARNING_AS_ERROR=ON", *arguments]
        return subprocess.run(command, capture_output=True, text=True)

    def build(self, project):
        return subprocess.run(["cmake", "--build", project / "build", "-j2"],
                              capture_output=True, text=True)

    def create(self, folder, *arguments, model="toy", samples=SAMPLES, **options):
        shutil.rmtree(folder, ignore_errors=True)
        instantiate(self.name, HERE / f"{model}_model", model, folder, options, samples, LABELS)
        configured = self.configure(folder, *arguments)
        if configured.returncode != 0:
            return configured
        return self.build(folder)

    def variant(self, *lines):
        """Rebuilds the firmware around a variant of the model."""
        text = "".join(f"#define {line}\n" for line in lines)
        (self.folder / "model" / "toy_variant.h").write_text(text)
        built = self.build(self.folder)
        return self.check(built.returncode == 0, f"builds the variant {' '.join(lines)}",
                          built.stdout + built.stderr)

    def run(self, *arguments, project=None, seconds=600, until=None):
        """Runs the firmware; one that does not end by itself is ended behind the text `until`."""
        image = (project or self.folder) / "build" / "firmware.elf"
        emulator = self.data["emulator"]
        command = []
        for item in emulator["argv"]:
            if item == "{arguments}":
                command += [str(a) for a in arguments]
            else:
                extra = "".join(f",arg={a}" for a in ("fw", *arguments)) if arguments else ""
                command.append(item.format(image=image, arguments=extra))
        if until:
            return run_until(command, until)
        try:
            return subprocess.run(command, capture_output=True, text=True, timeout=seconds,
                                  stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired as late:
            text = (late.stdout or b"").decode()
            return subprocess.CompletedProcess(command, "timeout", text, "")

    def verify(self, data=None, seconds=600):
        """Exit code and records of a verify run."""
        source, target = self.folder / "in.bin", self.folder / "out.bin"
        source.write_bytes(input_file(SAMPLES) if data is None else data)
        target.unlink(missing_ok=True)
        ran = self.run("verify", source, target, seconds=seconds)
        records = []
        if ran.returncode == 0 and target.exists():
            records = parse_output(target.read_bytes())
        return ran, records


def figures(text):
    """All key=value pairs of the @aotc lines; of equal keys the last."""
    pairs = {}
    for line in text.splitlines():
        if line.startswith("@aotc "):
            pairs |= dict(re.findall(r"(\w+)=(\S+)", line))
    return pairs


def summary(records):
    sample, op, _, data = records[-1]
    assert op == SUMMARY and len(data) == 24
    status, stack, guards, zero, length = struct.unpack("<iIIIQ", data)
    return {"sample": sample, "status": status, "stack": stack, "guards": guards, "zero": zero,
            "length": length}


# --- Tests of a board ----------------------------------------------------------------------------


def test_demo(board):
    ran = board.run()
    found = figures(ran.stdout)
    board.check(ran.returncode == 0, "demo exits with 0", f"{ran.returncode} {ran.stdout}")
    scores = [list(struct.unpack("10b", toy_reference(s)[1])) for s in SAMPLES]
    best = [row.index(max(row)) for row in scores]
    shown = re.findall(r"@aotc sample=(\d) output=scores largest=(\d+) value=(\S+)", ran.stdout)
    expected = [(str(s), str(b), f"{(max(row) + 128) / 256:.6f}")
                for s, (b, row) in enumerate(zip(best, scores))]
    same = len(shown) == 3 and all(
        a[:2] == e[:2] and abs(float(a[2]) - float(e[2])) < 2e-6 for a, e in zip(shown, expected))
    board.check(same, "demo predicts as the reference does", f"{shown} {expected}")
    board.check(f"scores largest [{best[0]}] '{LABELS[best[0]]}' of" in ran.stdout and
                "level largest [0] of" in ran.stdout, "demo names the class", ran.stdout)
    stack = int(found.get("stack_bytes", 0))
    board.check(512 <= stack <= 768, "demo finds the stack that the model uses", stack)
    board.check(found.get("guard_ok") == "1" and found.get("arena_bytes") == "64",
                "demo reports arena and guards", found)
    return found


def test_verify(board, demo_figures):
    ran, records = board.verify()
    if not board.check(ran.returncode == 0 and records, "verify exits with 0",
                       f"{ran.returncode} {ran.stdout} {ran.stderr}"):
        return b""
    results = [r for r in records if r[1] not in (TIMING, SUMMARY)]
    board.check(results == expected_records(), "verify writes every result, as the reference")
    end = summary(records)
    board.check((end["sample"], end["status"], end["guards"], end["zero"]) == (3, 0, 1, 0),
                "verify ends with a good summary", end)
    timing = {r[2]: struct.unpack("<Q", r[3])[0] for r in records if r[1] == TIMING}
    board.check(sorted(timing) == [0, 1], "verify times every operator", timing)
    if board.emulated:
        board.check(end["stack"] == int(demo_figures["stack_bytes"]) and
                    end["length"] == int(demo_figures["instructions"]),
                    "verify and demo measure the same", f"{end} {demo_figures}")
        difference = abs(sum(timing.values()) - end["length"])
        board.check(difference <= 40, "operator times add up to the run without the hook",
                    f"{timing} {end['length']}")
        first = (board.folder / "out.bin").read_bytes()
        board.verify()
        board.check(first == (board.folder / "out.bin").read_bytes(), "verify repeats to the byte")
    return b"".join(struct.pack("<4I", *r[:3], len(r[3])) + r[3] for r in results)


def test_counts(board, length):
    """A run of known length, at every position inside of a tick and across the counter's end."""
    if not board.emulated:
        return
    hz = board.data["clock"]["hz"]
    wrap = (1 << 24) * 10**9 // hz if hz else 1 << 30
    loops = [(4096, nops) for nops in (0, 1, 2, 13)]
    if length != "quick":
        loops.append(((wrap + wrap // 16) // 8192 * 4096, 7))
    if length == "long":
        loops.append((3 * 10**9 // 8192 * 4096, 11))
    for count, nops in loops:
        if board.variant(f"TOY_LOOPS {count}", f"TOY_NOPS {nops}"):
            ran, records = board.verify(input_file(SAMPLES[:1]))
            expected = 2 * count + 3 + nops
            measured = summary(records) if records else {}
            board.check(measured.get("length") == expected and measured.get("stack") == 0,
                        f"counts {expected} instructions and no stack, exactly",
                        f"measured {measured}, exit code {ran.returncode} {ran.stderr}")


def test_failures(board):
    if board.variant("TOY_OVERRUN"):
        ran, records = board.verify()
        board.check(records and summary(records)["guards"] == 0, "finds a write behind the arena",
                    f"{ran.returncode} {ran.stdout}")
        ran = board.run()
        board.check(ran.returncode == 1 and figures(ran.stdout).get("guard_ok") == "0",
                    "demo fails on a write behind the arena", ran.stdout)
    if board.variant("TOY_UNDERRUN"):
        ran, records = board.verify()
        board.check(records and summary(records)["guards"] == 0, "finds a write before the arena",
                    f"{ran.returncode} {ran.stdout}")
    if board.variant("TOY_LIBRARY"):
        ran, records = board.verify()
        board.check(records and summary(records)["status"] == 0 and
                    summary(records)["guards"] == 1,
                    "initialised data and the C library work",
                    summary(records) if records else ran.stdout)
    if board.variant("TOY_FAIL"):
        ran, records = board.verify()
        board.check(records and summary(records)["status"] == -7 and
                    [r[1] for r in records if r[1] < TIMING] == [0],
                    "a failing operator ends the run with its status", records)
        ran = board.run()
        board.check(ran.returncode == 1 and figures(ran.stdout).get("status") == "-7",
                    "demo exits with 1 when an operator fails", ran.stdout)
    if board.emulated and board.variant("TOY_FAULT"):
        ran = board.run()
        board.check(ran.returncode == 3 and "@aotc error=fault" in ran.stdout,
                    "a fault is reported with exit code 3", f"{ran.returncode} {ran.stdout}")


def test_usage(board):
    ran = board.run("nonsense")
    board.check(ran.returncode == 2, "an unknown mode exits with 2", ran.returncode)
    ran = board.run("verify", board.folder / "absent.bin", board.folder / "out.bin")
    board.check(ran.returncode == 4 and "cannot open" in ran.stdout,
                "an absent input file exits with 4", f"{ran.returncode} {ran.stdout}")
    for what, data in (("short", input_file(SAMPLES, 4)), ("wrong", b"x" * 100)):
        ran, _ = board.verify(data)
        board.check(ran.returncode == 4, f"a {what} input file exits with 4",
                    f"{ran.returncode} {ran.stdout}")


def test_lean(board):
    project = board.folder.parent / (board.name + "_lean")
    built = board.create(project, "-DAOTC_VERIFY=OFF")
    if board.check(built.returncode == 0, "builds without verify", built.stdout + built.stderr):
        ran = board.run(project=project)
        board.check(ran.returncode == 0 and figures(ran.stdout).get("stack_bytes"),
                    "the demo runs without verify", ran.stdout)
        ran = board.run("verify", "a", "b", project=project)
        board.check(ran.returncode == 2, "verify is refused when left out", ran.stdout)
    prefix = board.data["toolchain"]["prefix"]
    for label, folder in (("with verify", board.folder), ("without", project)):
        if board.emulated:
            sizes = subprocess.run([prefix + "size", folder / "build" / "firmware.elf"],
                                   capture_output=True, text=True).stdout.split("\n")[1].split()
            print(f"size: {board.name} {label}: text {sizes[0]} data {sizes[1]} "
                  f"bss {sizes[2]} (bss holds the stack of {board.data['stack_bytes']})")


def test_options(board):
    """Options that mean the same on all boards, tried on one of each architecture."""
    project = board.folder.parent / (board.name + "_console")
    built = board.create(project, console="semihosting")
    ran = board.run(project=project)
    # Semihosting text comes out on QEMU's own stderr or stdout, by version.
    board.check(built.returncode == 0 and "@aotc" in ran.stdout + ran.stderr,
                "the console can be semihosting", built.stdout + built.stderr)
    project = board.folder.parent / (board.name + "_alone")
    built = board.create(project, semihosting="false")
    ran = board.run(project=project, until="status=0")
    board.check(built.returncode == 0 and ran.returncode == "ended here" and
                "status=0" in ran.stdout, "runs the demo without semihosting",
                f"{built.stdout}{built.stderr}{ran.stdout}")
    project = board.folder.parent / (board.name + "_makefile")
    board.generator, generator = "Unix Makefiles", board.generator
    built = board.create(project)
    board.generator = generator
    board.check(built.returncode == 0, "builds with make", built.stdout + built.stderr)


def test_small_stack(board):
    project = board.folder.parent / (board.name + "_stack")
    built = board.create(project, stack_size="256")
    ran = board.run(project=project)
    board.check(built.returncode == 0 and ran.returncode not in (0, "timeout") and
                "status=0" not in ran.stdout, "a stack overflow does not pass for success",
                f"{built.stderr} {ran.returncode} {ran.stdout}")


def test_board(name, work, results, length):
    board = Board(name, work, results)
    missing = board.missing()
    if missing:
        board.check(False, "toolchain and emulator are installed", missing)
        return b""
    built = board.create(board.folder)
    if not board.check(built.returncode == 0, "builds without a warning",
                       built.stdout + built.stderr):
        return b""
    found = test_demo(board)
    data = test_verify(board, found)
    test_usage(board)
    test_lean(board)
    test_types(board)
    if name in ("qemu_mps2_an386", "qemu_riscv32"):
        test_options(board)
    if board.data["platform"] == "cortex_m":
        test_small_stack(board)
    test_memories(board, length)
    test_failures(board)
    test_counts(board, length)
    return data


def test_types(board):
    """Every type of element, several inputs, an empty arena."""
    project = board.folder.parent / (board.name + "_types")
    sample = struct.pack("<2f3h", 1.5, -2.25, 300, -7, 129)
    built = board.create(project, model="mix", samples=[sample])
    if not board.check(built.returncode == 0, "builds a model of many types",
                       built.stdout + built.stderr):
        return
    text = board.run(project=project).stdout
    shown = re.findall(r"sample 0: (\w+) largest \[(\d)\] of(.*)", text)
    expected = [("sum", "0", [3.0, -0.75]), ("small", "0", [2.99, -0.08, 1.28]),
                ("plain", "1", [-139700, -70007]), ("bytes", "1", [-42.0, 60.5]),
                ("flags", "0", [1, 0]), ("wide", "0", [3e12, -7e10]), ("index", "0", [4e9])]
    same = len(shown) == len(expected)
    for (name, best, values), wanted in zip(shown, expected):
        same = same and (name, best) == wanted[:2] and all(
            abs(float(v) - w) <= 2e-6 * max(1, abs(w))
            for v, w in zip(values.split(), wanted[2], strict=True))
    board.check(same, "shows elements of every type", text)
    data = board.folder / "mix_in.bin"
    data.write_bytes(input_file([sample]))
    target = board.folder / "mix_out.bin"
    ran = board.run("verify", data, target, project=project)
    outputs = struct.pack("<2f3h2x2i2B2x2B2x4x2qI", 3.0, -0.75, 299, -8, 128, -139700, -70007, 44,
                          249, 1, 0, 3 * 10**12, -7 * 10**10, 4 * 10**9)
    records = parse_output(target.read_bytes()) if ran.returncode == 0 else []
    written = [r[3] for r in records if r[1] == OUTPUT]
    padded = written and b"".join(
        d.ljust(size, b"\0") for d, size in zip(written, (8, 8, 8, 4, 8, 16, 4)))
    board.check(padded == outputs and summary(records)["guards"] == 1,
                "writes elements of every type", f"{written} {outputs}")


def test_memories(board, length):
    """Every RAM holds as much as it says; slow on large ones, so only the start of those."""
    for memory in board.data["memories"]:
        if memory["kind"] != "ram":
            continue
        project = board.folder.parent / f"{board.name}_{memory['name']}"
        taken = 256
        if memory["name"] == board.data["placement"]["data"]:
            taken += board.data["stack_bytes"] + 2048
        size = min(memory["size"] - taken, (32 if length == "long" else 4) << 20)
        board.create(project, arena=memory["name"])
        (project / "model" / "toy_variant.h").write_text(f"#define TOY_ARENA_SIZE {size}u\n")
        built = board.build(project)
        ran = board.run(project=project)
        found = figures(ran.stdout)
        board.check(built.returncode == 0 and ran.returncode == 0 and
                    found.get("arena_bytes") == str(size) and found.get("guard_ok") == "1",
                    f"{memory['name']} holds an arena of {size} bytes",
                    f"{built.stdout[-400:]} {ran.returncode} {ran.stdout[-400:]}")
    if board.emulated:
        project = board.folder.parent / f"{board.name}_too_large"
        board.create(project)
        size = max(m["size"] for m in board.data["memories"])
        (project / "model" / "toy_variant.h").write_text(f"#define TOY_ARENA_SIZE {size}u\n")
        built = board.build(project)
        board.check(built.returncode != 0 and "will not fit in region" in built.stdout,
                    "an arena that does not fit is refused by the linker", built.stdout)


def test_printing(work, results):
    """print.c against Python's own formatting, on this machine."""
    if shutil.which("cc") is None:
        results.check(False, "printing: a C compiler is installed", "'cc' is in: gcc")
        return
    folder = work / "printing"
    instantiate("host", HERE / "toy_model", "toy", folder)
    command = ["cc", "-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-DAOTC_VERIFY=0",
               f"-I{folder / 'src'}", f"-I{folder / 'model'}", HERE / "print_test.c",
               folder / "src" / "print.c", "-o", folder / "print_test"]
    built = subprocess.run(command, capture_output=True, text=True)
    if not results.check(built.returncode == 0, "printing: builds", built.stderr):
        return
    whole = [("u", 0), ("u", 2**64 - 1), ("i", -2**63), ("i", 2**63 - 1), ("i", -1), ("i", 10)]
    reals = [0.0, -0.0, 1.0, -1.0, 0.5, 0.999999, 0.9999999, 123456.789, 999999.9, 1e6, 3.4e38,
             -1.5e-4, 9.9e-5, 1.2e-38, 1e-45, 7.0649e8, float("inf"), float("-inf"), float("nan")]
    arguments = [str(a) for pair in whole + [("f", r) for r in reals] for a in pair]
    lines = subprocess.run([folder / "print_test", *arguments], capture_output=True,
                           text=True).stdout.split()
    results.check(lines[:len(whole)] == [str(n) for _, n in whole], "printing: whole numbers",
                  lines)
    for text, real in zip(lines[len(whole):], reals, strict=True):
        single = struct.unpack("f", struct.pack("f", real))[0]
        close = repr(float(text)) == repr(single) or (
            abs(float(text) - single) <= max(1e-6, abs(single) * 2e-6)
            if abs(single) >= 1e-4 else abs(float(text) - single) <= abs(single) * 1e-5)
        results.check(close, f"printing: {real}", text)


def test_data(results, names):
    """A board folder holds data only, and every board has the same fields."""
    reference = json.loads((ROOT / "boards" / "qemu_mps2_an386" / "board.json").read_text())
    reference.pop("frameworks")
    template = json.loads((ROOT / "templates" / "bare_metal" / "template.json").read_text())
    for name in names:
        files = sorted(p.name for p in (ROOT / "boards" / name).iterdir())
        results.check(files == ["board.json"], f"{name}: the folder holds data only", files)
        data = json.loads((ROOT / "boards" / name / "board.json").read_text())
        parts = data.pop("parts", [])
        for optional in ("frameworks", "note", "aliases", "relatives", "project"):
            data.pop(optional, None)
        results.check(list(data) == list(reference), f"{name}: has the fields of every board",
                      set(data) ^ set(reference))
        results.check(set(parts) <= set(template["parts"]), f"{name}: has parts of the template",
                      parts)
        regions = {m["name"] for m in data["memories"]}
        results.check(set(data["placement"].values()) <= regions,
                      f"{name}: is placed in memories that it has", data["placement"])


def runs(board):
    """Has the board an emulator of its own, for firmware of this template?"""
    emulator = board.get("emulator", {})
    return board["platform"] in ("host", "cortex_m", "riscv") and emulator.get("argv") and \
        not emulator.get("stand_in")


def main():
    every = sorted(p.parent.name for p in (ROOT / "boards").glob("*/board.json")
                   if runs(json.loads(p.read_text())))
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--boards", default=",".join(every))
    parser.add_argument("--work")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    length = "long" if options.long else "quick" if options.quick else "normal"
    names = options.boards.split(",")
    results = Results()
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(options.work or temporary).resolve()
        work.mkdir(parents=True, exist_ok=True)
        test_data(results, names)
        test_printing(work, results)
        outputs = {name: test_board(name, work, results, length) for name in names}
    reference = "host" if "host" in names else names[0]
    for name in names:
        if name != reference:
            results.check(outputs[name] == outputs[reference] and outputs[reference],
                          f"{name}: gives the bytes that {reference} gives")
    print(f"{results.passed} passed, {results.failed} failed")
    return 1 if results.failed else 0


if __name__ == "__main__":
    sys.exit(main())
