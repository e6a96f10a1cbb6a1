#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Signal operators and a whole audio front end as emitted C, run after run: every byte as TensorFlow Lite Micro's.

Usage: run_signal.py --work DIR [options of run_state.py]

make_models.py writes the models; tests/state/run_state.py runs them. Who computes them is the package tflite-micro:
without it the test is skipped, with CI=true it fails.
"""
import argparse
import importlib.util
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "state"), str(HERE.parent / "e2e")]
import common  # noqa: E402
import make_models  # noqa: E402
import run_state  # noqa: E402


def main(write=make_models.write):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options, rest = parser.parse_known_args()
    if importlib.util.find_spec("tflite_micro") is None:
        what = "the Python package tflite-micro is not installed (tests/requirements.txt)"
        if os.environ.get("CI") == "true":
            raise common.Failure(what)
        common.skip(what)
    work = options.work.resolve()
    models = common.fresh(work / "models")
    write(models)
    sys.argv[1:] = [*rest, "--work", str(work), "--folder", str(models)]
    run_state.main()


if __name__ == "__main__":
    common.main_of(main)
