#!/usr/bin/env python3
# SPDX-License-Identifier: 0BSD
"""Emitted C of a few small models, compared to the letter with what is stored beside this file.

Usage: golden.py check|update --aotc PROGRAM --work DIR

A change of the emitted C shows up here as a difference to be read: run tests/golden/update and look
at `git diff tests/golden`. Large tables are stored as their SHA-256 only.
"""
import argparse
import difflib
import hashlib
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
MODELS = HERE.parent / "models"
LARGEST = 10_000
CASES = {
    # name: (model, options); every file
    "dense": ("ops/dense_int8.tflite", ["--arena", "model"]),
    "chain": ("keras/flatten_int8.tflite", []),
    "chain_workspace": ("keras/conv1d_int8.tflite", ["--memory", "workspace"]),
    "state": ("state/accumulator_int8.tflite", []),
    "slices": ("state/while_count_f32.tflite", ["--slice", "call"]),
    "cortex_m4": ("ops/dense_int8.tflite", ["--board", "qemu_mps2_an386"]),
}
# One operator each: the functions that `prefix.c` holds, a file for each model.
OPERATORS = """
    add_int8 add_f32 avg_pool_same_int8 avg_pool_same_f32 concat_ranges_differ_int8 conv_1x1_relu6_int8
    conv_same_int8 conv_same_f32 conv_io_int8_float_io dense_f32 depthwise_same_int8 depthwise_same_f32 hard_swish_int8
    hard_swish_f32 leaky_relu_int8 leaky_relu_f32 logistic_int8 logistic_f32 max_pool_same_int8 maximum_int8 maximum_f32
    mean_hw_keep_int8 mean_hw_keep_f32 minimum_broadcast_int8 mul_channel_gate_int8 mul_relu6_f32 pack_last_int8
    pad_hw_int8 resize_nearest_up_int8 softmax_int8 softmax_f32 split_last_int8 strided_slice_masks_int8 tanh_int8 tanh_f32
    transpose_nchw_int8 unpack_last_int8
""".split()
MOST_LINES = 420  # of one file: more is not read


def stored_form(path):
    data = path.read_bytes()
    if len(data) <= LARGEST or not path.name.endswith("_data.c"):
        return path.name, data.decode()
    return path.name + ".sha256", hashlib.sha256(data).hexdigest() + "\n"


def emitted(aotc, work, name):
    if name == "operators":
        return {f"{m}.c": one(aotc, work, m, f"ops/{m}.tflite", [], "model")["model.c"] for m in OPERATORS}
    model, options = CASES[name]
    return one(aotc, work, name, model, options, name)


def one(aotc, work, name, model, options, prefix):
    folder = work / name
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([aotc, "compile", MODELS / model, "--prefix", prefix, "-o", folder, "--quiet", *options],
                   check=True, stdout=subprocess.DEVNULL)
    files = [p for p in sorted(folder.iterdir()) if p.name != "aotc.json"]
    return dict(stored_form(p) for p in files)


def check(have, want, name):
    """Lines that say how they differ."""
    out = []
    for file in sorted(have.keys() | want.keys()):
        before, after = want.get(file, ""), have.get(file, "")
        if before != after:
            out += list(difflib.unified_diff(before.splitlines(), after.splitlines(), f"golden/{name}/{file}",
                                             f"emitted/{name}/{file}", lineterm="", n=2))[:40]
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("check", "update"))
    parser.add_argument("--aotc", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    failed = 0
    for name in [*CASES, "operators"]:
        have = emitted(options.aotc.resolve(), options.work.resolve(), name)
        folder = HERE / name
        if options.action == "update":
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            for file, text in have.items():
                (folder / file).write_text(text)
            continue
        want = {p.name: p.read_text() for p in folder.iterdir()} if folder.exists() else {}
        difference = check(have, want, name)
        difference += [f"golden/{name}/{file}: {text.count(chr(10))} lines, at most {MOST_LINES} are read"
                       for file, text in want.items() if file.endswith((".c", ".h")) and text.count("\n") > MOST_LINES]
        if difference or not have:
            failed += 1
            print("\n".join(difference))
    if options.action == "check":
        print(f"{len(CASES) + 1 - failed} passed, {failed} failed")
        if failed:
            print("if the change is meant: tests/golden/update, and read the difference")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
