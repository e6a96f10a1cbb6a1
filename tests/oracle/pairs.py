#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many cases with LiteRT's results each operator of the format has, type by type, of those that `aotc ops` claims.

A case counts for the types of its first operand and first result, and of its second operand behind a condition; cases
that LiteRT refuses do not count. Pairs below the minimum are listed, and where else they are tested is not known here.
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys

NAMES = {"bool": "bool", "int8": "i8", "uint8": "u8", "int16": "i16", "uint16": "u16", "int32": "i32", "uint32": "u32",
         "int64": "i64", "float32": "f32", "float64": "f64"}
MINIMUM = 20


def counted(index):
    counts = collections.Counter()
    for entries in index["operators"].values():
        for e in entries:
            if not e["supported"]:
                continue
            tensors = [t for t in e["inputs"][:1] + e["outputs"][:1] if t]
            if e["kind"].startswith("SELECT"):
                tensors = e["inputs"][1:2]
            for dtype in {t["dtype"] for t in tensors}:
                counts[e["kind"], NAMES.get(dtype, dtype)] += 1
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=pathlib.Path, help="index.json of make_cases.py")
    parser.add_argument("--aotc", default=os.environ.get("AOTC", "aotc"))
    parser.add_argument("--wanted", type=int, default=0, help="exit with 1 if fewer pairs have enough cases")
    args = parser.parse_args()
    counts = counted(json.loads(args.index.read_text()))
    operators = json.loads(subprocess.run([args.aotc, "ops", "--json"], check=True, capture_output=True).stdout)
    pairs = [(name, t["dtype"]) for op in operators for name in op["tflite_names"] for t in op["types"]
             if t["dtype"] in NAMES.values()]
    few = [(name, dtype) for name, dtype in pairs if counts[name, dtype] < MINIMUM]
    rows = collections.defaultdict(list)
    for name, dtype in few:
        rows[name].append(f"{dtype} {counts[name, dtype]}")
    for name, types in sorted(rows.items()):
        print(f"{name:32} {', '.join(types)}")
    print(f"{len(pairs)} pairs of operator and type, {len(pairs) - len(few)} with {MINIMUM} cases or more; "
          f"{sum(counts.values())} cases")
    return 1 if len(pairs) - len(few) < args.wanted else 0


if __name__ == "__main__":
    sys.exit(main())
