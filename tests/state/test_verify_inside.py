# SPDX-License-Identifier: Apache-2.0
"""What verify says of floats that an operator of the C library computes inside of a branch.

A model whose branch is exact is compared whole. With TANH in place of a branch's RELU nothing is known of
the floats in there: they are counted as not compared, and not as equal or as so many ulp apart.
"""
import json

from ai_edge_litert import schema_py_generated as schema
import common
import flatbuffers

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


def test_exact_branch():
    place, said = verified(MODEL)
    assert not place["layers_not_compared"] and place["bit_exact_layers"] == place["layers"]
    assert "not compared" not in said


def test_tanh_in_a_branch(tmp_path):
    changed = tmp_path / "tanh.tflite"
    changed.write_bytes(with_tanh(MODEL.read_bytes()))
    place, said = verified(changed)
    left = place["layers_not_compared"]
    # Two products, NEG and TANH; the sum and the comparison before the branch are equal.
    assert left == 4 and f", {left} not compared" in said and place["worst_ulp"] <= 1000
    assert 2 <= place["bit_exact_layers"] <= place["layers"] - left
