#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many of the models in a folder compile, and are every layer LiteRT's?

Usage: keras_models.py FOLDER --work DIR

FOLDER is what scripts/make-keras-models wrote: ordinary Keras models with an open batch. Each is
compiled and run on this machine (gcc, -O2); what is refused is printed with the first line of its message.
"""
import argparse
import os
import pathlib
import sys

import common

BUNDLE = pathlib.Path(__file__).with_name("bundle.py")


def outcome(path, work):
    """"equal", and what bundle.py counted; or "refused" or "differs", and why."""
    made = common.aotc("check", path, "--quiet", expect=None)
    if made.returncode:
        return "refused", next(line for line in made.stderr.splitlines() if " error: " in line)
    # In a process of its own: some of LiteRT's kernels abort.
    command = [sys.executable, BUNDLE, "gcc", "--work", work, "--models", path.stem]
    done = common.run(command, expect=None, env={**os.environ, common.MORE_MODELS: str(path.parent)})
    if done.returncode:
        return "differs", (done.stdout.splitlines() or [f"exit code {done.returncode}"])[-1]
    return "equal", done.stdout.splitlines()[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    models = sorted(options.folder.resolve().glob("*.tflite"))
    counts = dict.fromkeys(("equal", "refused", "differs"), 0)
    for path in models:
        what, why = outcome(path, options.work.resolve() / path.stem)
        counts[what] += 1
        print(f"{path.stem}: {what}: {why}", flush=True)
    print(f"{counts['equal']} of {len(models)} models compile and equal LiteRT in every layer, "
          f"{counts['refused']} refused, {counts['differs']} differ")
    return 1 if counts["differs"] or not models else 0


if __name__ == "__main__":
    sys.exit(main())
