#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints which operators the models of tests/models/state hold, in all of their subgraphs.

One line a model, then one line an operator: NAME, the types it works on, in how many models.
"""
import argparse
import collections
import pathlib

import model_file

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "models" / "state"


def main():
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    types, models = collections.defaultdict(set), collections.defaultdict(set)
    print("| model | bytes | subgraphs | operators |\n|---|--:|--:|---|")
    for path in sorted(FOLDER.glob("*.tflite")):
        data = path.read_bytes()
        model, counts = model_file.Model(data), collections.Counter()
        for (name, dtype), count in model.operators().items():
            counts[name] += count
            types[name].add(dtype)
            models[name].add(path.stem)
        shown = ", ".join(f"{name} {count}" if count > 1 else name
                          for name, count in sorted(counts.items()))
        print(f"| {path.stem} | {len(data):,} | {model.subgraphs()} | {shown} |")
    print("\n| operator | types | models |\n|---|---|--:|")
    for name in sorted(models, key=lambda n: (-len(models[n]), n)):
        print(f"| {name} | {', '.join(sorted(types[name]))} | {len(models[name])} |")


if __name__ == "__main__":
    main()
