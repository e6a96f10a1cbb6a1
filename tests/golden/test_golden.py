# SPDX-License-Identifier: 0BSD
"""Emitted C of a few small models, compared to the letter with what is stored beside this file.

A change of the emitted C shows up here as a difference to be read: run tests/golden/update and look at
`git diff tests/golden`.
"""
import difflib

import common
import golden
import pytest

MOST_LINES = 420  # of one file: more is not read


@pytest.mark.parametrize("name", golden.NAMES)
def test_golden(name, tmp_path):
    have = golden.emitted(common.AOTC, tmp_path, name)
    want = {p.name: p.read_text() for p in (golden.HERE / name).iterdir()}
    different = [line for file in sorted(have.keys() | want.keys())
                 for line in list(difflib.unified_diff(want.get(file, "").splitlines(), have.get(file, "").splitlines(),
                                                       f"golden/{name}/{file}", f"emitted/{name}/{file}", lineterm="", n=2))[:40]]
    assert have and not different, "\n".join([*different, "if the change is meant: tests/golden/update, and read the difference"])
    assert {file: text.count("\n") for file, text in want.items()
            if file.endswith((".c", ".h")) and text.count("\n") > MOST_LINES} == {}
