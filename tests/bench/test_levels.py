# SPDX-License-Identifier: Apache-2.0
"""-O speed takes no more estimated cycles than the default, and what --prefer says is what -O does. Compiles only."""
import json

import common
import pytest

CORES = ("cortex-m3", "cortex-m4f", "cortex-m7f", "rv32imac")
SAME = [("--prefer flash", "-O size"), ("--prefer cycles", ""), ("--prefer flash -O speed", "-O speed"),
        ("-O speed --prefer flash", "-O speed")]


def figures(model, core, options=""):
    row = json.loads(common.aotc("check", common.model_path(model), "--cpu", core, *options.split(), "--json"))
    return {key: row[key] for key in ("estimated_cycles", "arena_bytes", "constants_bytes", "level")}


@pytest.mark.parametrize("options, as_these", SAME)
def test_same(options, as_these):
    assert figures("digits_int8", "cortex-m4f", options) == figures("digits_int8", "cortex-m4f", as_these)


@pytest.mark.parametrize("core", CORES)
@pytest.mark.models("kws", "vww", "resnet", "ad", "strww", "micro_speech")
def test_speed(model, core):
    usual, speed = (figures(model, core, options)["estimated_cycles"] for options in ("", "-O speed"))
    assert 0 < speed <= usual
