# SPDX-License-Identifier: Apache-2.0
"""Regenerates the committed models: all of them, or those whose generators are named."""

import argparse
import importlib

import common

GENERATORS = ("digits", "from_keras", "gadget", "keras_layers", "ops", "planes", "state_models", "torch_twins")


def main():
    parser = argparse.ArgumentParser(prog="scripts/make-samples", description=__doc__)
    parser.add_argument("generator", nargs="*", help=f"of {', '.join(GENERATORS)}; default all")
    names = parser.parse_args().generator or GENERATORS
    unknown = sorted(set(names) - set(GENERATORS))
    if unknown:
        parser.error(f"unknown generator {unknown[0]}; there are {', '.join(GENERATORS)}")
    common.set_up_tensorflow()
    for name in names:
        for line in importlib.import_module(name).generate():
            print(line, flush=True)


main()
