#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every layer of a model on emulated boards, bit for bit as LiteRT's reference kernels.

Usage: layers_on_board.py MODEL BOARD... --work DIR

A BOARD may end in .preserve (inputs stay with the caller) or .overwrite (outputs lie in the arena,
too). Ends with 'N passed, N failed, N skipped': skipped are boards that aotc says the model does not
fit. Keeps the figures of the runs (code, constants, arena, stack, instructions) in DIR/figures for
figures.py. The model's results by LiteRT are computed once for all boards.
"""
import argparse
import functools
import pathlib

import common

CONTRACTS = {"": [], "preserve": ["--input=preserve"],
             "overwrite": ["--input=overwrite", "--output=overwrite"]}


@functools.cache
def oracle_of(model, samples):
    return common.Oracle(common.model_path(model), samples)


def run(model, run_name, work, samples):
    """A line that says what was compared, or None where the model does not fit."""
    board, _, contract = run_name.partition(".")
    name = f"{model}.{run_name}"
    common.require(common.board(board)["emulator"]["program"])
    folder = work.resolve() / name
    common.fresh(folder).rmdir()
    built = common.create_project(common.model_path(model), board, folder, *CONTRACTS[contract])
    if built is None:
        if not contract:
            common.store(work / "figures", name, {"fits": False})
        return None
    report = common.report(folder)
    oracle = oracle_of(model, samples)
    found, figures = common.verify_on_board(folder, board, oracle.samples)
    layers = report["layers"]
    compared, worst = common.compare(oracle, layers, found)
    if model.startswith(("digits", "gadget")):  # aotc's own opinion
        common.aotc("verify", folder, "--only", "board", "--samples", "2", "--quiet")
    if contract:  # figures are those of the default
        return f"{name}: {compared} results as LiteRT's, {figures['instructions']} instructions"
    cut = common.cut_results(layers)
    common.store(work / "figures", name, {
        "fits": True, "model": model, "board": board, "compared": compared,
        "cut_results": cut, "worst_ulp": worst, "code_bytes": built["code_bytes"],
        "constants_bytes": built["constants_bytes"],
        "raw_constants_bytes": report["raw_constants_bytes"], "macs": report["macs"],
        "arena_bytes": report["arena_bytes"], "arena_optimal": report["arena_optimal"], **figures})
    partly = f" ({cut} layers in their live channels)" if cut else ""
    distance = f", worst {worst} ulp" if common.is_float(model) else ""
    return (f"{model} on {board}: {compared} results as LiteRT's{partly}{distance}; "
            f"{figures['instructions']} instructions, stack {figures['stack_bytes']}, "
            f"code {built['code_bytes']}, constants {built['constants_bytes']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("boards", nargs="+", metavar="BOARD")
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--samples", type=int, default=2)
    options = parser.parse_args()
    common.model_path(options.model)  # skips here, before anything counts
    passed, failures, skipped = 0, [], 0
    for board in options.boards:
        try:
            said = run(options.model, board, options.work, options.samples)
        except common.Failure as failure:
            failures.append(f"{options.model} on {board}: {failure}")
            continue
        print(said or f"{options.model} does not fit {board}", flush=True)
        passed, skipped = passed + (said is not None), skipped + (said is None)
    print(f"{passed} passed, {len(failures)} failed, {skipped} skipped")
    if failures:
        raise common.Failure("\n".join(failures))


if __name__ == "__main__":
    common.main_of(main)
