#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Arena, tables and code of models together (aotc compile --together) on a Cortex-M4, beside the sum of them alone.

Usage: together.py figures --work DIR A,B...
"""
import argparse
import json
import pathlib

import common
from c_program import M4


def text_bytes(work, sources):
    """Code of sources, without tables, as the cross compiler makes it at -O2."""
    total = 0
    for source in sources:
        object_file = work / f"{source.stem}.size.o"
        common.run([M4.compiler, "-std=c99", "-O2", "-ffp-contract=off", *M4.flags, f"-I{source.parent}", "-c", source, "-o",
                    object_file])
        total += int(common.run(["arm-none-eabi-size", object_file]).splitlines()[1].split()[0])
    return total


def pair_figures(pair, work):
    """Of models that are there: bytes together and the sum of both alone."""
    paths = [common.model_path(n) for n in pair]
    folder = common.fresh(work / "_".join(pair))
    figures = json.loads(common.aotc("compile", *paths, "--together", "--prefix", "set", "--cpu", "cortex-m4f", "-o",
                                     folder / "set", "--json", "-q"))
    alone = []
    for name, path in zip(pair, paths):
        common.aotc("compile", path, "--prefix", name, "--cpu", "cortex-m4f", "-o", folder / name, "-q")
        alone.append(folder / name / f"{name}.c")
    figures["code_bytes"] = {"together": text_bytes(folder, [folder / "set" / "set.c"]), "sum": text_bytes(folder, alone)}
    return figures


def print_figures(pairs, work):
    print(f"{'':22}" + "".join(f"{what:>22}" for what in ("arena", "tables", "code", "functions")))
    for pair in pairs:
        figures = pair_figures(pair, work)
        cells = [figures[w] for w in ("arena_bytes", "constants_bytes", "code_bytes", "functions")]
        print(f"{' + '.join(pair):22}" + "".join(f"{c['together']:>11,} of {c['sum']:>7,}" for c in cells))
        for what in ("arena_bytes", "code_bytes"):
            if figures[what]["together"] >= figures[what]["sum"]:
                raise common.Failure(f"{what} of {pair} are not fewer together")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["figures"])
    parser.add_argument("pairs", nargs="+")
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_intermixed_args()
    print_figures([pair.split(",") for pair in options.pairs], options.work.resolve())


if __name__ == "__main__":
    common.main_of(main)
