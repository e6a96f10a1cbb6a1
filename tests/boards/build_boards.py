#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real boards: the bare-metal project around digits builds without a warning and fits, images begin
where the processor looks, and where another machine of QEMU stands in, `aotc verify` is bit-exact.

Usage: build_boards.py [--boards a,b] --work DIR    (the program is $AOTC)

Boards that are emulated themselves are run_boards.py's. cflags of boards without bare metal are tried
on an empty file, if their compiler is installed.
"""
import argparse
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIGITS = ROOT / "tests" / "models" / "digits" / "digits_int8.tflite"
failed = 0


def check(good, what, detail=""):
    global failed
    failed += not good
    print(("pass: " if good else "FAIL: ") + what + (f"\n      {detail}" if detail and not good else ""),
          flush=True)
    return good


def run(*argv, **more):
    return subprocess.run([str(a) for a in argv], capture_output=True, text=True, timeout=600, **more)


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


def test_project(name, board, work):
    project = work / name
    made = run(os.environ["AOTC"], "create", DIGITS, "--board", name, "-o", project, "--force")
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
        done = run(os.environ["AOTC"], "verify", project, "-q")
        check(done.returncode == 0 and f"{name}: bit-exact in 11 of 11 layers" in done.stdout,
              f"{name}: bit-exact on the machine that stands in", done.stdout + done.stderr)


def test_flags(name, board, work):
    tools = board["toolchain"]
    if not shutil.which(tools["compiler"]):
        print(f"note: {name}: {tools['compiler']} is not installed")
        return
    source = work / "empty.c"
    source.write_text("int answer(void);\nint answer(void) { return 42; }\n")
    done = run(tools["compiler"], *tools["cflags"], "-Wall", "-Werror", "-O2", "-c", source, "-o",
               work / "empty.o")
    check(done.returncode == 0, f"{name}: its compiler takes its flags", done.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--boards")
    parser.add_argument("--work", required=True, type=pathlib.Path)
    options = parser.parse_args()
    work = options.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    boards = {p.parent.name: json.loads(p.read_text())
              for p in sorted((ROOT / "boards").glob("*/board.json"))}
    names = options.boards.split(",") if options.boards else list(boards)
    for name in names:
        board = boards[name]
        test_flags(name, board, work)
        emulated = board.get("emulator", {}).get("argv") and not board["emulator"].get("stand_in")
        if board["platform"] in ("cortex_m", "riscv") and not emulated:
            test_project(name, board, work)
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
