#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instructions of whole models for each multiply-accumulate, by kinds of operators.

Usage: instructions.py [--target m4] [--level balanced] MODEL.tflite...
"""
import argparse
import pathlib
import re
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]
import measure  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--target", default="m4", choices=measure.TARGETS)
    parser.add_argument("--level", default="balanced", choices=measure.LEVELS)
    parser.add_argument("--aotc", default=measure.ROOT / "build/release/compiler/aotc")
    options = parser.parse_args()
    aotc = measure.Aotc(options.aotc, 600)
    print(f"{'model':40} {'operators':>20} {'MACs':>12} {'instructions':>13} {'for each':>8}")
    with tempfile.TemporaryDirectory() as temporary:
        measure.SHIPPED = pathlib.Path(temporary)
        for path in options.models:
            name = "net_" + re.sub(r"\W", "_", path.stem)
            shutil.copy(path, measure.SHIPPED / f"{name}.tflite")
            row = measure.measure(aotc, name, options.target, options.level, measure.SHIPPED / "work",
                                  lambda text: None)
            if row is None:
                print(f"{path.stem:40} does not fit")
                continue
            kinds = {}
            for layer in row["layers"]:
                sums = kinds.setdefault(layer["op"] or "copies", [0, 0])
                sums[0] += layer["macs"]
                sums[1] += layer["instructions"]
            for kind, (macs, instructions) in {**kinds, "all": (row["macs"], row["instructions"])}.items():
                each = f"{instructions / macs:8.2f}" if macs else ""
                print(f"{path.stem:40} {kind:>20} {macs:>12,} {instructions:>13,} {each:>8}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
