# SPDX-License-Identifier: Apache-2.0
"""Projects of models that run in slices, and of models with loops: verified, and their self tests run.

Bare metal on a Cortex-M4 in QEMU, and the kind `make` on this machine. A model in slices is compared in slices: the
copy of the model that reports its layers is made to stop in every slice.
"""
import pathlib

import common
import pytest

HERE = pathlib.Path(__file__).resolve().parent

MODELS = HERE.parent / "models"
BOARD = "qemu_mps2_an386"
CASES = {
    "digits": ("digits/digits_int8.tflite", ["--slice", "25000"]),
    "state": ("state/accumulator_int8.tflite", ["--slice", "call"]),
    "loop": ("state/while_count_f32.tflite", []),
    "loop_slices": ("state/while_count_f32.tflite", ["--slice", "call"]),
}


@pytest.mark.parametrize("name", CASES)
def test_bare_metal(name, tmp_path):
    common.require("arm-none-eabi-gcc", "qemu-system-arm")
    model, options = CASES[name]
    folder = tmp_path / "project"
    common.aotc("create", MODELS / model, "--board", BOARD, "-o", folder, "--quiet", *options)
    verified = common.aotc("verify", folder)
    for where in ("host C", BOARD):
        assert f"{where}: bit-exact in " in verified
    assert "self test: bit-exact, " in common.aotc("run", folder)


@pytest.mark.parametrize("name", CASES)
def test_make(name, tmp_path):
    common.require("make")
    model, options = CASES[name]
    common.aotc("create", MODELS / model, "--project", "make", "-o", tmp_path / "project", "--quiet", *options)
    assert "self test: bit-exact" in common.run(["make", "-C", tmp_path / "project", "check"])
