# SPDX-License-Identifier: Apache-2.0
"""Models of tests/models/state as emitted C, run after run, as LiteRT's (run_state.py)."""
import os
import pathlib
import re

import common
import run_state

MODELS = {p.stem: p for p in sorted(run_state.FOLDER.glob("*.tflite"))}
if common.MORE_MODELS in os.environ:
    MODELS |= {p.stem: p for p in pathlib.Path(os.environ[common.MORE_MODELS]).glob("*.tflite")}
REFUSED = {"while_shift_f32"}  # LiteRT and TensorFlow compute different results
WRONG = {"if_on_sum_int8", "if_captured_int8"}  # SUM of int8 with two scales: LiteRT reads it as uint8


class WithKernels(run_state.Case):
    more = ("--cpu", "cortex-m4f")


class WithVectors(run_state.Case):
    more = ("--cpu", "cortex-m55")


class WithVectorsInC(run_state.Case):
    more = ("--cpu", "cortex-m55", "--kernels", "intrinsics")


def prepared(path, work):
    if path.stem not in REFUSED | WRONG:
        return run_state.prepared(path, work, 100)
    run_state.Case(path, work, 100).compile(expect=1 if path.stem in REFUSED else 0)
    return "compiled, not compared: LiteRT is wrong" if path.stem in WRONG else "refused"


test_host = run_state.test_of(MODELS, lambda _: MODELS, prepared, ["gcc", "clang"])
test_boards = run_state.test_of(MODELS, lambda _: MODELS, prepared, ["cortex_m4", "rv32imafc"])
# Generated kernels have all that an LSTM of int8 may be, but for what they leave to plain C.
LSTMS = [name for name in MODELS if re.match(r"lstm_(?!.*(coupled|peepholes|projection|normalised|everything)).*_int8$", name)]
test_kernels = run_state.test_of(
    [*LSTMS, "stream_conv_int8", "svdf_kernels_int8", "svdf_drawn_int8"],
    lambda _: MODELS, lambda path, work: run_state.prepared(path, work, 100, WithKernels), ["cortex_m4"])
test_vectors = run_state.test_of(
    LSTMS, lambda _: MODELS, lambda path, work: run_state.prepared(path, work, 100, WithVectors),
    ["cortex_m55_files", "gcc", "clang"])
# Half a CPU second each.
test_vectors_in_c = run_state.test_of(
    LSTMS, lambda _: MODELS, lambda path, work: run_state.prepared(path, work, 100, WithVectorsInC), ["cortex_m55_files"])
