#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What segments cost: instructions of a run on a Cortex-M4 with --stream max --prefer ram beside those of the default, and both arenas.

Usage: price.py --work DIR [--models NAME=MOST,...]    MOST: how many times the default's instructions a model may take

Fails where a model takes more, or where the firmware's self test finds another result of a layer.
"""
import argparse
import json
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import common  # noqa: E402

BOARD = "qemu_mps2_an386"
MODELS = "kws=1.07,vww=1.03"


def measured(model, folder, *options):
    """Instructions and the bytes of the arena."""
    if common.create_project(common.model_path(model), BOARD, folder, *options) is None:
        raise common.Failure(f"{model} does not fit {BOARD}")
    found = json.loads(common.aotc("run", folder, "--json", "--quiet"))
    if "self test: bit-exact" not in found["output"]:
        raise common.Failure(f"{folder}: {found['output']}")
    return found["instructions"], int(re.search(r"arena (\d+) bytes", found["output"])[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--models", default=MODELS)
    options = parser.parse_args()
    os.chdir(common.fresh(options.work.resolve()))
    dearer = []
    models = [one.split("=") for one in options.models.split(",")]
    for model, most in models:
        (plain, whole), (rows, arena) = (measured(model, f"{model}_whole"),
                                         measured(model, f"{model}_rows", "--stream", "max", "--prefer", "ram"))
        print(f"{model:13} {plain:>10,} instructions, arena {whole:>7,}; rows {rows:>10,}, arena {arena:>7,}: {rows / plain:.3f}",
              flush=True)
        if rows > float(most) * plain:
            dearer.append(f"{model}: {rows / plain:.3f}, at most {most}")
    print(f"{len(models) - len(dearer)} passed, {len(dearer)} failed")
    if dearer:
        raise common.Failure("; ".join(dearer))


if __name__ == "__main__":
    common.main_of(main)
