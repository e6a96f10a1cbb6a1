# SPDX-License-Identifier: Apache-2.0
"""Operator cases of build/cases as emitted C: every result is LiteRT's.

The name of a case begins with that of the entry of ctest. The cases of an entry are a program for each target
(emitted_cases.py).
"""
import functools

import common
import emitted_cases
import pytest

# By entry: targets, one case in so many, the operators (none: all).
ENTRIES = {
    "host": (("gcc", "clang"), 1, ()),
    "O2": (("gcc_O2", "clang_O2"), 32, ()),
    **{target: ((target,), 5, ()) for target in ("cortex_m4", "cortex_m55", "rv32imac")},
    # Convolutions and fully connected layers by the kernels of small cores.
    **{f"packed.{target}.{op}": ((target,), 3, (op,)) for target in ("thumb1", "thumb2", "rv32") for op in ("conv_2d", "fully_connected")},
    # By RISC-V's vectors, whatever their length. 20 CPU seconds each.
    **{f"vectors.{bits}": ((f"rv32_vectors_{bits}",), every, ("conv_2d", "depthwise_conv_2d", "fully_connected"))
       for bits, every in ((128, 3), (256, 11))},
    # On a core with vectors that traps accesses at addresses that are no multiple of their size.
    "aligned.cortex_m55": (("cortex_m55_traps",), 40, ()),
    # What -O speed takes on a core with DSP instructions.
    "speed.conv_2d": (("cortex_m4_speed",), 3, ("conv_2d",)),
    # Of no entry of ctest: the other targets, and the cases of an operator.
    **{f"target.{target}": ((target,), 5, ()) for target in emitted_cases.TARGETS},
    **{f"op.{path.parent.name}": (("gcc", "clang", "cortex_m4", "rv32imac"), 1, (path.parent.name,))
       for path in sorted((common.ROOT / "tests" / "ops").glob("*/cases.py"))},
}


@pytest.fixture(scope="module")
def emitted(build_folder, tmp_path_factory):
    """A function that gives a folder with the cases of an entry as C. Those that fail on the host are the business of
    `cases.evaluate`."""
    @functools.cache
    def folder_of(entry, lowered_for):
        _, every, operators = ENTRIES[entry]
        folder = tmp_path_factory.mktemp(entry)
        common.run([build_folder / "tests" / "run_cases", common.ROOT / "build" / "cases", "--emit", folder, "--every", every,
                    *(word for op in operators for word in ("--op", op)), "--targets", lowered_for], expect=None)
        assert (folder / "main.c").exists(), "no cases were emitted"
        return folder
    return folder_of


@pytest.mark.parametrize("entry, target", [(entry, target) for entry in ENTRIES for target in ENTRIES[entry][0]],
                         ids=[f"cases.{entry}-{target}" for entry in ENTRIES for target in ENTRIES[entry][0]])
def test_emitted_cases(entry, target, emitted, record_property):
    chosen = emitted_cases.TARGETS[target]
    common.require(*(tool for tool in (chosen.compiler, chosen.command[0]) if "{" not in tool))
    record_property("cases", emitted_cases.build_and_run(target, emitted(entry, chosen.lowered_for)))
