# SPDX-License-Identifier: Apache-2.0
"""What `verify` and the self test of firmware allow float results: docs/numerics.md, "What verify allows"."""
import json
import re
import struct

import common
import numpy as np
import pytest
from tflite_builder import ModelBuilder

VERIFY_FAILED = 4


def verified(project, *options):
    """The JSON of a verification that passed; None if a difference was found."""
    done = common.aotc("verify", project, "--json", "--quiet", *options, expect=None)
    report = json.loads(done.stdout)
    if done.returncode == 0:
        return report
    if done.returncode == VERIFY_FAILED and report["errors"][0]["slug"] == "verify-differs":
        return None
    raise common.Failure(f"aotc verify exits with {done.returncode}\n{done.stderr[-2000:]}")


def self_test_passes(project):
    """What the firmware says of itself."""
    done = common.aotc("run", project, expect=None)
    assert "self test: " in done.stdout, done.stderr
    return "self test: FAILED" not in done.stdout


def tables_of(text):
    """name -> (begin, end) of the numbers of each table of weights in a NAME_data.c."""
    return {m[1]: m.span(2) for m in re.finditer(
        r"^const float (\w+_weights)\[\d+\][^=\n]* = \{\n(.*?)^\};", text, re.M | re.S)}


def flip(data, table, bit, rank):
    """Flips a bit of the weight that is the `rank`th largest of a table, in the file `data`."""
    text = data.read_text()
    begin, end = tables_of(text)[table]
    numbers = list(re.finditer(r"[^\s,]+", text[begin:end]))
    values = [abs(float(n[0].rstrip("f"))) for n in numbers]
    number = numbers[sorted(range(len(values)), key=lambda i: -values[i])[rank]]
    before = float(number[0].rstrip("f"))
    bits = struct.unpack("<I", struct.pack("<f", before))[0] ^ (1 << bit)
    after = struct.unpack("<f", struct.pack("<I", bits))[0]
    data.write_text(text[:begin + number.start()] + f"{after!r}f" + text[begin + number.end():])
    return f"{before!r} to {after!r}"


@pytest.mark.models("digits_f32", "gadget_f32", "ad_f32", "hello_world_float", "resnet_f32", "vww_f32")
def test_flips(model, tmp_path):
    """A changed bit of one weight fails both; the model as it is passes both."""
    project = tmp_path / "firmware"
    common.aotc("create", common.model_path(model), "--board", "host", "-o", project, "--quiet")
    data = next((project / "model").glob("*_data.c"))
    whole = data.read_text()
    assert verified(project, "--samples", "1") and self_test_passes(project)
    tables = list(tables_of(whole))
    for table in dict.fromkeys((tables[0], tables[-1])):
        # What a single weight changes may be cut off by a RELU: then the next largest.
        for rank in range(4):
            data.write_text(whole)
            change = flip(data, table, 22, rank)
            if verified(project, "--samples", "1") is None:
                break
        else:
            pytest.fail(f"{table}: four wrong weights pass")
        told = not self_test_passes(project)
        print(f"{table}: a weight from {change} fails verify{', and the self test' if told else ''}")
        # Its input is another, which a RELU may cut.
        assert told or rank > 0, f"{table}: {change} passes the self test"


def test_near_zero(tmp_path):
    """Values near zero behind exp and tanh pass both on a board whose C library is another; a weight there that is off by
    a part in a thousand does not.

    The model gives tanh(logistic(x)) less what it is to six digits, and a sum of what it is.
    """
    rng = np.random.default_rng(3)
    x = rng.uniform(-3, 3, (1, 64)).astype(np.float32)
    m = ModelBuilder()
    given = m.tensor("x", "float32", x.shape)
    bent = m.tensor("bent", "float32", x.shape)
    gate = m.tensor("gate", "float32", x.shape)
    m.op("LOGISTIC", [given], [gate])
    m.op("TANH", [gate], [bent])
    wanted = np.tanh(1 / (1 + np.exp(-x.astype(np.float64))))
    near = m.const("near", (wanted * (1 + 1e-6)).astype(np.float32))
    rest = m.tensor("rest", "float32", x.shape)
    m.op("SUB", [bent, near], [rest])
    weights = m.const("weights", rng.standard_normal((8, 64)).astype(np.float32))
    mixed = m.tensor("mixed", "float32", (1, 8))
    m.op("FULLY_CONNECTED", [bent, weights, -1], [mixed])
    path = tmp_path / "near_zero.tflite"
    path.write_bytes(m.finish([given], [rest, mixed]))
    np.save(tmp_path / "x.npy", x)
    project = tmp_path / "firmware"
    board = "qemu_mps2_an386"
    common.aotc("create", path, "--board", board, "--samples", tmp_path / "x.npy", "-o", project, "--quiet")
    options = ("--input", tmp_path / "x.npy")
    report = verified(project, *options)
    assert report and self_test_passes(project)
    here = next(p for p in report["places"] if p["place"] == board)
    assert here["bit_exact_layers"] < here["layers"], f"{board}: its C library gives what this machine's does: nothing is shown"
    print(f"{board}: {here['bit_exact_layers']} of {here['layers']} layers to the bit, the others within "
          f"{here['worst_ulp']} ulp of their largest value")
    data = next((project / "model").glob("*_data.c"))
    change = flip(data, next(iter(tables_of(data.read_text()))), 13, 0)
    assert verified(project, *options) is None and not self_test_passes(project), f"a weight from {change} passes"
