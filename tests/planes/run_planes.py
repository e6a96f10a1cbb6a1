#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A network of planes (NCHW, as PyTorch has it) beside its twin of images (NHWC): what is left of its transposes.

Usage: run_planes.py --work DIR

For each network and type: how many transposes the file has and how many the compiled program, how many elements they
move, and the instructions of one run on Cortex-M4, of which the planes may cost 2 % more. Every layer equals LiteRT's. Where
the caller's input is planes of several channels, one transpose stays; a float network keeps the one before a
flatten, because fully connected layers add up in the order of their columns.
"""
import argparse
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "oracle"), str(HERE.parent / "e2e")]
import common  # noqa: E402

BOARD = "qemu_mps2_an386"
MOST = 1.02
# Transposes in the compiled program.
LEFT = {"plain_planes_f32": 1, "plain_planes_int8": 1, "residual_planes_f32": 1, "residual_planes_int8": 1,
        "flatten_planes_f32": 1, "flatten_images_f32": 1}


def measure(name, work):
    """(transposes of the file, of the program, elements that these move, instructions)"""
    path = common.model_path(name)
    folder = work / name
    common.create_project(path, BOARD, folder)
    report = common.report(folder)
    oracle = common.Oracle(path)
    found, figures = common.verify_on_board(folder, BOARD, oracle.samples)
    layers = report["layers"]
    common.compare(oracle, layers, found)
    moved = [layer for layer in layers if layer.get("op_type") == "TRANSPOSE"]
    elements = sum(common.np.prod(layer["results"][0]["shape"], dtype=int) for layer in moved)
    in_file = sum(op["op_name"] == "TRANSPOSE" for op in oracle.layers.operators)
    return in_file, len(moved), elements, figures["instructions"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    work = common.fresh(parser.parse_args().work.resolve())
    common.require(common.board(BOARD)["emulator"]["program"])
    failed, count = [], 0
    print(f"{'network':24}{'in the file':>12}{'left':>6}{'elements':>10}{'instructions':>14}{'of the twin':>13}")
    for network in ("plain", "residual", "flatten"):
        for kind in ("f32", "int8"):
            twin = measure(f"{network}_images_{kind}", work)
            planes = measure(f"{network}_planes_{kind}", work)
            for form, (in_file, left, elements, instructions) in (("images", twin), ("planes", planes)):
                name, ratio = f"{network}_{form}_{kind}", instructions / twin[3]
                print(f"{name:24}{in_file:12}{left:6}{elements:10}{instructions:14}{ratio:13.4f}")
                count += 2
                if left != LEFT.get(name, 0):
                    failed.append(f"{name}: {left} transposes are left, expected {LEFT.get(name, 0)}")
                if ratio > MOST:
                    failed.append(f"{name}: {ratio:.4f} of the instructions of its twin, at most {MOST}")
    print("\n".join([*failed, f"{count - len(failed)} passed, {len(failed)} failed"]))
    if failed:
        raise common.Failure(f"{len(failed)} failed")


if __name__ == "__main__":
    common.main_of(main)
