#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every layer of a model on an emulated board, bit for bit as LiteRT's reference kernels.

Usage: layers_on_board.py MODEL BOARD --work DIR [--input ...] [--output overwrite|preserve]

Skipped where aotc says that the model does not fit the board. Keeps the figures of the run (code,
constants, arena, stack, instructions) in DIR/figures for figures.py.
"""
import argparse
import json
import pathlib

import common


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("board")
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--samples", type=int, default=2)
    parser.add_argument("--input", choices=("overwrite", "preserve"))
    parser.add_argument("--output", choices=("overwrite", "preserve"))
    options = parser.parse_args()
    contract = [f"--{port}={getattr(options, port)}" for port in ("input", "output")
                if getattr(options, port)]
    name = ".".join([options.model, options.board, *(word.strip("-") for word in contract)])
    path = common.model_path(options.model)
    common.require(common.board(options.board)["emulator"]["program"])
    folder = options.work.resolve() / name
    common.fresh(folder).rmdir()
    built = common.create_project(path, options.board, folder, *contract)
    if built is None:
        if not contract:
            common.store(options.work / "figures", name, {"fits": False})
        common.skip(f"{options.model} does not fit {options.board}")
    report = json.loads(common.aotc("report", folder, "--json"))
    oracle = common.Oracle(path, options.samples)
    found, figures = common.verify_on_board(folder, options.board, oracle.samples)
    layers = report["layers"]
    compared, worst = common.compare(oracle, layers, found)
    if options.model.startswith(("digits", "gadget")):  # aotc's own opinion
        common.aotc("verify", folder, "--only", "board", "--samples", "2", "--quiet")
    if contract:  # figures are those of the default
        print(f"{name}: {compared} results as LiteRT's, {figures['instructions']} instructions")
        return
    common.store(options.work / "figures", name, {
        "fits": True, "model": options.model, "board": options.board, "compared": compared,
        "cut_results": common.cut_results(layers), "worst_ulp": worst,
        "code_bytes": built["code_bytes"],
        "constants_bytes": built["constants_bytes"],
        "raw_constants_bytes": report["raw_constants_bytes"], "macs": report["macs"],
        "arena_bytes": report["arena_bytes"], "arena_optimal": report["arena_optimal"], **figures})
    cut = common.cut_results(layers)
    partly = f" ({cut} layers in their live channels)" if cut else ""
    distance = f", worst {worst} ulp" if common.is_float(options.model) else ""
    print(f"{options.model} on {options.board}: {compared} results as LiteRT's{partly}{distance}; "
          f"{figures['instructions']} instructions, stack {figures['stack_bytes']}, "
          f"code {built['code_bytes']}, constants {built['constants_bytes']}")


if __name__ == "__main__":
    common.main_of(main)
