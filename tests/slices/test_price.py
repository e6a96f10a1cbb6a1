# SPDX-License-Identifier: Apache-2.0
"""What segments cost: instructions of a run on a Cortex-M4 with --stream max --prefer ram beside those of the default.

The firmware's self test finds every result.
"""
import json
import re

import common
import pytest

BOARD = "qemu_mps2_an386"
MOST = {"kws": 1.07, "vww": 1.03}  # times the default's instructions


def measured(model, folder, *options):
    """Instructions and the bytes of the arena."""
    if common.create_project(common.model_path(model), BOARD, folder, *options) is None:
        raise common.Failure(f"{model} does not fit {BOARD}")
    found = json.loads(common.aotc("run", folder, "--json", "--quiet"))
    assert "self test: bit-exact" in found["output"]
    return found["instructions"], int(re.search(r"arena (\d+) bytes", found["output"])[1])


@pytest.mark.models(*MOST)
def test_price(model, tmp_path):
    plain, whole = measured(model, tmp_path / "whole")
    rows, arena = measured(model, tmp_path / "rows", "--stream", "max", "--prefer", "ram")
    print(f"{model}: {plain:,} instructions, arena {whole:,}; rows {rows:,}, arena {arena:,}: {rows / plain:.3f}")
    assert rows <= MOST.get(model, 1) * plain
