# SPDX-License-Identifier: Apache-2.0
"""Emitted C of models run slice by slice: every output as NAME_run's and LiteRT's, to the byte.

Each model is compiled with --slice call (or the shortest slices that it can have), built for each target (emitted_cases.py: gcc and clang on this
machine, cortex_m4 and rv32imac in QEMU) and run over a sequence of inputs:
  kept      NAME_begin and NAME_step; each run is also done by NAME_run, from the same state and inputs
  reset     the state is reset in the middle; runs of models without state are begun anew in between
  first,    two instances in turn, slice by slice, each with a state, an arena and a sequence of its own
  second
Results are compared as run_state.py compares them. Begins with a null or misaligned pointer and steps of a
context without a run must be refused. A model without branches and loops has as many slices as calls.
"""
import re

import run_state
import slices_program
import test_state
from run_state import common

MODELS = common.ROOT / "tests" / "models"


class Case(run_state.Case):
    """A model of run_state.py, in slices."""

    def __init__(self, path, work, runs, length, options=()):
        super().__init__(path, work, runs)
        self._length, self._options = length, options

    def _compile(self, length, expect):
        pairs = [f"{a}={b}" for a, b in self._about["first"]["state"].items()]
        states = [o for p in pairs for o in ("--state", p)]
        return common.aotc("compile", self.path, "--prefix", self.prefix, "-o", self.emitted,
                           "--quiet", *states, "--slice", length, *self._options, expect=expect)

    def compile(self, expect=0):
        length = "call"
        if self._length == "least":
            refused = self._compile("1", None)
            # A model without calls has no slice that is too long.
            found = re.search(r"--slice (\d+)$", refused.stderr, re.M)
            if refused.returncode and not found:
                raise common.Failure(refused.stderr)
            length = found[1] if found else "1"
        return self._compile(length, expect)

    def prepare(self):
        super().prepare()
        self.main.write_text(slices_program.main_text(
            self._header, self._work, self._about["first"]["reset_after"], self._length == "call"))


def lane(paths, targets, runs, length="call", options=()):
    models = {p.stem: p for p in paths if p.stem not in test_state.REFUSED | test_state.WRONG}
    return run_state.test_of(models, lambda _: models, lambda path, work: run_state.prepared(
        path, work, runs, lambda *of: Case(*of, length, options)), targets)


def files(*patterns):
    return [p for pattern in patterns for p in sorted(MODELS.glob(pattern))]


# The unrolled GRUs have loops over calls.
STATE = files("state/*.tflite", "digits/digits_int8.tflite", "digits/digits_f32.tflite", "gadget/*.tflite",
              "keras/gru_steps_*.tflite")
OPS = files("ops/*_int8.tflite", "digits/digits_int8.tflite", "keras/gru_steps_int8.tflite")
VECTORS = files(*(f"ops/{name}_int8.tflite" for name in ("add", "conv_1x1_relu6", "conv_same", "dense", "depthwise_same")),
                "digits/digits_int8.tflite")

test_host = lane(STATE, ["gcc", "clang"], 20)
test_boards = lane(STATE, ["cortex_m4", "rv32imac"], 4)
# As short as can be: every operator in as many parts as it has.
test_least = lane(OPS, ["gcc"], 4, "least", ("--board", "qemu_mps2_an386"))
# The same where vectors do an operator at once.
test_least_vectors = lane(VECTORS, ["gcc"], 4, "least", ("--board", "qemu_mps3_an547"))
