# SPDX-License-Identifier: Apache-2.0
"""Shows that the lane can fail: an operator's results and emitted C are spoiled, and it must notice,
make the model small, and keep a file that repeats the failure.
"""
import pathlib
import re
import sys

import common
import pytest
from model import Model

LANE = [sys.executable, pathlib.Path(__file__).resolve().with_name("lane.py")]
# What is spoiled, and what the model that is left must consist of.
DAMAGES = {"relu6": {"RELU6"}, "emitted": None}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_seen(damage, build_folder, tmp_path):
    lane = [*LANE, "--program", build_folder / "tests" / "check_models", "--cc", " ".join([*common.cached("gcc"), "-O1"]),
            "--work", tmp_path]
    done = common.run([*lane, "--count", "40", "--jobs", "1", "--damage", damage], expect=None, timeout=3600)
    assert done.returncode == 1, done.stderr
    found = re.findall(r"reduced to (\d+) operator.*\n  repeat: scripts/random-models --file (\S+) ", done.stdout)
    assert found, f"nothing was reduced:\n{done.stdout}"
    for count, path in found:
        model = Model.read(pathlib.Path(path).read_bytes())
        assert int(count) == len(model.ops) <= 2
        assert DAMAGES[damage] is None or {op.kind for op in model.ops} & DAMAGES[damage]
        for extra, code in ((["--damage", damage], 1), ([], 0)):
            assert common.run([*lane, "--file", path, *extra], expect=None).returncode == code, extra
