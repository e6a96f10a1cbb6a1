# SPDX-License-Identifier: Apache-2.0
"""Arenas of models whose first operators are computed row by row, on a Cortex-M4.

--stream max --prefer ram, with rows fed (--input rows) and with the input in the arena.
"""
import json

import common
import pytest

# Bytes: those to aim for, and those that are reached. None: the model cannot be fed.
ARENAS = {
    "kws": {"rows": (5200, 5156), "overwrite": (6500, 5534)},
    "vww": {"rows": (14700, 14496), "overwrite": (34000, 27960)},
    "resnet": {"rows": (18500, 16736), "overwrite": (22000, 18976)},
    "ad": {"rows": (1920, None), "overwrite": (1920, 1920)},
    "strww": {"rows": (4400, 3840), "overwrite": (4608, 3904)},
    "micro_speech": {"rows": (1600, 1220), "overwrite": (4200, 2936)},
}


@pytest.mark.parametrize("contract", ["rows", "overwrite"])
@pytest.mark.parametrize("model", ARENAS)
def test_arena(model, contract, tmp_path):
    target, reached = ARENAS[model][contract]
    done = common.aotc("compile", common.model_path(model), "--cpu", "cortex-m4f", "--stream", "max", "--prefer", "ram",
                       "--input", contract, "--json", "-o", tmp_path / "out", "--quiet", expect=None)
    size = json.loads(done.stdout)["arena_bytes"] if done.returncode == 0 else None
    print(f"{model} {contract}: {size} bytes, target {target}")
    assert (size is None) == (reached is None)
    assert size is None or size <= reached
