#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Custom operators of TensorFlow Lite as emitted C, run after run, as LiteRT's or TensorFlow Lite Micro's.

Usage: run_custom.py --work DIR [options of run_state.py]

custom_models.py writes the models; tests/state/run_state.py runs them. Some are computed by the package tflite-micro:
without it the test is skipped, with CI=true it fails.
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "signal"), str(HERE.parent / "e2e")]
import common  # noqa: E402
import custom_models  # noqa: E402
import run_signal  # noqa: E402

if __name__ == "__main__":
    common.main_of(lambda: run_signal.main(custom_models.write))
