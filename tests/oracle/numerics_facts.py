#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Re-checks every fact of docs/numerics.md against LiteRT and prints 'N passed, N failed'.

A fact is an experiment that would come out differently if the fact were false: wherever two
formulas are plausible, it holds data on which they differ, and says which one LiteRT follows.
"""

import argparse
import sys

import facts_float  # noqa: F401  (importing registers the facts)
import facts_hybrid  # noqa: F401
import facts_integer  # noqa: F401
from experiment import FACTS


def main():
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    passed = failed = 0
    for text, check in FACTS:
        try:
            good = check()
        except Exception as error:  # a crash of an experiment is a failed fact, not the end
            good, text = False, f"{text}\n       {type(error).__name__}: {error}"
        passed, failed = passed + bool(good), failed + (not good)
        print(f"{'ok  ' if good else 'FAIL'} {text}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
