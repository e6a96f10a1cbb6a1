# SPDX-License-Identifier: Apache-2.0
"""Real boards: the bare-metal project around digits builds without a warning and fits, images begin
where the processor looks, and where another machine of QEMU stands in, `aotc verify` is bit-exact.

Boards that are emulated themselves are run_boards.py's. cflags of boards without bare metal are tried
on an empty file, if their compiler is installed.
"""
import json
import os
import shutil
import struct

import common
import pytest
from checks import check, each_check  # noqa: F401

DIGITS = common.ROOT / "tests" / "models" / "digits" / "digits_int8.tflite"
BOARDS = {path.parent.name: common.board(path.parent.name) for path in sorted((common.ROOT / "boards").glob("*/board.json"))}


def is_emulated(board):
    return board.get("emulator", {}).get("argv") and not board["emulator"].get("stand_in")


def run(*command, **more):
    return common.run(command, expect=None, **more)


def load_segments(image):
    """(physical address, bytes) of what an ELF file loads."""
    data = image.read_bytes()
    start, = struct.unpack_from("<I", data, 28)
    size, count = struct.unpack_from("<HH", data, 42)
    segments = []
    for i in range(count):
        kind, offset, _, physical, bytes_, *_ = struct.unpack_from("<8I", data, start + i * size)
        if kind == 1 and bytes_ > 0:
            segments.append((physical, data[offset:offset + bytes_]))
    return sorted(segments)


@pytest.mark.parametrize("name", [name for name, board in BOARDS.items() if board["platform"] in ("cortex_m", "riscv") and not is_emulated(board)])
def test_project(name, tmp_path):
    board, project = BOARDS[name], tmp_path / name
    made = run(common.AOTC, "create", DIGITS, "--board", name, "--project", "bare-metal", "-o", project)
    if not check(made.returncode == 0, f"{name}: a project is made", made.stderr):
        return
    manifest = json.loads((project / "aotc.json").read_text())
    for step in ("configure", "build"):
        argv = [a.replace("{project}", str(project)).replace("{generator}", "Ninja")
                for a in manifest[step]]
        done = run(*argv, env={**os.environ, "CFLAGS": "-Werror"})
        text = done.stdout + done.stderr
        if not check(done.returncode == 0 and "warning" not in text, f"{name}: {step} without a warning",
                     text[-2000:]):
            return
    # The processor takes the stack pointer and the first instruction from where flash begins.
    memories = {m["name"]: (int(m["origin"], 16), m["size"]) for m in board["memories"]}
    origin, size = memories[board["placement"]["code"]]
    ram, ram_size = memories[board["placement"]["data"]]
    segments = load_segments(project / manifest["image"])
    if board["platform"] == "cortex_m":
        at, content = segments[0]
        stack, entry = struct.unpack_from("<II", content)
        check(at == origin, f"{name}: vectors at the start of flash", hex(at))
        check(ram < stack <= ram + ram_size, f"{name}: stack in RAM", hex(stack))
        check(entry & 1 and origin < entry < origin + size, f"{name}: entry in flash", hex(entry))
    check(all(origin <= at and at + len(c) <= origin + size for at, c in segments),
          f"{name}: everything is loaded into flash", [(hex(a), len(c)) for a, c in segments])
    emulator = board.get("emulator", {})
    if emulator.get("stand_in") and shutil.which(emulator["program"]):
        done = run(common.AOTC, "verify", project, "-q")
        check(done.returncode == 0 and f"{name}: bit-exact in 11 of 11 layers" in done.stdout,
              f"{name}: bit-exact on the machine that stands in", done.stdout + done.stderr)


@pytest.mark.parametrize("name", BOARDS)
def test_flags(name, tmp_path):
    tools = BOARDS[name]["toolchain"]
    if not shutil.which(tools["compiler"]):
        common.skip(f"{tools['compiler']} is not installed")
    source = tmp_path / "empty.c"
    source.write_text("int answer(void);\nint answer(void) { return 42; }\n")
    done = run(tools["compiler"], *tools["cflags"], "-Wall", "-Werror", "-O2", "-c", source, "-o",
               tmp_path / "empty.o")
    check(done.returncode == 0, f"{name}: its compiler takes its flags", done.stderr)
