# SPDX-License-Identifier: Apache-2.0
"""Tests `aotc verify --data --labels`: classes and confusion against those of LiteRT's outputs (tests/models/digits)."""
import json
import pathlib

import common
import numpy
import pytest

FOLDER = common.ROOT / "tests/models/digits"
MODEL, INPUTS, LABELS = FOLDER / "digits_int8.tflite", FOLDER / "test_inputs_int8.npy", FOLDER / "test_labels.npy"
CLASSES = numpy.load(FOLDER / "test_outputs_int8.npy").reshape(-1, 10).argmax(1)
ALL_LABELS = numpy.load(LABELS).astype(int).reshape(-1)
BOARD = "qemu_mps2_an386"
WORK = pathlib.Path()  # each test's own folder


@pytest.fixture(autouse=True)
def in_own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def verify(target, *arguments, code=0):
    done = common.aotc("verify", target, *arguments, expect=None)
    assert done.returncode == code, done.stderr
    return done


def places_of(target, *arguments, code=0):
    return json.loads(verify(target, *arguments, "--json", code=code).stdout)["accuracy"]


def is_right(place, count):
    confusion = numpy.zeros((10, 10), int)
    for label, found in zip(ALL_LABELS[:count], CLASSES[:count]):
        confusion[label, found] += 1
    assert place["confusion"] == confusion.tolist(), place
    assert place["right"] == int(confusion.trace()) and place["inputs"] == count
    assert place["passed"] and place["equal"] == place["same_class"] == count, place


def test_accuracy():
    places = places_of(MODEL, "--data", INPUTS, "--labels", LABELS)
    assert [p["place"] for p in places] == ["reference", "host C"]
    for place in places:
        is_right(place, len(ALL_LABELS))


def test_text():
    said = verify(MODEL, "--data", INPUTS, "--labels", LABELS).stdout.splitlines()
    right, all_of = int((CLASSES == ALL_LABELS).sum()), len(ALL_LABELS)
    assert said[1].startswith(f"host C: {right} of {all_of} ("), said[1]
    assert len(said) == 2 + 1 + 10 and said[3].split()[0] == "0", said


def test_rows_of_labels():
    for kind in ("float32", "float64", "uint8"):
        numpy.save(WORK / "rows.npy", numpy.eye(10, dtype=kind)[ALL_LABELS])
        is_right(places_of(MODEL, "--data", INPUTS, "--labels", "rows.npy")[1], len(ALL_LABELS))


def test_without_labels():
    place, = places_of(MODEL, "--data", INPUTS)
    assert "right" not in place and place["equal"] == len(ALL_LABELS)


def test_floats():
    inputs = FOLDER / "test_inputs_f32.npy"
    places = places_of(FOLDER / "digits_f32.tflite", "--data", inputs, "--labels", LABELS)
    outputs = numpy.load(FOLDER / "test_outputs_f32.npy").reshape(-1, 10)
    assert places[1]["right"] == int((outputs.argmax(1) == ALL_LABELS).sum()) and places[1]["passed"]


def test_on_a_board():
    count = 8
    numpy.save(WORK / "few.npy", numpy.load(INPUTS)[:count])
    numpy.save(WORK / "few_labels.npy", ALL_LABELS[:count])
    common.aotc("create", MODEL, "--board", BOARD, "-o", "app", "--force", "-q")
    places = places_of("app", "--data", "few.npy", "--labels", "few_labels.npy")
    assert [p["place"] for p in places] == ["reference", "host C", BOARD]
    for place in places:
        is_right(place, count)


def test_outputs_that_differ():
    """The firmware of a project computes something else: its weights are changed."""
    common.aotc("create", MODEL, "--board", "host", "-o", "other", "--force", "-q")
    data = next((WORK / "other").rglob("digits_int8_data.c"))
    text = data.read_text()
    begin = text.index("{", text.index("_bias[") if "_bias[" in text else text.index("const ")) + 1
    end = text.index(",", begin)
    data.write_text(text[:begin] + " 77" + text[end:])
    done = verify("other", "--data", INPUTS, "--labels", LABELS, code=4)
    assert "[verify-differs]" in done.stderr, done.stderr


def test_bad_labels():
    for name, array in (("few", ALL_LABELS[:-1]), ("many", ALL_LABELS + 1), ("less", ALL_LABELS - 1),
                        ("floats", ALL_LABELS.astype("float32")), ("doubles", ALL_LABELS.astype("float64")), ("empty", ALL_LABELS[:0])):
        numpy.save(WORK / f"{name}.npy", array)
        assert "[labels-invalid]" in verify(MODEL, "--data", INPUTS, "--labels", f"{name}.npy", code=1).stderr, name
    assert "[npy-invalid]" in verify(MODEL, "--data", INPUTS, "--labels", MODEL, code=1).stderr
    assert "[usage]" in verify(MODEL, "--labels", LABELS, code=2).stderr
    assert "[usage]" in verify(MODEL, "--data", INPUTS, "--input", INPUTS, code=2).stderr
