# SPDX-License-Identifier: Apache-2.0
"""`aotc analyze stack` and `size` on small programs whose answers are known, and on firmware that measures its stack.

The programs of stack/ are compiled for cores of each family. Their answers stand beside them: counted by hand for
assembly, sums of gcc's -fstack-usage for C. aotc-analyze, which disassembles by LLVM, says the same.
"""
import json
import os
import pathlib
import re
import shutil

import common
import pytest
import run_stack
from run_stack import Failure, run

HERE = pathlib.Path(__file__).resolve().parent / "stack"
MODELS = common.ROOT / "tests" / "models"
ARM = ["arm-none-eabi-gcc", "-mthumb", "-nostartfiles", "-Wl,-e,start", "--specs=nosys.specs"]
RISCV = ["riscv64-unknown-elf-gcc", "-misa-spec=2.2", "-march=rv32imac", "-mabi=ilp32", "-nostartfiles",
         "--specs=picolibc.specs", "-Wl,-e,start,--no-gc-sections"]
AVR = ["avr-gcc"]
# name: compiler and flags, assembly
CORES = {
    "m0plus": (ARM + ["-mcpu=cortex-m0plus", "-O2"], "thumb.S"),
    "m0plus-small": (ARM + ["-mcpu=cortex-m0plus", "-Os"], "thumb.S"),
    "m4": (ARM + ["-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16", "-O2"], "thumb.S"),
    "m55": (ARM + ["-mcpu=cortex-m55", "-mfloat-abi=hard", "-O3"], "thumb.S"),
    "rv32": (RISCV + ["-O2"], "riscv.S"),
    "rv32-small": (RISCV + ["-Os", "-msave-restore"], "riscv.S"),
    "mega328": (AVR + ["-mmcu=atmega328p", "-O2"], "avr.S"),
    "mega328-small": (AVR + ["-mmcu=atmega328p", "-Os", "-mcall-prologues"], "avr.S"),
}
FILES = ["programs.c", "other.c"]


class Expected:
    """One `root:` line."""

    def __init__(self, file, line):
        self.file = file
        rest, _, tail = line.partition(";")
        words = tail.split() if tail else rest.split()[1:]
        self.name = rest.split()[0]
        self.state, self.kinds = words[0], set(words[1:])
        what = rest.split(None, 1)[1].strip() if tail and len(rest.split()) > 1 else ""
        self.relation, self.sum = "=", what
        for relation in (">=", "<=", "="):
            if what.startswith(relation):
                self.relation, self.sum = relation, what[len(relation):].strip()
                break

    def values(self, frames):
        def frame(match):
            word = match[0]
            if word == "or":
                return word
            if not word.isdigit() and word not in frames:
                raise Failure(f"{self.name}: gcc wrote no frame of {word}")
            return f"Frame({frames.get(word, word)})"
        # a + b is a sum, a | b the larger.
        text = re.sub(r"[a-z_]\w*|\d+", frame, self.sum)
        return [eval(way, {"Frame": Frame}).bytes for way in text.split(" or ")]


class Frame:
    def __init__(self, number):
        self.bytes = number

    def __add__(self, other):
        return Frame(self.bytes + other.bytes)

    def __or__(self, other):
        return Frame(max(self.bytes, other.bytes))


def expectations(source, defined):
    """Those of a source; assembly's only where the function is in the program."""
    lines = re.findall(r"^\W*root: (.*)$", source.read_text(), re.M)
    found = [Expected(source.name, line) for line in lines]
    if len(found) != len(lines) or not found:
        raise Failure(f"{source.name}: no expectations")
    return [e for e in found if e.name in defined]


def frames_of(work, stem):
    """Bytes of every function of a source, by gcc."""
    out = {}
    for line in (work / f"{stem}.su").read_text().splitlines():
        place, size, _ = line.split("\t")
        function = place.split(":")[-1].split(".")[0]
        out[function] = max(out.get(function, 0), int(size))
    return out


def build(core, work):
    command, assembly = CORES[core]
    link = [f for f in command if f.startswith("-Wl") or f.startswith("--specs") or f == "-nostartfiles"]
    compile_flags = [f for f in command if f not in link or f.startswith("--specs=pico")]
    for name in FILES + [assembly]:
        run(*compile_flags, "-ffunction-sections", "-fstack-usage", "-c", HERE / name, "-o",
            work / (pathlib.Path(name).stem + ".o"), cwd=work)
    elf = work / "programs.elf"
    objects = [work / (pathlib.Path(name).stem + ".o") for name in FILES + [assembly]]
    extra = ["-nostartfiles", "-Wl,-e,start"] if command[0] == "avr-gcc" else []
    run(*command, *extra, *objects, "-o", elf)
    return elf, assembly


def symbols_of(core, elf):
    tool = CORES[core][0][0].replace("-gcc", "-nm")
    return {line.split()[-1] for line in run(tool, elf).stdout.splitlines()}


def check_program(expected, found, frames):
    if found["state"] != expected.state:
        raise Failure(f"{expected.name}: {found['state']}, not {expected.state}: {found['problems']}")
    kinds = {p["kind"] for p in found["problems"]}
    # Where nothing is known of the stack pointer any more, other things are not known either.
    if not (kinds == expected.kinds or (expected.state == "unbounded" and kinds >= expected.kinds)):
        raise Failure(f"{expected.name}: {kinds}, not {expected.kinds}: {found['problems']}")
    if sum(link["bytes"] for link in found["chain"]) != found["bytes"]:
        raise Failure(f"{expected.name}: the chain is not the bound: {found}")
    if not expected.sum or expected.state == "unbounded":
        return
    values, bytes_ = expected.values(frames), found["bytes"]
    value = max(values)
    holds = {"=": bytes_ in values, ">=": bytes_ >= value, "<=": value <= bytes_ <= value + 64}
    if not holds[expected.relation]:
        raise Failure(f"{expected.name}: {found['bytes']} bytes, not {expected.relation} {value}: {found['chain']}")


def check_size(core, aotc, elf, _work):
    """Rows add up to what `size -A` of the toolchain says of each section."""
    report = json.loads(run(aotc, "analyze", "size", "--json", elf).stdout)
    said = {}
    for line in run(CORES[core][0][0].replace("-gcc", "-size"), "-A", elf).stdout.splitlines():
        words = line.split()
        if len(words) == 3 and words[1].isdigit() and int(words[1]):
            said[words[0]] = int(words[1])
    rows = {}
    for row in report["rows"]:
        rows[row["section"]] = rows.get(row["section"], 0) + row["bytes"]
    ours = {s["name"]: s["bytes"] for s in report["sections"]}
    if ours != rows or not ours or any(said.get(name) != size for name, size in ours.items()):
        raise Failure(f"sections {ours}, rows {rows}, size -A {said}")
    totals = report["totals"]
    if sum(totals[k] for k in ("code", "constants", "data", "zero")) != sum(ours.values()):
        raise Failure(f"{totals} is not the sum of {ours}")


def check_limits(_core, aotc, elf, _work):
    totals = json.loads(run(aotc, "analyze", "size", "--json", elf).stdout)["totals"]
    run(aotc, "analyze", "size", elf, "--max-code", totals["flash"], "--max-ram", totals["ram"])
    for option in (["--max-code", totals["flash"] - 1], ["--max-stack", 0, "--root", "chain"],
                   ["--max-stack", 1 << 30, "--root", "recursive"]):
        said = run(aotc, "analyze", "size", elf, *option, code=3).stderr
        if "[does-not-fit]" not in said:
            raise Failure(said)
    for name in ("--max-code", "--max-ram", "--max-stack"):
        for text in ("", " ", "many", "-1", "1.5", "1e9", "1k", "5 ", "99999999999999999999"):
            for given in ([name, text], [f"{name}={text}"]):
                said = run(aotc, "analyze", "size", elf, *given, code=2)
                wanted = f"option '{name}' needs a value" if given == [f"{name}="] else f"{name}: "
                if wanted not in said.stderr or "[usage]" not in said.stderr or said.stdout:
                    raise Failure(f"{given}: {said}")
    run(aotc, "analyze", "size", elf, "--max-stack", 1 << 30, "--root", "chain")
    said = run(aotc, "analyze", "size", elf, "--compare", elf).stdout
    if "0 rows differ in size" not in said:
        raise Failure(said[-300:])


def check_messages(_core, aotc, elf, work):
    """What a user gets wrong, and what --strict and --indirect do."""
    run(aotc, "analyze", "stack", elf, "--root", "chain", "--strict")
    for root in ("through_parameter", "recursive"):
        run(aotc, "analyze", "stack", elf, "--root", root, "--strict", code=3)
    lines = work / "calls.txt"
    lines.write_text("# what the table holds\nthrough_parameter: of_table_a\n")
    run(aotc, "analyze", "stack", elf, "--root", "through_parameter", "--strict", "--indirect", lines)
    one = json.loads(run(aotc, "analyze", "stack", elf, "--root", "through_parameter", "--json",
                         "--indirect", lines).stdout)["roots"][0]
    if [link["function"] for link in one["chain"]][:2] != ["through_parameter", "of_table_a"]:
        raise Failure(f"{one['chain']}")
    levels = json.loads(run(aotc, "analyze", "stack", elf, "--root", "nothing", "--json", "--interrupts",
                            "chain=1,nothing=1", "--interrupts", "huge=2").stdout)
    by_name = {i["function"]: i["bytes"] + i["frame_bytes"] for i in levels["interrupts"]}
    wanted = levels["roots"][0]["bytes"] + max(by_name["chain"], by_name["nothing"]) + by_name["huge"]
    if levels["roots"][0]["with_interrupts"] != wanted:
        raise Failure(f"{levels['roots'][0]['with_interrupts']} with interrupts, not {wanted}")
    check_own_stack(aotc, elf)
    lines.write_text("through_parameter of_table_a\nnobody: nowhere\n")
    for options, code, text in ((["--root", "no_such"], 1, "[function-unknown]"),
                                (["--indirect", lines], 1, "calls.txt:1"),
                                (["--interrupts", "chain=x"], 2, "HANDLER=PRIORITY"),
                                (["--objdump", "no-such-objdump"], 5, "[tool-missing]"),
                                (["--objdump", "false"], 1, "[tool-failed]")):
        said = run(aotc, "analyze", "stack", elf, *options, code=code).stderr
        if text not in said:
            raise Failure(f"{options}: {said}")
    check_odd_name(aotc, elf, work)


def check_own_stack(aotc, elf):
    """--interrupt-stack: the root gets one frame, and all else of the handlers is on the other stack."""
    given = ["analyze", "stack", elf, "--root", "chain", "--interrupts", "nothing=1,huge=2", "--interrupt-stack"]
    found = json.loads(run(aotc, *given, "--json").stdout)
    handlers = found["interrupts"]
    frame = handlers[0]["frame_bytes"]
    apart = sum(i["bytes"] + frame for i in handlers) - frame
    if (found["roots"][0]["with_interrupts"] != found["roots"][0]["bytes"] + frame or found["interrupt_stack_bytes"] != apart
            or f"the stack of the interrupts: {apart:,} bytes" not in run(aotc, *given).stdout):
        raise Failure(f"{apart} bytes expected on the stack of the interrupts: {found}")
    alone = json.loads(run(aotc, *given[:5], "--interrupt-stack", "--json").stdout)
    if alone["interrupt_stack_bytes"] != 0 or alone["roots"][0]["with_interrupts"] != alone["roots"][0]["bytes"]:
        raise Failure(f"without interrupts: {alone}")


def check_vector_bits(aotc, elf):
    """--vector-bits states what is assumed otherwise; frames grow with it."""
    given = ["analyze", "stack", elf, "--root", "asm_vectors"]
    for bits, bytes_ in ((32, 16 + 12 * 4), (128, 16 + 12 * 16), (512, 16 + 12 * 64)):
        found = json.loads(run(aotc, *given, "--strict", "--json", "--vector-bits", bits).stdout)["roots"][0]
        if (found["bytes"], found["state"]) != (bytes_, "proven"):
            raise Failure(f"{bits} bits: {found}")
    run(aotc, *given, "--strict", code=3)
    for bits in (0, 96, 16, 1 << 20, -128):
        if "--vector-bits" not in run(aotc, *given, "--vector-bits", bits, code=2).stderr:
            raise Failure(f"{bits} bits are accepted")


def check_stripped(core, aotc, elf, work):
    """Without symbols a root is an address, and where no table is jumped through the bound is the same."""
    known = json.loads(run(aotc, "analyze", "stack", elf, "--root", "chain", "--json").stdout)["roots"][0]
    bare = work / "stripped.elf"
    run(CORES[core][0][0].replace("-gcc", "-strip"), "-o", bare, elf)
    found = json.loads(run(aotc, "analyze", "stack", bare, "--root", hex(known["address"]), "--json").stdout)["roots"][0]
    if (found["bytes"], found["state"]) != (known["bytes"], known["state"]):
        raise Failure(f"{found}, with symbols {known}")


def check_odd_name(aotc, elf, work):
    """JSON is UTF-8 whatever the file is called."""
    odd = pathlib.Path(os.fsdecode(os.fsencode(str(work)) + b"/odd\xff.elf"))
    shutil.copy(elf, odd)
    for command in (["stack", "--root", "chain"], ["size"]):
        report = json.loads(run(aotc, "analyze", command[0], odd, "--json", *command[1:]).stdout)
        if not report["file"].endswith("odd\ufffd.elf"):
            raise Failure(f"{report['file']!r}")


@pytest.fixture(scope="module", autouse=True)
def compilers():
    missing = sorted({command[0] for command, _ in CORES.values() if not shutil.which(command[0])})
    if missing:
        common.missing(f"{', '.join(missing)} not installed")


@pytest.mark.parametrize("core", CORES)
def test_core(core, build_folder, tmp_path, subtests):
    elf, assembly = build(core, tmp_path)
    defined = symbols_of(core, elf)
    everything = []
    for name in FILES + [assembly]:
        frames = frames_of(tmp_path, pathlib.Path(name).stem) if name.endswith(".c") else {}
        everything += [(e, frames) for e in expectations(HERE / name, defined)]
    roots = [word for e, _ in everything for word in ("--root", e.name)]
    report = json.loads(run(common.AOTC, "analyze", "stack", "--json", elf, *roots).stdout)
    assert len(report["roots"]) == len(everything)
    for (expected, frames), found in zip(everything, report["roots"]):
        with subtests.test(expected.name):
            check_program(expected, found, frames)
    analyze = build_folder / "compiler" / "aotc-analyze"
    if analyze.exists():
        by_llvm = json.loads(run(analyze, "stack", "--json", elf, *roots).stdout)
        for a, b in zip(report["roots"], by_llvm["roots"], strict=True):
            with subtests.test(a["function"]):
                assert a == b
        run(build_folder / "tests" / "decoders_test", elf)
    if assembly == "riscv.S":
        with subtests.test("check_vector_bits"):
            check_vector_bits(common.AOTC, elf)
    for check in (check_size, check_limits, check_messages, check_stripped):
        with subtests.test(check.__name__):
            check(core, common.AOTC, elf, tmp_path)


def measured(model, boards, level=""):
    """Cases of test_firmware."""
    return [pytest.param(MODELS / f"{model}.tflite", board, level, id=f"{model.split('/')[1]}-{board}-{level or 'default'}")
            for board in boards]


@pytest.mark.parametrize("model, board, level", [
    *measured("digits/digits_int8", ["qemu_microbit", "qemu_mps2_an386", "qemu_riscv32"]),
    *measured("digits/digits_f32", ["qemu_microbit", "qemu_mps3_an547"]),
    *measured("gadget/gadget_f32", ["qemu_mps2_an386"])])
def test_firmware(model, board, level, tmp_path):
    assert run_stack.check_firmware(model, board, level, common.AOTC, tmp_path)


# All models, boards and levels are a long lane (tests/reliability/lanes.py).
@pytest.mark.parametrize("model, board, level", [case for level in ("size", "balanced", "speed") for case in (
    *measured("digits/digits_int8", ["qemu_mps2_an385", "qemu_mps2_an386", "qemu_mps3_an547"], level),
    *measured("digits/digits_f32", ["qemu_mps2_an386"], level))])
def test_levels(model, board, level, tmp_path):
    assert run_stack.check_firmware(model, board, level, common.AOTC, tmp_path)
