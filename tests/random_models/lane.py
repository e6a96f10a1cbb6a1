#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random models through aotc and LiteRT: every one must end in a way that is accounted for.

  equal                          both run it; every operator's result is the same
  equal where LiteRT is defined  apart from conversions of floats that C++ leaves undefined
  refused by both
  refused by aotc only           with a slug that docs/errors.md lists
  accepted by aotc only          for a reason that docs/errors.md lists

Anything else fails. A model that fails is made smaller and kept as a file; --file repeats it.
"""

import argparse
import collections
import dataclasses
import multiprocessing
import os
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import judge  # noqa: E402
import reduction  # noqa: E402
from compiler import Compiler  # noqa: E402
from generate import RULES, random_model  # noqa: E402
from model import Model, samples_of  # noqa: E402
from oracle import LiteRT  # noqa: E402

CHUNK = 100
MOST_REDUCED = 12
LEAST_EQUAL = 60  # per cent


@dataclasses.dataclass
class Settings:
    program: pathlib.Path
    work: pathlib.Path
    cc: str
    damage: str
    only: str | None
    any_type: bool = False


class Lane:
    """One LiteRT and one compiler, and the models that go to both."""

    def __init__(self, settings, name):
        self._litert = LiteRT()
        self._compiler = Compiler(settings.program, settings.work / name, settings.cc,
                                  settings.damage)
        self._judge = judge.Judge()
        self._only, self._any_type = settings.only, settings.any_type

    def close(self):
        self._litert.close()

    def drawn(self, seed):
        """The model of a seed, with shapes as LiteRT infers them where only it knows."""
        model, guessed = random_model(seed, self._only, self._any_type)
        if guessed:
            file = model.file()
            answer = self._litert.ask(file, samples_of(file))
            if answer[0] == "ran":
                for tensor, (shape, _) in answer[1][0].items():
                    model.tensors[tensor].shape = [int(d) for d in shape]
        return model

    def verdicts(self, trials):
        """Of [(name, variant, model, file)]."""
        samples = [samples_of(file) for _, _, _, file in trials]
        answers = [self._litert.ask(t[3], s) for t, s in zip(trials, samples)]
        outcomes = self._compiler.run(
            [(name, variant, file, s) for (name, variant, _, file), s in zip(trials, samples)])
        return [self._judge.judge(t[2], s, a, o)
                for t, s, a, o in zip(trials, samples, answers, outcomes)]

    def verdict(self, seed, model):
        return self.verdicts([(f"model {seed}", variant_of(seed), model, model.file())])[0]


def variant_of(seed):
    """How the model is planned; see tests/random_graphs/targets.h."""
    return seed % 35


def chunk(job):
    """What became of the models of some seeds: [(seed, kinds of operators, verdict)]."""
    settings, first, count = job
    lane = Lane(settings, f"models_{first}")
    try:
        models = [(seed, lane.drawn(seed)) for seed in range(first, first + count)]
        verdicts = lane.verdicts(
            [(f"model {seed}", variant_of(seed), m, m.file()) for seed, m in models])
        shutil.rmtree(settings.work / f"models_{first}", ignore_errors=True)
        return [(seed, [op.kind for op in m.ops], v) for (seed, m), v in zip(models, verdicts)]
    finally:
        lane.close()


def reduced(settings, seed, verdict):
    """Writes the smallest model that fails like this one; its path and its operators."""
    lane = Lane(settings, f"reduce_{seed}")
    try:
        def fails(model):
            now = lane.verdict(seed, model)
            return now.what == judge.FAILED and now.kind == verdict.kind

        small = reduction.reduce(lane.drawn(seed), fails)
        path = settings.work / "failures" / f"model_{seed}_{variant_of(seed)}.tflite"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(small.file())
        return path, small, lane.verdict(seed, small)
    finally:
        lane.close()
        shutil.rmtree(settings.work / f"reduce_{seed}", ignore_errors=True)


# --- Reports ---------------------------------------------------------------------------------------


def report_failures(settings, failures):
    """Each way of failing once, reduced; the others by their seeds."""
    ways = collections.defaultdict(list)
    for seed, verdict in failures:
        ways[verdict.kind].append((seed, verdict))
    for number, group in enumerate(ways.values()):
        seed, verdict = group[0]
        print(f"FAILED model {seed}: {verdict.detail}")
        if len(group) > 1:
            print(f"  and so: {', '.join(str(s) for s, _ in group[1:20])}")
        if number >= MOST_REDUCED:
            continue
        path, small, now = reduced(settings, seed, verdict)
        print(f"  reduced to {len(small.ops)} operator(s), {reduction.describe(small)}: "
              f"{now.detail}")
        damage = f" --damage {settings.damage}" if settings.damage else ""
        print(f"  repeat: scripts/random-models --file {os.path.relpath(path)}{damage}", flush=True)


def report_counts(results, kinds):
    counts = collections.Counter(v.what for v in results)
    for what in judge.CLASSES:
        print(f"{counts[what]:6}  {100 * counts[what] / len(results):5.1f} %  {what}")
        if what in (judge.WE_REFUSE, judge.ONLY_WE_ACCEPT, judge.BOTH_REFUSE):
            details = collections.Counter(v.detail for v in results if v.what == what)
            print("        " + ", ".join(f"{d} {n}" for d, n in details.most_common()))
    print(f"operators: {sum(kinds.values())} of {len(kinds)} kinds, the rarest "
          + ", ".join(f"{kind} {n}" for kind, n in kinds.most_common()[:-4:-1]))
    return counts


def run(settings, first, count, jobs):
    pieces = [(settings, at, min(CHUNK, first + count - at))
              for at in range(first, first + count, CHUNK)]
    results, failures, kinds = [], [], collections.Counter()
    with multiprocessing.Pool(jobs) as pool:
        for found in pool.imap_unordered(chunk, pieces):
            for seed, operators, verdict in found:
                results.append(verdict)
                kinds.update(operators)
                if verdict.what == judge.FAILED:
                    failures.append((seed, verdict))
            print(f"random-models: {len(results)} of {count}, {len(failures)} failed",
                  file=sys.stderr, flush=True)
    failures.sort(key=lambda f: f[0])
    report_failures(settings, failures)
    counts = report_counts(results, kinds)
    few = not settings.any_type and counts[judge.EQUAL] * 100 < LEAST_EQUAL * count
    if few:
        print(f"FAILED: fewer than {LEAST_EQUAL} % are equal")
    print(f"{count - len(failures)} passed, {len(failures)} failed")
    return 1 if failures or few else 0


def run_file(settings, path):
    """One file, as a reduced failure is kept: its variant is the last number of its name."""
    last = path.stem.rsplit("_", 1)[-1]
    file = path.read_bytes()
    lane = Lane(settings, "file")
    try:
        model = Model.read(file)
        verdict = lane.verdicts([("model 0", int(last) if last.isdigit() else 0, model, file)])[0]
    finally:
        lane.close()
    print(f"{path}: {reduction.describe(model)}: {verdict.what}"
          + (f": {verdict.detail}" if verdict.detail else ""))
    return verdict.what == judge.FAILED


def check_documents():
    """The reasons that the lane allows are those that the documentation gives."""
    documented = judge.documented_reasons()
    problems = [f"docs/errors.md does not explain the reason '{r}'"
                for r in sorted(set(judge.REASONS) - documented)]
    problems += [f"docs/errors.md explains '{r}', which the lane does not know"
                 for r in sorted(documented - set(judge.REASONS))]
    for problem in problems:
        print(f"FAILED: {problem}")
    return problems


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(prog="random-models", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2000, help="models (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the first model (%(default)s)")
    parser.add_argument("--only", choices=sorted(RULES), metavar="OPERATOR",
                        help="models of this operator alone, as CONV_2D")
    parser.add_argument("--any-type", action="store_true",
                        help="operators on types that are not theirs, most of which are refused")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    parser.add_argument("--file", type=pathlib.Path, help="only this model")
    parser.add_argument("--documents", action="store_true",
                        help="only whether docs/errors.md explains the reasons allowed here")
    parser.add_argument("--program", type=pathlib.Path,
                        default=root / "build/release/tests/check_models", help="check_models")
    parser.add_argument("--work", type=pathlib.Path, default=root / "build/random_models",
                        help="directory that is emptied, for emitted C and failures")
    parser.add_argument("--cc", default="gcc -O1", help="C compiler and flags (%(default)s)")
    parser.add_argument("--damage", default="",
                        help="spoil an operator's results, or 'emitted', to see the lane fail")
    parser.add_argument("--check-arguments", action="store_true",
                        help="end here, if the arguments are right")
    options = parser.parse_args()
    if options.count < 1 or options.jobs < 1:
        parser.error("--count and --jobs take numbers from 1")
    if options.check_arguments:
        return 0
    settings = Settings(options.program.resolve(), options.work.resolve(), options.cc,
                        options.damage, options.only, options.any_type)
    if options.file:
        return run_file(settings, options.file)
    if check_documents():
        return 1
    if options.documents:
        return 0
    shutil.rmtree(settings.work, ignore_errors=True)
    return run(settings, options.seed, options.count, options.jobs)


if __name__ == "__main__":
    sys.exit(main())
