# SPDX-License-Identifier: Apache-2.0
"""Custom operators of TensorFlow Lite as emitted C, run after run, as LiteRT's or TensorFlow Lite Micro's.

custom_models.py writes the models; tests/state/run_state.py runs them.
"""
import custom_models
import test_signal

test_host = test_signal.lane(custom_models, ["gcc", "clang"], 12)
test_boards = test_signal.lane(custom_models, ["cortex_m4", "rv32imac"], 12)
