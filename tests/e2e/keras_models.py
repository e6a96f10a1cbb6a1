#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many of the models in a folder compile, and are every layer LiteRT's?

Usage: keras_models.py FOLDER --work DIR

FOLDER is what scripts/make-keras-models wrote: ordinary Keras models with an open batch, in several kinds.
Each is compiled and run on this machine (gcc, -O2); what is refused is printed with the first line of its
message. At the end is a table of models and kinds. "alone": it compiles and runs, but LiteRT's reference
kernels lack an operator (ELU), so that there is nothing to compare it with.
"""
import argparse
import os
import pathlib
import sys

import common

# As scripts/make-keras-models names them, in this order; others stand behind.
KINDS = ("f32", "int8", "int16", "dynamic", "float16")
BUNDLE = pathlib.Path(__file__).with_name("bundle.py")


def outcome(path, work):
    """"equal", and what bundle.py counted; or "refused" or "differs", and why."""
    made = common.aotc("check", path, "--quiet", expect=None)
    if made.returncode:
        return "refused", next(line for line in made.stderr.splitlines() if " error: " in line)
    # In a process of its own: some of LiteRT's kernels abort.
    command = [sys.executable, BUNDLE, "gcc", "--work", work, "--models", path.stem]
    done = common.run(command, expect=None, env={**os.environ, common.MORE_MODELS: str(path.parent)})
    if done.returncode and "Didn't find op for builtin" in done.stdout:
        return "alone", next(line for line in done.stdout.splitlines() if "Didn't find op" in line)
    if done.returncode:
        return "differs", (done.stdout.splitlines() or [f"exit code {done.returncode}"])[-1]
    return "equal", done.stdout.splitlines()[-1]


def table(outcomes):
    """Lines of what became of each model (rows) in each kind (columns)."""
    names = sorted({name for name, _ in outcomes})
    found = {kind for _, kind in outcomes}
    kinds = [k for k in KINDS if k in found] + sorted(found - set(KINDS))
    yield f"{'':24}" + "".join(f"{kind:>10}" for kind in kinds)
    for name in names:
        yield f"{name:24}" + "".join(f"{outcomes.get((name, kind), '-'):>10}" for kind in kinds)
    yield f"{'equal':24}" + "".join(
        f"{sum(outcomes.get((name, kind)) == 'equal' for name in names):>10}" for kind in kinds)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    models = sorted(options.folder.resolve().glob("*.tflite"))
    outcomes = {}
    for path in models:
        what, why = outcome(path, options.work.resolve() / path.stem)
        outcomes[tuple(path.stem.rsplit("_", 1))] = what
        print(f"{path.stem}: {what}: {why}", flush=True)
    print("\n".join(table(outcomes)))
    count = lambda what: sum(o == what for o in outcomes.values())
    print(f"{count('equal')} of {len(models)} models compile and equal LiteRT in every layer, "
          f"{count('alone')} compile with nothing to compare them with, {count('refused')} refused, "
          f"{count('differs')} differ")
    return 1 if count("differs") or not models else 0


if __name__ == "__main__":
    sys.exit(main())
