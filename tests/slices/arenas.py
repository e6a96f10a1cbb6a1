#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Arenas of models whose first operators are computed row by row, on a Cortex-M4, beside what was asked for.

Usage: arenas.py --work DIR [--models NAME,...]

Prints for each model the bytes of the arena with --stream max --prefer ram: with rows fed (--input rows) and with the input in the arena. Fails where one is larger than it was.
"""
import argparse
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import common  # noqa: E402

# (asked for, what is reached) in bytes; nothing reached: the model cannot be fed.
ARENAS = {
    "kws": {"rows": (5200, 5156), "overwrite": (6500, 5534)},
    "vww": {"rows": (14700, 14496), "overwrite": (34000, 27960)},
    "resnet": {"rows": (18500, 16736), "overwrite": (22000, 18976)},
    "ad": {"rows": (1920, None), "overwrite": (1920, 1920)},
    "strww": {"rows": (4400, 3840), "overwrite": (4608, 3904)},
    "micro_speech": {"rows": (1600, 1220), "overwrite": (4200, 2936)},
}


def arena(model, contract):
    done = common.aotc("compile", common.model_path(model), "--cpu", "cortex-m4f", "--stream", "max", "--prefer", "ram",
                       "--input", contract, "--json", "-o", f"{model}_{contract}", "--quiet", expect=None)
    return json.loads(done.stdout)["arena_bytes"] if done.returncode == 0 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--models", type=lambda t: t.split(","), default=list(ARENAS))
    options = parser.parse_args()
    work = common.fresh(options.work.resolve())
    os.chdir(work)
    worse = []
    for model in options.models:
        for contract, (asked, known) in ARENAS[model].items():
            now = arena(model, contract)
            print(f"{model:13} {contract:10} {now if now is not None else 'refused':>8} asked {asked:>6}", flush=True)
            if (now is None) != (known is None) or (now is not None and now > known):
                worse.append(f"{model} {contract}: {now}, was {known}")
    print(f"{len(options.models)} models, {len(worse)} failed")
    if worse:
        raise common.Failure("; ".join(worse))


if __name__ == "__main__":
    common.main_of(main)
