# SPDX-License-Identifier: Apache-2.0
"""Does run_state.py see what can go wrong with a state? Emitted C is damaged in every way below.

The model as it is must pass, each damage must fail, for the reason named.
"""
import re

import pytest
import run_state
from run_state import common

MODEL = "two_variables_f32"


def head(name):
    """Matches the head of a function of the model, up to its brace."""
    return rf"\n\w+ {MODEL}_{name}\([^)]*\)\n\{{\n"


RUN = rf"({head('run')}[^}}]*?)"
USED = "uint8_t *const s = (uint8_t *)state;"
IN_RUN = RUN + re.escape(USED)
DAMAGES = {  # what: (pattern, replacement, part of the message)
    "the first value is not written": (
        f"({head('init')})", r"\1    if (state != NULL) { return 0; }\n", "kept.out: run 0"),
    "the reset between runs changes nothing": (
        f"({head('reset')})",
        r"\1    static int calls;\n    if (++calls == 3) { return 0; }\n", "reset.out: run 50"),
    "all instances share a state": (
        IN_RUN, r"\1static uint8_t shared[64] __attribute__((aligned(16)));\n"
        r"    uint8_t *const s = state == NULL ? NULL : shared;\n"
        r"    static int runs;\n    if (runs++ % 100 == 0) { memcpy(s, state, 32); }", "reset.out: run 50"),
    "an instance runs with the state of another": (
        IN_RUN, r"\1static void *last;\n    static int runs;\n    uint8_t *const s = "
        r"(uint8_t *)(runs++ > 210 && runs % 7 == 0 ? last : state);\n    last = s;", "first.out"),
    "the state lies in the arena": (
        IN_RUN, r"\1uint8_t *const s = state == NULL ? NULL : (uint8_t *)arena;", "kept.out: run 0"),
    "the state is changed before it is read": (
        IN_RUN, r"\1" + USED + r"\n    *(float *)state += 1.0f;", "kept.out: run 0"),
    "it writes behind the state": (
        IN_RUN, r"\1" + USED + r"\n    s[33] ^= 1u;", "outside of its state"),
    "it writes before the arena": (
        IN_RUN, r"\1" + USED + r"\n    a[-1] ^= 1u;", "outside of its arena"),
}


def attempt(case, texts, pattern, replacement):
    """What run_state says of the damaged program; None if it passes."""
    found = [f for f, text in texts.items() if re.search(pattern, text)]
    if len(found) != 1:
        raise common.Failure(f"{len(found)} files have a place for the damage: {pattern}")
    found[0].write_text(re.sub(pattern, replacement, texts[found[0]], count=1))
    try:
        case.run("gcc", ["-O1"])
    except common.Failure as failure:
        return str(failure)
    finally:
        found[0].write_text(texts[found[0]])
    return None


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    case = run_state.prepared(run_state.FOLDER / f"{MODEL}.tflite", tmp_path_factory.mktemp("case"), 100)
    case.run("gcc", ["-O1"])
    return case


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_seen(damage, case):
    pattern, replacement, reason = DAMAGES[damage]
    said = attempt(case, {file: file.read_text() for file in case.emitted.glob("*.c")}, pattern, replacement)
    assert said is not None and reason in said
