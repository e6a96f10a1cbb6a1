#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The start of each board's chip on a model of its registers (chip_test.c): full speed, and what happens when
something never comes; with a fault planted in each, which the model has to see.

Usage: chip.py --aotc PROGRAM --work DIR
"""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
DIGITS = ROOT / "tests" / "models" / "digits" / "digits_int8.tflite"
# By kind: what the source says, and what it says where it is wrong.
FAULTS = {
    "stm32f4": [("CHIP_WAIT_STATES | CHIP_FLASH_CACHES", "(CHIP_WAIT_STATES - 1u) | CHIP_FLASH_CACHES"),
                ("5u << 10 | 4u << 13", "4u << 10 | 4u << 13"), ("chip_change(PWR_CR, ODEN, ODEN);", ""),
                ("if (!chip_wait(RCC_CR, PLLRDY, PLLRDY))", "if (0)")],
    "stm32l4": [("CHIP_WAIT_STATES | CACHES", "(CHIP_WAIT_STATES - 1u) | CACHES"), ("chip_change(PWR_CR5, R1MODE, 0u);", ""),
                ("if (!chip_wait(RCC_CR, PLLRDY, PLLRDY))", "if (0)")],
    "stm32h7": [("CHIP_WAIT_STATES | 2u << 4)", "1u | 2u << 4)"), ("(CHIP_PLL_N - 1u)", "CHIP_PLL_N"), ("8u | 4u << 4", "8u")],
    "nrf": [("clock.hz = CHIP_HZ;", ""), ('clock.trouble = "HFCLKSTARTED";', "")],
}
failed = 0


def check(good, what, seen=""):
    global failed
    failed += not good
    print(("pass: " if good else "FAIL: ") + what + ("" if good else "\n" + seen), flush=True)


def test(sources, kind, program, change=None):
    """The output of the test with this project's board.h, or None if it does not compile."""
    source = sources / f"chip_{kind}.c"
    text = source.read_text()
    if change:
        if change[0] not in text:
            return None
        text = text.replace(*change)
    copy = program.with_suffix(".c")
    copy.write_text(text)
    built = subprocess.run(["gcc", "-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-Wno-unused-const-variable",
                            "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
                            f'-DCHIP_REGISTERS="{HERE / "chip_registers.h"}"', "-I", sources, HERE / "chip_test.c", copy, "-o", program],
                           capture_output=True, text=True)
    if built.returncode:
        return None if change else built.stderr
    return subprocess.run([program], capture_output=True, text=True, timeout=60)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aotc", required=True)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    options = parser.parse_args()
    work = options.work.resolve()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    for path in sorted((ROOT / "boards").glob("*/board.json")):
        board, name = json.loads(path.read_text()), path.parent.name
        if "chip" not in board:
            continue
        chip = board["chip"]
        subprocess.run([options.aotc, "create", DIGITS, "--board", name, "--project", "bare-metal", "-o", work / name, "-q"], check=True, capture_output=True)
        done = test(work / name / "src", chip["kind"], work / f"{name}_chip")
        check(not isinstance(done, str) and done.returncode == 0 and "good 1" in done.stdout, f"{name}: its clock",
              done if isinstance(done, str) else done.stdout + done.stderr)
        check(chip["hz"] == board["clock"]["full_hz"], f"{name}: full speed is what the board says")
        waits = next(m for m in board["memories"] if m["kind"] == "flash").get("wait_states")
        check(waits is None or waits == chip["wait_states"], f"{name}: wait states are those of the memory")
        check(board["console"]["kind"] != "semihosting", f"{name}: a UART of its own")
        text = (work / name / "src" / f"chip_{chip['kind']}.c").read_text()
        check(not re.search(r"while\s*\(", text), f"{name}: no wait without an end")
        for number, change in enumerate(FAULTS[chip["kind"]]):
            done = test(work / name / "src", chip["kind"], work / f"{name}_fault{number}", change)
            if chip["kind"] == "nrf" and change[0].startswith("clock.hz") and not chip["has_divider"]:
                continue  # one speed: nothing to get wrong
            check(done is not None and done.returncode != 0, f"{name}: seen when '{change[0]}' is not there", "" if done is None else done.stdout)
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
