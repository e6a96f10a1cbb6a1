#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whatever TensorFlow Lite Micro runs, aotc accepts, and computes what LiteRT's reference kernels compute.

Usage: gate.py --program check_models --work DIR [--sample N] [--random N] [--jobs N] [FILE...]

Models: the operator cases (build/cases), tests/models, models, recurrent and cases of the shared folder, and
random models (2,000). --sample takes one of N of them. FILE... are tried instead of all these.

A model that TensorFlow Lite Micro runs ends in one of these ways:
  accepted and equal   aotc's evaluation and loop programs, with --cc also its emitted C, give LiteRT's outputs;
                       those of TensorFlow Lite Micro where LiteRT refuses the model
  listed               aotc refuses it, or computes something else, for a reason that docs/errors.md lists
  failed               anything else
"""

import argparse
import collections
import dataclasses
import json
import multiprocessing
import pathlib
import re
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent / "random_models"), str(HERE.parent / "oracle")]
import compiler  # noqa: E402
import judge  # noqa: E402
import numpy as np  # noqa: E402
import records  # noqa: E402
from generate import random_model  # noqa: E402
from judge import ERRORS  # noqa: E402
from model import Model, input_types, samples_of, with_scale  # noqa: E402
from oracle import LiteRT  # noqa: E402
from tflm import TFLM  # noqa: E402

SHARED = ROOT.parent / "shared"
CASES = ROOT / "build" / "cases"
CHUNK = 60
HEADING = "## Models that TensorFlow Lite Micro runs and aotc does not"
# By operator: distance of its floats from LiteRT's, in units of the last place of the largest magnitude in the tensor.
# All others are equal bit by bit, and so is what only TensorFlow Lite Micro runs.
# Both operators are products of a matrix and a vector, for which LiteRT adds four sums at once and aotc one. A sum of n
# products, added in another order, moves by at most 2 (n - 1) times 2^-24 of the sum of their magnitudes, but errors
# have both signs. An LSTM's state carries what one step rounds into the next ones. The greatest distances of the
# models are 6 (lstm_long_f32, 40 steps) and 4 (svdf_kernels_f32).
FLOAT_ULP = {"UNIDIRECTIONAL_SEQUENCE_LSTM": 6, "SVDF": 4}

# Why aotc refuses what TensorFlow Lite Micro runs, or computes something else: what aotc, or the gate, says.
# docs/errors.md says why that is right, in a table of the same keys.
REASONS = {
    "announced-count": r"the options state \d+ (parts|values), but there are",
    "axis-outside": r"axis -?\d+ is outside a tensor of rank \d+",
    "bias-type": r"the bias is i(32|64), but quantized_bias_type says i(64|32)",
    "bias-zero-point": r"the bias has zero point -?\d+, expected 0",
    "concatenated-shapes": r"operand \d+ of shape \S+ does not fit operand 0 of shape \S+ but along axis",
    "copy-between-scales": r"copies values, but its operand \d+ and result \d+ are quantised differently",
    "element-outside": r"index -?\d+ of a dimension of \d+ \[|elements from \d+ in steps of \d+ leave dimension",
    "empty-result": r"takes nothing of a dimension|is not a valid image size",
    "fixed-scale": r"the result has scale \S+; \w+ of \w+ gives",
    "fused-activation": r"the fused activation is not supported",
    "input-data": r"an input of the model has constant data",
    "mirror-padding": r"dimension \d+, which has \d+ elements, is padded by -?\d+",
    "open-index": r"takes index \d+ of a dimension of \d+ with an open begin",
    "operand-missing": r"takes \d+( to \d+)? operands?, the model gives \d+|operand \d+ of \w+ is absent",
    "operand-rank": r"operand \d+ of \w+ has rank \d+ .*, expected \d|has shape \S+, expected rank \d",
    "option-value": r"must be a (positive|finite) number|must be at least 1",
    "order": r"is not a constant, and no earlier operator computes it|is an input, or an earlier operator already computes it",
    "per-channel-activation": r"is quantised per channel",
    "port-passed": r"output \d+ is not computed by any operator",
    "port-twice": r"(input|output) \d+ is listed twice",
    "reference-overflow": r"(overflows|leave|out of) the reference's (32-bit arithmetic|arithmetic|32 bits)|can overflow 32 bits|overflows 32 bits",
    "reshape-elements": r"\d+ elements \(shape .*\) cannot be reshaped to",
    "result-shape": r"result \d+ has shape .* in the model, the operands give",
    "rows-left": r"does not divide into rows for weights",
    "scale-count": r"\d+ scales for \d+ channels|\d+ scales, but \d+ zero points",
    "scale-missing": r"integers? (tensor )?without quantisation parameters",
    "scale-value": r"scale \d+ is \S+, but must be at least 0 and finite",
    "shapes-broadcast": r"shapes \S+ and \S+ do not broadcast",
    "split-sizes": r"parts \[.*\] do not add up to a dimension",
    "sum-of-scales": r"differs from LiteRT.*; equal to TensorFlow Lite Micro \((\w+,)*SUM(,\w+)*\)$",
    "type-expected": r"is \w+, expected \w+|options state another type",
    "variable": r"the tensor is a variable .* supports no state for its operator",
    "weights-zero-point": r"int8 weights have zero point -?\d+, expected 0",
    "while-exchange": r"\[while-exchange\]",
    "window-outside": r"window does not fit an input",
    "zero-point-outside": r"zero point \d+ is -?\d+, but must be from",
}


@dataclasses.dataclass
class Trial:
    name: str
    file: bytes
    samples: list


def case_trials():
    index = CASES / "index.json"
    if not index.exists():
        sys.exit(f"gate: {index} is missing: tests/oracle/make_cases.py build/cases")
    for op, entries in sorted(json.loads(index.read_text())["operators"].items()):
        for entry in entries:
            path = CASES / op / f"{entry['name']}.tflite"
            yield f"case {op}/{entry['name']}", path, path.with_suffix(".in")


def file_trials(folder):
    for path in sorted(folder.rglob("*.tflite")):
        yield f"file {path.relative_to(folder.parent)}", path, None


def made_trials():
    """Models that no file holds: scales as converters write them."""
    path = ROOT / "tests" / "models" / "state" / "lstm_plain_int8.tflite"
    op = Model.read(path.read_bytes()).ops[0]
    yield "made lstm, state of scale 0", path, (op.inputs[18], 0.0)
    yield "made lstm, result of another scale", path, (op.outputs[0], 0.01)
    path = SHARED / "cases" / "bilstm-int8" / "bilstm_int8.tflite"
    if path.exists():  # Bidirectional(return_sequences=True) has a REVERSE_V2 between two scales
        op = Model.read(path.read_bytes()).ops[0]
        yield "made bilstm, reverse between scales", path, (op.outputs[0], 0.031)


def samples_for(file, inputs):
    if inputs is None or not inputs.exists():
        return samples_of(file)[:1]
    sizes = [int(np.prod(shape, dtype=np.int64)) * dtype.itemsize for shape, dtype in input_types(file)]
    return records.unpack_inputs(inputs.read_bytes(), sizes)[:1]


def all_models(options):
    """(name, how to get it) of every model."""
    if options.files:
        return [(str(path), ("file", path, None)) for path in options.files]
    found = [(name, ("file", path, inputs)) for name, path, inputs in case_trials()]
    folders = [ROOT / "tests" / "models", *(SHARED / name for name in ("models", "recurrent", "cases"))]
    for folder in folders:
        if folder.is_dir():
            found += [(name, ("file", path, inputs)) for name, path, inputs in file_trials(folder)]
        else:
            print(f"skipped: {folder.name} of the shared folder is not there")
    found += [(name, ("scale", path, change)) for name, path, change in made_trials()]
    found += [(f"random {seed}", ("seed", seed)) for seed in range(1, options.random + 1)]
    return found[::options.sample]


class Gate:
    def __init__(self, options, name):
        self._micro, self._litert = TFLM(), LiteRT()
        self._compiler = compiler.Compiler(options.program, options.work / name, options.cc)

    def close(self):
        self._micro.close()
        self._litert.close()

    def trial(self, name, source):
        if source[0] == "seed":
            file = self._drawn(source[1])
            return Trial(name, file, samples_of(file)[:1])
        file = source[1].read_bytes()
        if source[0] == "scale":
            file = with_scale(file, *source[2])
            return Trial(name, file, samples_of(file)[:1])
        return Trial(name, file, samples_for(file, source[2]))

    def _drawn(self, seed):
        """Shapes are as LiteRT infers them where only it knows."""
        model, guessed = random_model(seed)
        file = model.file()
        answer = self._litert.ask(file, samples_of(file)) if guessed else ("no",)
        if answer[0] == "ran":
            for tensor, (shape, _) in answer[1][0].items():
                model.tensors[tensor].shape = [int(d) for d in shape]
        return model.file()

    def verdicts(self, models):
        """(name, what, detail) of each."""
        verdicts, tried = {}, []
        for name, source in models:
            try:
                trial = self.trial(name, source)
                answer = self._micro.ask(trial.file, trial.samples)
            except Exception as error:  # a damaged file of which not even the inputs are known
                answer = ("refused", f"{type(error).__name__}: {error}")
            if answer[0] == "ran":
                tried.append((trial, answer[1]))
            else:
                verdicts[name] = ("not run", answer[1])
        outcomes = self._compiler.run([(t.name, index % 35, t.file, t.samples) for index, (t, _) in enumerate(tried)])
        for (trial, micro), outcome in zip(tried, outcomes):
            verdicts[trial.name] = self._judge(trial, micro, outcome)
        return [(name, *verdicts[name]) for name, _ in models]

    def _judge(self, trial, micro, outcome):
        if outcome.verdict == compiler.REFUSED:
            return listed(outcome.text.strip().split("\n")[0]) or ("failed", f"refused: {outcome.text.strip()}")
        if outcome.verdict != compiler.ACCEPTED or outcome.emitted:
            return "failed", outcome.emitted or outcome.text
        litert = self._litert.ask(trial.file, trial.samples)
        kinds = sorted({op.kind for op in Model.read(trial.file).ops})
        wrong = None
        if litert[0] == "ran":
            outputs = Model.read(trial.file).outputs
            wanted = [[sample[t] for t in outputs] for sample in litert[1] if all(t in sample for t in outputs)]
            wrong = difference(outcome.values, [[np.frombuffer(b, np.uint8) for _, b in w] for w in wanted],
                               "LiteRT", max((FLOAT_ULP.get(kind, 0) for kind in kinds), default=0))
            if wrong is None:
                return "equal", "LiteRT"
        other = difference(outcome.values, [[np.frombuffer(a.tobytes(), np.uint8) for a in sample] for sample in micro],
                           "TensorFlow Lite Micro", 0)
        if wrong is None and other is None:
            return "equal", "TensorFlow Lite Micro"
        if wrong is not None and litert[0] == "ran" and self._is_undefined(trial, litert[1], outcome):
            return "listed", "float-beyond"
        text = f"{wrong or litert[1]}; {other or 'equal to TensorFlow Lite Micro'} ({','.join(kinds)})"
        return listed(text) or ("failed", text)

    def _is_undefined(self, trial, theirs, outcome):
        """Only where the judge of random models knows that LiteRT is undefined; names of tensors are those of such models."""
        return judge.Judge()._compare(Model.read(trial.file), theirs, outcome.values, trial.samples).what == judge.UNDEFINED


def listed(text):
    for key, words in REASONS.items():
        if re.search(words, text):
            return "listed", key
    return None


def difference(values, wanted, whose, ulp):
    """What is wrong with the outputs of all samples, or None."""
    for sample, (have, want) in enumerate(zip(values, wanted)):
        for i, expected in enumerate(want):
            dtype, data = have.get(f"output {i}", ("nothing", b""))
            if (text := _wrong(dtype, data, expected.tobytes(), ulp)) is not None:
                return f"output {i} of sample {sample} ({dtype}) differs from {whose}: {text}"
    return None


_TYPES = {"f32": "f4", "i8": "i1", "u8": "u1", "i16": "i2", "i32": "i4", "i64": "i8", "bool": "?"}


def _wrong(dtype, have, want, ulp):
    if have == want:
        return None
    if len(have) != len(want):
        return f"{len(have)} bytes, not {len(want)}"
    a, b = np.frombuffer(have, _TYPES.get(dtype, "u1")), np.frombuffer(want, _TYPES.get(dtype, "u1"))
    bad = a != b
    if dtype == "f32":
        bad = a.view(np.uint32) != b.view(np.uint32)
        finite = b[np.isfinite(b)]
        with np.errstate(invalid="ignore", over="ignore"):
            near = np.abs(a.astype(np.float64) - b) <= ulp * np.spacing(np.abs(finite).max(initial=0))
        bad &= ~((near if ulp else False) | (np.isnan(a) & np.isnan(b)))
    at = np.flatnonzero(bad)
    return f"element {at[0]} is {a[at[0]]}, not {b[at[0]]}; {at.size} of {a.size}" if at.size else None


def chunk(job):
    options, first, models = job
    gate = Gate(options, f"models_{first}")
    try:
        return gate.verdicts(models)
    finally:
        gate.close()
        shutil.rmtree(options.work / f"models_{first}", ignore_errors=True)


def documented():
    section = ERRORS.read_text().split(HEADING + "\n", 1)[-1].split("\n## ", 1)[0]
    return set(re.findall(r"^\| `([a-z0-9-]+)` \|", section, re.M))


def check_documents(seen, whole):
    """Reasons that docs/errors.md and REASONS do not share, and those that no model of a whole run has."""
    keys = {*REASONS, "float-beyond"}
    problems = [f"docs/errors.md, '{HEADING[3:]}': {key} is only {'here' if key in keys else 'there'}"
                for key in sorted(documented() ^ keys)]
    if whole:
        problems += [f"no model is refused for the reason {key}" for key in sorted(keys - seen)]
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--cc", default="", help="also build and run emitted C, such as 'gcc -O1'")
    parser.add_argument("--sample", type=int, default=1)
    parser.add_argument("--random", type=int, default=2000)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    models = all_models(options)
    jobs = [(options, at, models[at:at + CHUNK]) for at in range(0, len(models), CHUNK)]
    counts, reasons = collections.Counter(), collections.Counter()
    with multiprocessing.Pool(options.jobs) as pool:
        for results in pool.imap(chunk, jobs):
            for name, what, detail in results:
                counts[what] += 1
                if what in ("equal", "listed"):
                    reasons[f"{what}: {detail}"] += 1
                if what == "failed" or options.verbose:
                    print(f"{what.upper() if what == 'failed' else what} {name}: {detail}", flush=True)
    for reason, count in sorted(reasons.items()):
        print(f"{count:6} {reason}")
    whole = options.sample == 1 and not options.files
    problems = check_documents({r.split(": ")[1] for r in reasons if r.startswith("listed")}, whole)
    for problem in problems:
        print(f"FAILED {problem}")
    failed = counts["failed"] + len(problems)
    print(f"{len(models)} models, {counts['not run']} not run by TensorFlow Lite Micro: {counts['equal']} accepted and "
          f"equal, {counts['listed']} refused with a listed reason, {failed} failed")
    return 1 if failed or counts["equal"] == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
