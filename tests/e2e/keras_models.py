#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many of the models in a folder compile, and are every layer LiteRT's?

Usage: keras_models.py FOLDER --work DIR

FOLDER is what scripts/make-keras-models wrote: ordinary Keras models with an open batch, in several kinds.
Each is compiled and run on this machine (gcc, -O2); what is refused is printed with the first line of its
message. At the end is a table of models and kinds. "builtin": LiteRT's reference kernels lack an operator (ELU,
TILE), and every layer equals its optimised kernels; "alone": these differ from the reference, so that there is
nothing to compare it with. "flex": the converter left operators that only TensorFlow itself runs.
"""
import argparse
import os
import pathlib
import sys

import common

# As scripts/make-keras-models names them, in this order; others stand behind.
KINDS = ("f32", "int8", "int16", "dynamic", "float16")
TEST = pathlib.Path(__file__).with_name("test_models.py")


def outcome(path, work):
    """"equal", and what test_models.py counted; or "refused" or "differs", and why."""
    made = common.aotc("check", path, "--quiet", expect=None)
    if made.returncode:
        why = next(line for line in made.stderr.splitlines() if " error: " in line)
        return "flex" if "Flex operators run in TensorFlow itself" in made.stderr else "refused", why
    # In a process of its own: some of LiteRT's kernels abort.
    command = [sys.executable, "-m", "pytest", "-q", "-s", TEST, "-k", "models.file-", "--models", path, f"--basetemp={work}"]
    done = common.run(command, expect=None)
    if done.returncode and "Didn't find op for builtin" in done.stdout:
        again = common.run(command, expect=None, env={**os.environ, "AOTC_KERNELS": "builtin"})
        lacking = next(line for line in done.stdout.splitlines() if "Didn't find op" in line)
        return "alone" if again.returncode else "builtin", lacking
    said = [line for line in done.stdout.splitlines() if line.startswith("E  ") or "results as LiteRT's" in line]
    return "differs" if done.returncode else "equal", (said or [f"exit code {done.returncode}"])[-1]


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
          f"{count('builtin')} its optimised kernels, {count('alone')} compile with nothing to compare them with, "
          f"{count('refused')} refused, {count('flex')} need TensorFlow, "
          f"{count('differs')} differ")
    return 1 if count("differs") or not models else 0


if __name__ == "__main__":
    sys.exit(main())
