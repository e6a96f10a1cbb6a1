#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What verify says of floats that an operator of the C library computes inside of a branch.

Usage: verify_inside.py --work DIR

A model whose branch is exact is compared whole. With TANH in place of a branch's RELU nothing is known of
the floats in there: they are counted as not compared, and not as equal or as so many ulp apart.
"""
import argparse
import json
import pathlib
import sys

import flatbuffers
from ai_edge_litert import schema_py_generated as schema

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "e2e")]
import common  # noqa: E402

MODEL = common.ROOT / "tests" / "models" / "state" / "if_captured_f32.tflite"
RELU, TANH = schema.BuiltinOperator.RELU, schema.BuiltinOperator.TANH


def with_tanh(data):
    model = schema.ModelT.InitFromPackedBuf(data, 0)
    codes = [c for c in model.operatorCodes if max(c.builtinCode, c.deprecatedBuiltinCode) == RELU]
    assert len(codes) == 1, "the model has one RELU"
    codes[0].builtinCode = codes[0].deprecatedBuiltinCode = TANH
    builder = flatbuffers.Builder(0)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def verified(path):
    """(its figures, its text) over samples that take either branch."""
    options = ("--only", "host", "--samples", "8")
    place = json.loads(common.aotc("verify", path, *options, "--json"))["places"][0]
    return place, common.aotc("verify", path, *options, "--quiet")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    work = common.fresh(parser.parse_args().work)
    place, said = verified(MODEL)
    if place["layers_not_compared"] or place["bit_exact_layers"] != place["layers"] or "not compared" in said:
        raise common.Failure(f"the model as it is: {place}, {said}")
    changed = work / "tanh.tflite"
    changed.write_bytes(with_tanh(MODEL.read_bytes()))
    place, said = verified(changed)
    left = place["layers_not_compared"]
    # Two products, NEG and TANH; the sum and the comparison before the branch are equal.
    if left != 4 or f", {left} not compared" not in said or place["worst_ulp"] > 1000:
        raise common.Failure(f"with TANH: {place}, {said}")
    if place["bit_exact_layers"] > place["layers"] - left or place["bit_exact_layers"] < 2:
        raise common.Failure(f"with TANH: {place}")
    print(f"2 passed, 0 failed: {left} of {place['layers']} layers not compared")


if __name__ == "__main__":
    common.main_of(main)
