# SPDX-License-Identifier: Apache-2.0
"""All C++ of the build is compiled without fused multiply-adds.

tir/interp.cpp and the operators' evaluation round after every operation, and gcc for 64-bit ARM fuses unless it is told.
"""
import json


def test_no_fused_multiply_adds(build_folder, record_property):
    commands = json.loads((build_folder / "compile_commands.json").read_text())
    ours = [c for c in commands if c["file"].endswith((".cpp", ".cxx"))]
    bad = [c["file"] for c in ours if "-ffp-contract=off" not in c["command"].split()]
    assert ours and not bad, f"{len(bad)} files are compiled without -ffp-contract=off: {bad[:10]}"
    record_property("cases", len(ours))
