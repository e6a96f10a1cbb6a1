#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""All C++ of the build is compiled without fused multiply-adds.

tir/interp.cpp and the operators' evaluation round after every operation, and gcc for 64-bit ARM fuses unless it is told.
"""
import argparse
import json
import pathlib
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="CMake's build folder")
    commands = json.loads((parser.parse_args().build / "compile_commands.json").read_text())
    ours = [c for c in commands if c["file"].endswith(".cpp") or c["file"].endswith(".cxx")]
    bad = [c["file"] for c in ours if "-ffp-contract=off" not in c["command"].split()]
    print(f"{len(ours) - len(bad)} passed, {len(bad)} failed")
    for file in bad[:10]:
        print(f"{file}: compiled without -ffp-contract=off")
    return 1 if bad or not ours else 0


if __name__ == "__main__":
    sys.exit(main())
