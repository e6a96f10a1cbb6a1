#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""-O speed takes no more estimated cycles than the default, and what --prefer says is what -O does.

Usage: levels.py --aotc PROGRAM

Compiles only. Skipped without the models of ../shared, unless CI=true.
"""
import argparse
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]
import measure  # noqa: E402

MODELS = ("kws", "vww", "resnet", "ad", "strww", "micro_speech")
CORES = ("cortex-m3", "cortex-m4f", "cortex-m7f", "rv32imac")
SAME = ((("--prefer", "flash"), ("-O", "size")), (("--prefer", "cycles"), ()),
        (("--prefer", "flash", "-O", "speed"), ("-O", "speed")), (("-O", "speed", "--prefer", "flash"), ("-O", "speed")))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aotc", required=True)
    aotc = measure.Aotc(parser.parse_args().aotc, 60)
    failed, checked = [], 0

    def figures(path, core, *options):
        row = aotc.run("check", path, "--cpu", core, *options)
        return {key: row[key] for key in ("estimated_cycles", "arena_bytes", "constants_bytes", "level")}

    digits = measure.model_path("digits_int8")
    for options, as_these in SAME:
        made, wanted = figures(digits, "cortex-m4f", *options), figures(digits, "cortex-m4f", *as_these)
        checked += 1
        if made != wanted:
            failed.append(f"{' '.join(options)} gives {made}, {' '.join(as_these) or 'the default'} {wanted}")
    here = [model for model in MODELS if measure.model_path(model)]
    for model in here:
        for core in CORES:
            path = measure.model_path(model)
            usual = figures(path, core)["estimated_cycles"]
            speed = figures(path, core, "-O", "speed")["estimated_cycles"]
            checked += 1
            if not 0 < speed <= usual:
                failed.append(f"{model} on {core}: {speed:,} cycles at -O speed, {usual:,} by default")
    for text in failed:
        print(f"FAILED: {text}")
    print(f"{checked - len(failed)} of {checked} hold")
    if failed or (os.environ.get("CI") == "true" and len(here) < len(MODELS)):
        return 1
    return 0 if here else 77


if __name__ == "__main__":
    sys.exit(main())
