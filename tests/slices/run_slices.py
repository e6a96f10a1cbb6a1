#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Emitted C of models run slice by slice: every output as NAME_run's and LiteRT's, to the byte.

Usage: run_slices.py --work DIR [--models PATH,...] [--targets gcc,clang] [--runs 20] [--slice call|least]
                     [--options TEXT]

Each model is compiled with --slice call (or the shortest slices that it can have), built for each target (emitted_cases.py: gcc and clang on this
machine, cortex_m4 and rv32imac in QEMU) and run over a sequence of inputs:
  kept      NAME_begin and NAME_step; each run is also done by NAME_run, from the same state and inputs
  reset     the state is reset in the middle; runs of models without state are begun anew in between
  first,    two instances in turn, slice by slice, each with a state, an arena and a sequence of its own
  second
Results are compared as run_state.py compares them. Begins with a null or misaligned pointer and steps of a
context without a run must be refused. A model without branches and loops has as many slices as calls.

Without --models: those of tests/models/state, the digits, the gadget and the unrolled GRUs; with --ops those of
tests/models/ops that are int8, the digits and the unrolled GRU.
"""
import argparse
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "state"), str(HERE)]
import run_state  # noqa: E402
from run_state import common, emitted_cases  # noqa: E402

# By path: the state tests have a module of this name.
import importlib.util  # noqa: E402
_spec = importlib.util.spec_from_file_location("slices_program", HERE / "program.py")
program = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(program)

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
        self.main.write_text(program.main_text(
            self._header, self._work, self._about["first"]["reset_after"], self._length == "call"))


def prepared(path, options):
    case = Case(path, options.work / path.stem, options.runs, options.slice, options.options.split())
    case.compile()
    case.prepare()
    return case


def default_models(left_out, of_operators):
    if of_operators:
        return [*sorted((MODELS / "ops").glob("*_int8.tflite")), MODELS / "digits" / "digits_int8.tflite",
                MODELS / "keras" / "gru_steps_int8.tflite"]
    paths = sorted((MODELS / "state").glob("*.tflite"))
    paths += [MODELS / "digits" / "digits_int8.tflite", MODELS / "digits" / "digits_f32.tflite"]
    paths += sorted((MODELS / "gadget").glob("*.tflite"))
    paths += sorted((MODELS / "keras").glob("gru_steps_*.tflite"))  # loops over calls
    return [p for p in paths if p.stem not in left_out]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--models", type=run_state.names, default=[])
    parser.add_argument("--without", type=run_state.names, default=[], help="models that are left out")
    parser.add_argument("--targets", type=run_state.names, default=["gcc", "clang"])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--ops", action="store_true")
    parser.add_argument("--slice", choices=("call", "least"), default="call")
    parser.add_argument("--options", default="", help="more options of aotc compile")
    options = parser.parse_args()
    for target in options.targets:
        chosen = emitted_cases.TARGETS[target]
        common.require(chosen.compiler, *(c for c in chosen.command[:1] if "{" not in c))
    options.work = options.work.resolve()
    paths = [pathlib.Path(m).resolve() for m in options.models] or default_models(options.without, options.ops)
    models = run_state.Models(options.targets, ["-O2"], options.work)
    for path in paths:
        models.add(path, lambda path: prepared(path, options))
    models.finish(len(paths))
    if models.failures or not paths:
        raise common.Failure(", ".join(models.failures) or "no models")


if __name__ == "__main__":
    common.main_of(main)
