#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Projects of models that run in slices, and of models with loops: verified, and their self tests run.

Usage: projects.py --work DIR

Bare metal on a Cortex-M4 in QEMU, and the kind `make` on this machine. A model in slices is compared in slices: the
copy of the model that reports its layers is made to stop in every slice.
"""
import argparse
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
import common  # noqa: E402

MODELS = HERE.parent / "models"
BOARD = "qemu_mps2_an386"
CASES = {
    "digits": ("digits/digits_int8.tflite", ["--slice", "25000"]),
    "state": ("state/accumulator_int8.tflite", ["--slice", "call"]),
    "loop": ("state/while_count_f32.tflite", []),
    "loop_slices": ("state/while_count_f32.tflite", ["--slice", "call"]),
}


def demand(text, wanted):
    if wanted not in text:
        raise common.Failure(f"'{wanted}' is not in\n{text}")


def bare_metal(folder, model, options):
    common.aotc("create", MODELS / model, "--board", BOARD, "-o", folder, "--quiet", *options)
    verified = common.aotc("verify", folder)
    for where in ("host C", BOARD):
        demand(verified, f"{where}: bit-exact in ")
    demand(common.aotc("run", folder), "self test: bit-exact, ")


def make(folder, model, options):
    common.aotc("create", MODELS / model, "--project", "make", "-o", folder, "--quiet", *options)
    said = common.run(["make", "-C", folder, "check"])
    demand(said, "self test: bit-exact")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    common.require("arm-none-eabi-gcc", "qemu-system-arm", "make")
    shutil.rmtree(options.work, ignore_errors=True)
    failed = 0
    for name, (model, more) in CASES.items():
        for kind in (bare_metal, make):
            try:
                kind(options.work / f"{name}_{kind.__name__}", model, more)
            except common.Failure as failure:
                failed += 1
                print(f"{name}, {kind.__name__}: {failure}")
    print(f"{2 * len(CASES) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
