# SPDX-License-Identifier: Apache-2.0
"""The start of each board's chip on a model of its registers (chip_test.c): full speed, and what happens when
something never comes; with a fault planted in each, which the model has to see.
"""
import pathlib
import re

import common
import pytest

HERE = pathlib.Path(__file__).resolve().parent
DIGITS = common.ROOT / "tests" / "models" / "digits" / "digits_int8.tflite"
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
NAMES = [path.parent.name for path in sorted((common.ROOT / "boards").glob("*/board.json"))]
CHIPS = {name: common.board(name) for name in NAMES if "chip" in common.board(name)}
PLANTED = [pytest.param(name, change, id=f"{name}-{number}") for name, board in CHIPS.items()
           for number, change in enumerate(FAULTS[board["chip"]["kind"]])
           # With one speed there is nothing to get wrong.
           if not (change[0].startswith("clock.hz") and not board["chip"].get("has_divider"))]


def run_chip(sources, kind, program, change=None):
    """What the test does with this project's board.h, or None if it does not compile."""
    source = sources / f"chip_{kind}.c"
    text = source.read_text()
    if change:
        assert change[0] in text
        text = text.replace(*change)
    copy = program.with_suffix(".c")
    copy.write_text(text)
    built = common.run(["gcc", "-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-Wno-unused-const-variable",
                        "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
                        f'-DCHIP_REGISTERS="{HERE / "chip_registers.h"}"', "-I", sources, HERE / "chip_test.c", copy, "-o", program],
                       expect=None)
    if built.returncode:
        return None
    return common.run([program], expect=None)


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """The sources of a board's project, which is made when it is first asked for."""
    work = tmp_path_factory.mktemp("projects")

    def of(name):
        if not (work / name).exists():
            common.aotc("create", DIGITS, "--board", name, "--project", "bare-metal", "-o", work / name, "-q")
        return work / name / "src"
    return of


@pytest.mark.parametrize("name", CHIPS)
def test_clock(name, sources, tmp_path):
    board = CHIPS[name]
    chip = board["chip"]
    done = run_chip(sources(name), chip["kind"], tmp_path / "chip")
    assert done.returncode == 0 and "good 1" in done.stdout
    assert chip["hz"] == board["clock"]["full_hz"], "full speed is what the board says"
    waits = next(m for m in board["memories"] if m["kind"] == "flash").get("wait_states")
    assert waits is None or waits == chip["wait_states"], "wait states are those of the memory"
    assert board["console"]["kind"] != "semihosting", "a UART of its own"
    text = (sources(name) / f"chip_{chip['kind']}.c").read_text()
    assert not re.search(r"while\s*\(", text), "no wait without an end"


@pytest.mark.parametrize("name, change", PLANTED)
def test_fault_is_seen(name, change, sources, tmp_path):
    done = run_chip(sources(name), CHIPS[name]["chip"]["kind"], tmp_path / "chip", change)
    assert done is not None and done.returncode != 0
