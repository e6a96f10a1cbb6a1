# SPDX-License-Identifier: Apache-2.0
"""The command line with emulated boards."""
import re
import shutil
import sys

from test_cli import DIGITS, ROOT, aotc, edit, expect, same  # noqa: F401


def test_cost_of_code_for_any_cpu(aotc):
    """The note [any-cpu] says 'more than twice as fast'."""
    aotc("create", DIGITS, "--board", "qemu_mps2_an386", "-o", "app", "--prefix", "d")
    aotc("compile", DIGITS, "-o", "any", "--prefix", "d")
    took = []
    for files in ([], sorted((aotc.folder / "any").glob("d*.[ch]"))):
        for path in files:
            shutil.copy(path, aotc.folder / "app/model")
        aotc("build", "app")
        took.append(aotc("run", "app", "--json").json()["instructions"])
    print(f"  (digits on a Cortex-M4: {took[0]:,} instructions, as C for any CPU {took[1]:,}: {took[1] / took[0]:.2f} times)")
    same(took[1] > 2 * took[0], True, f"C for any CPU takes more than twice the instructions: {took}")


def test_report_of_a_stand_in(aotc):
    counts = []
    for board, says in (("nucleo_f446re", True), ("nrf52840dk", True), ("qemu_mps2_an386", False)):
        aotc("create", DIGITS, "--board", board, "-o", board)
        aotc("build", board)
        run = aotc("run", board)
        same("nanoseconds" in run.out, False, "a time of an emulator")
        counts.append(int(re.search(r"one inference: (\d+) instructions", run.out)[1]))
        said = aotc("report", board).out
        expect(said, r"^instructions per inference: [\d,]+" + (", emulated on a different board with the same core; times are not comparable$" if says else "$"))
        same("(different board, same core)" in said.splitlines()[0], says, "the column of times")
        same(aotc("report", board, "--json").json().get("stand_in", False), says, "JSON")
    # Three machines with the same core: what they count is the code's, to within how functions are aligned.
    same(max(counts) - min(counts) <= max(counts) / 200, True, f"instructions {counts}")


def test_loops_are_estimated_as_they_are_counted(aotc):
    sys.path.append(str(ROOT / "tests/models/generate"))
    from state_direct import while_int8

    for steps in (20, 40):
        (aotc.folder / "loop.tflite").write_bytes(while_int8(steps))
        aotc("create", "loop.tflite", "--board", "qemu_mps2_an386", "-o", f"app{steps}")
        aotc("build", f"app{steps}")
        counted = aotc("run", f"app{steps}", "--json").json()["instructions"]
        layers = aotc("report", f"app{steps}", "--json", "--no-alternatives").json()["layers"]
        estimated = sum(layer["estimated_instructions"] for layer in layers)
        same(0.75 < counted / estimated < 1.25, True, f"{steps} iterations: {counted} instructions, estimated {estimated}")


def test_workspace_on_boards(aotc):
    for board in ("qemu_mps2_an386", "qemu_riscv32"):
        aotc("create", DIGITS, "--board", board, "-o", board, "--memory", "workspace", "--prefix", "d")
        aotc("build", board)
        run = aotc("run", board, "--json").json()
        header = (aotc.folder / board / "model/d.h").read_text()
        promised = int(re.search(r"D_WORKSPACE_SIZE (\d+)u", header)[1])
        same((run["workspace_high_water"], run["workspace_bytes"]), (promised, promised), "workspace")
        aotc("verify", board)


def test_boards_from_odd_folders(aotc):
    odd = aotc.folder / "odd, folder"
    odd.mkdir()
    for board in ("qemu_mps2_an386", "qemu_riscv32"):
        aotc("create", DIGITS, "--board", board, "-o", odd / board)
        aotc("build", odd / board)
        aotc("run", odd / board)
        verified = aotc("verify", odd / board, "--json", env={"TMPDIR": str(odd)}).json()
        same([p["place"] for p in verified["places"]], ["host C", board], "places")


def test_boards_that_fail(aotc):
    aotc("create", DIGITS, "--board", "qemu_riscv32", "-o", "app")
    aotc("build", "app")
    said = aotc("run", "app", code=5, env={"PATH": "/nonexistent"})
    expect(said.err, r"'qemu-system-riscv32' is not installed \[tool-missing\]", r"apt-get install qemu-system-misc")
    source = aotc.folder / "app/model/digits_int8.c"
    original = source.read_text()
    edit(source, r"\n    uint8_t \*const a = \(uint8_t \*\)arena;\n",
         r"\n    uint8_t *const a = (uint8_t *)arena;\n    for (volatile int i = 0; i < 1; i = 0) { }\n")
    aotc("build", "app")
    expect(aotc("run", "app", "--timeout", "2", code=6).err, r"\[device-timeout\]")
    # A crash of the firmware on the board only: the host is not touched by the project's copy.
    source.write_text(original)
    edit(source, r"\n    return 0;\n}\n$", r"\n    *(volatile int *)0x18000000 = 1;\n    return 0;\n}\n")
    aotc("build", "app")
    expect(aotc("verify", "app", "--timeout", "600", code=6).err, r"qemu_riscv32.*\[verify-device\]")
