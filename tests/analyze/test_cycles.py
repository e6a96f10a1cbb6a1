# SPDX-License-Identifier: Apache-2.0
"""`aotc analyze cycles` on the firmware of projects: what it counts is what the firmware counts itself.

For every board a project of the digits sample is built and run; the firmware prints how many instructions one inference
took. The same number, with parts that add up to it, is to come from the plugin's counts. Then command lines that are to
be refused. With aotc-analyze, the cycles by LLVM's models: where there is one, what the reason is elsewhere, and that a loop takes
what llvm-mca says.
"""
import json
import os
import shutil

import common
import pytest

MODEL = common.ROOT / "tests" / "models" / "digits" / "digits_int8.tflite"
KINDS = ("load", "store", "multiply", "branch")
BOARDS = ("qemu_mps2_an386", "qemu_microbit", "qemu_mps3_an547", "qemu_riscv32")
PROGRAMS = ("arm-none-eabi-gcc", "riscv64-unknown-elf-gcc", "qemu-system-arm", "qemu-system-riscv32", "cc")


@pytest.fixture(scope="module", autouse=True)
def programs():
    for program in PROGRAMS:
        if shutil.which(program) is None:
            common.missing(f"'{program}' is not installed")


@pytest.fixture(scope="module")
def analyze(build_folder):
    program = build_folder / "compiler" / "aotc-analyze"
    if not program.exists():
        common.skip("aotc-analyze is not built")
    return program


@pytest.fixture(scope="module")
def firmware(tmp_path_factory):
    """The folder of a board's project, which is built when it is first asked for."""
    work, made = tmp_path_factory.mktemp("firmware"), {}

    def of(board):
        if board not in made:
            common.aotc("create", MODEL, "--board", board, "-o", work / board, "--quiet")
            common.aotc("build", work / board, "--quiet")
            made[board] = work / board
        return made[board]
    return of


def aotc(*arguments, code=0, **options):
    done = common.aotc(*arguments, expect=None, **options)
    assert done.returncode == code, done.stdout[-1500:] + done.stderr[-1500:]
    return done


def json_of(*arguments, **options):
    return json.loads(aotc(*arguments, "--json", **options).stdout)


def expect(what, is_so):
    assert is_so, what


def check_estimate(report, measured):
    """What was estimated before anything was compiled is within a tenth, by instructions that are counted."""
    estimated, cycles = report["estimated_cycles"], measured["cycles"]
    expect(f"{estimated:,} cycles estimated, {cycles:,} of the firmware", abs(estimated - cycles) < 0.1 * cycles)
    expect("a layer without an estimate", all(layer["estimated_cycles"] > 0 for layer in report["layers"]))
    layers = sum(layer["estimated_cycles"] for layer in report["layers"])
    expect(f"layers are estimated at {layers:,} cycles", layers == estimated)


@pytest.mark.parametrize("board", BOARDS)
def test_firmware(board, firmware):
    folder = firmware(board)
    counted = json_of("run", folder)["instructions"]
    j = json_of("analyze", "cycles", folder / "build" / "firmware.elf")
    expect(f"{j['instructions']:,} instructions, and the firmware counts {counted:,}", j["instructions"] == counted)
    expect("something was not disassembled", j["unknown_instructions"] == 0)
    expect("not every layer was seen", all(j["layers"]) and len(j["layers"]) == 11)
    inside = sum(f["instructions"] for f in j["functions"])
    expect(f"functions have {inside:,} instructions", inside == counted)
    layers = sum(layer["instructions"] for layer in j["layers"])
    expect(f"layers have {layers:,} instructions, and all {counted:,}", 0 <= counted - layers < 400)
    cycles = sum(f["cycles"] for f in j["functions"])
    expect("functions do not add up to the cycles", abs(cycles - j["cycles"]) <= len(j["functions"]))
    kinds = sum(j[f"{kind}_cycles"] for kind in KINDS)
    expect("parts are more than the whole", 0 < kinds <= j["cycles"] + len(KINDS))
    lines = sum(f["code_lines"] for f in j["functions"])
    expect(f"functions have {lines:,} of {j['code_lines']:,} lines", lines == j["code_lines"])
    # Two to eight instructions stand in a line, and a branch leaves it earlier.
    expect(f"{lines:,} lines of code for {counted:,} instructions", counted / 8 < lines < counted)
    expect("a loop without its function", all(not loop["function"].startswith("0x") for loop in j["loops"]))
    expect("an implausible number of cycles", 0.5 * counted < j["cycles"] < 3 * counted)
    expect("no loop", j["loops"] and j["loops"][0]["cycles"] > 0.05 * j["cycles"])
    check_estimate(json_of("report", folder, "--no-alternatives"), j)
    one = j["layers"][4]
    again = json_of("analyze", "cycles", folder, "--root", one["function"])
    expect(f"{one['function']} alone has {again['instructions']:,} instructions",
           again["instructions"] == one["instructions"])


@pytest.mark.parametrize("board", BOARDS)
def test_decoders(board, firmware, build_folder):
    """LLVM and objdump read the same instructions."""
    program = build_folder / "tests" / "decoders_test"
    if not program.exists():
        common.skip("aotc-analyze is not built")
    common.run([program, firmware(board) / "build" / "firmware.elf"])


def test_models_of_cores(analyze, firmware):
    """Cycles by LLVM's model of the core, of firmware that is there already."""
    environment = dict(os.environ, AOTC_ANALYZE=str(analyze))

    def cycles(board, *more, env=environment):
        return json_of("analyze", "cycles", firmware(board), *more, env=env)

    for board, cpu, model in (("qemu_mps2_an386", "cortex-m4", "cortex-m4"), ("qemu_mps2_an386", "cortex-m7", "cortex-m7"),
                              ("qemu_mps2_an386", "cortex-m33", "cortex-m4"), ("qemu_mps3_an547", "cortex-m55", "cortex-m55")):
        j = cycles(board, "--cpu", cpu)
        expect(f"{cpu}: model {j['llvm']}", j["llvm"].get("model") == model)
        expect(f"{cpu}: {j['llvm_cycles']:,} of {j['instructions']:,} instructions",
               0.6 * j["instructions"] < j["llvm_cycles"] < 2 * j["instructions"])
        for part in ("functions", "loops"):
            expect(f"{cpu}: {part} without LLVM's cycles", all(row["llvm_cycles"] > 0 for row in j[part] if row["cycles"] > 10))
        inside = sum(f["llvm_cycles"] for f in j["functions"])
        expect(f"{cpu}: functions have {inside:,} of {j['llvm_cycles']:,}", abs(inside - j["llvm_cycles"]) <= len(j["functions"]))
        text = aotc("analyze", "cycles", firmware(board), "--cpu", cpu, env=environment).stdout
        expect(f"{cpu}: whose model it is", ("cortex-m4 model, which LLVM uses for cortex-m33" in text) == (cpu == "cortex-m33"))
    for board, what in (("qemu_microbit", "cortex-m0"), ("qemu_riscv32", "rv32imac")):
        j = cycles(board)
        expect(f"{board}: {j['llvm']}", j["llvm"] == {"reason": f"LLVM has no scheduling model for {what}"} and "llvm_cycles" not in j)
    without = cycles("qemu_microbit", env=dict(os.environ, AOTC_ANALYZE="/no/such"))
    expect(f"without it: {without['llvm']}", without["llvm"] == {"reason": "aotc-analyze is not installed"})


LOOP = """\
.syntax unified
.thumb
.global _start
.thumb_func
_start:
 ldrsb r3, [r0], #1
 ldr r4, [r1], #4
 smlad r2, r3, r4, r2
 mul r5, r3, r4
 add r6, r6, r5
 subs r7, r7, #1
 bne _start
last:
 bx lr
"""


def test_llvm_mca(analyze, tmp_path):
    """A loop takes as long as by LLVM's own program."""
    if not shutil.which("llvm-mca-19"):
        common.skip("llvm-mca-19 is not installed")
    source, elf = tmp_path / "loop.s", tmp_path / "loop.elf"
    source.write_text(LOOP)
    (tmp_path / "body.s").write_text(LOOP.split("last:")[0])
    common.run(["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-nostdlib", "-Wl,-Ttext=0x8000", source, "-o", elf])
    names = {line.split()[2]: int(line.split()[0], 16) for line in common.run(["arm-none-eabi-nm", elf]).splitlines()}
    (tmp_path / "blocks").write_text(f"{names['_start']:x} {names['last']:x} 1\n")
    for cpu in ("cortex-m4", "cortex-m7", "cortex-m55"):
        ours = json.loads(common.run([analyze, "model-cycles", elf, "--cpu", cpu, "--blocks", tmp_path / "blocks"]))["blocks"][0]
        total = {}
        for turns in (1, 51):
            said = common.run(["llvm-mca-19", "-mtriple=thumbv7em-none-eabi", f"-mcpu={cpu}", f"-iterations={turns}", tmp_path / "body.s"])
            total[turns] = int(next(line.split()[2] for line in said.splitlines() if line.startswith("Total Cycles")))
        expect(f"{cpu}: {ours} cycles a turn, llvm-mca says {(total[51] - total[1]) / 50}", ours == (total[51] - total[1]) / 50)


@pytest.mark.models("digits_int8", "kws", "ad", "strww", "micro_speech")
def test_speed(model):
    """-O speed is by the estimate never slower than the default."""
    for board in ("qemu_mps2_an385", "qemu_mps2_an386", "qemu_mps2_an505", "qemu_mps3_an547"):
        least, fast = (json_of("check", common.model_path(model), "--board", board, "-O", level)["estimated_cycles"]
                       for level in ("balanced", "speed"))
        expect(f"on {board}: {fast:,} cycles at -O speed, {least:,} by default", fast <= 1.001 * least)


def test_refusals(firmware, tmp_path):
    board, work = BOARDS[0], tmp_path
    elf = firmware(board) / "build" / "firmware.elf"
    lone = work / "lone.elf"
    shutil.copy(elf, lone)
    short = work / "short.elf"
    short.write_bytes(elf.read_bytes()[:100])
    programs = work / "programs"
    programs.mkdir()
    for name in ("cc", "gcc", "as", "ld", "arm-none-eabi-objdump"):
        (programs / name).symlink_to(shutil.which(name))
    without_qemu = dict(os.environ, PATH=str(programs))
    (programs / "cc-less").mkdir()
    without_cc = dict(os.environ, PATH=str(programs / "cc-less"))
    for slug, code, text, env, arguments in (
            ("board-missing", 1, "--board", None, [lone]),
            ("board-unknown", 1, "", None, [lone, "--board", "qemu"]),
            ("board-mismatch", 1, "runs rv32imac instructions", None, [elf, "--board", "qemu_riscv32"]),
            ("board-mismatch", 1, "locked up", None, [elf, "--board", "qemu_mps2_an505"]),
            ("no-emulator", 5, "qemu_mps2_an386", None, [elf, "--board", "host", "--cpu", "cortex-m4"]),
            ("cycles-unknown", 1, "cortex-m4", None, [elf, "--cpu", "z80"]),
            ("function-unknown", 1, "", None, [elf, "--root", "no_such"]),
            ("root-not-run", 1, "--call", None, [elf, "--call", "1000"]),
            ("elf-invalid", 1, "", None, [short, "--board", board]),
            ("file-read", 1, "", None, [work / "none.elf"]),
            ("tool-missing", 5, "apt-get install qemu-system", without_qemu, [elf]),
            ("tool-missing", 5, "apt-get install gcc", without_cc, [elf])):
        said = aotc("analyze", "cycles", *arguments, code=code, env=env).stderr
        expect(f"no [{slug}] with '{text}' in: {said}", f"[{slug}]" in said and text in said)
    for arguments in (["--call", "0"], ["--timeout", "0"], ["--call", "x"]):
        aotc("analyze", "cycles", elf, *arguments, code=2)
