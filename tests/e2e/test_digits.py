# SPDX-License-Identifier: Apache-2.0
"""The digits sample from end to end: accuracy on its whole test set, and the commands of a user."""
import json
import re

import common
import numpy as np
import pytest

BOARD = "qemu_mps2_an386"
MODELS = common.ROOT / "tests" / "models" / "digits"


@pytest.mark.parametrize("kind", ["int8", "f32"])
@pytest.mark.parametrize("board", ["host", BOARD])
def test_accuracy(board, kind, tmp_path):
    """Outputs of the firmware for every image, against LiteRT's that are committed."""
    labels = np.load(MODELS / "test_labels.npy")
    images = np.load(MODELS / f"test_inputs_{kind}.npy")
    stored = np.load(MODELS / f"test_outputs_{kind}.npy")
    project = tmp_path / kind
    assert common.create_project(MODELS / f"digits_{kind}.tflite", board, project), f"the model does not fit {board}"
    found, figures = common.verify_on_board(project, board, [[i] for i in images])
    outputs = [np.frombuffer(r[3], np.int8 if kind == "int8" else np.float32) for r in found if r[1] == common.OUTPUT]
    assert len(outputs) == len(images)
    outputs = np.stack(outputs)
    if kind == "int8":
        wrong = np.flatnonzero((outputs != stored).any(axis=1))
        assert np.array_equal(outputs, stored), f"outputs of {len(wrong)} images differ, first {wrong[0]}"
    distance = int(common.ulp_distance(outputs, stored).max()) if kind == "f32" else 0
    assert distance <= common.LIBRARY_ULP
    right, expected = (int((o.argmax(axis=1) == labels).sum()) for o in (outputs, stored))
    print(f"digits_{kind} on {board}: {right} of {len(labels)} right, LiteRT {expected}; "
          f"outputs differ by at most {distance} ulp; {figures['instructions']} ticks")
    assert right == expected


def expect(text, *patterns):
    for pattern in patterns:
        assert re.search(pattern, text), f"no match for '{pattern}' in:\n{text[:3000]}"


def test_commands(tmp_path):
    """The commands of the README in the order of a user, and what they say when something is wrong."""
    folder = tmp_path
    model, project = MODELS / "digits_int8.tflite", folder / "app"
    np.save(folder / "images.npy", np.load(MODELS / "test_inputs_int8.npy")[:3])
    expect(common.aotc(model, "--board", BOARD, "-o", project, "--samples", folder / "images.npy"),
           r"RAM: arena", r"flash: constants", r"aotc build")
    expect(common.aotc("build", project), r"code", r"constants")
    expect(common.aotc("run", project), r"largest", r"instructions", r"stack")
    common.aotc("verify", project)
    verified = json.loads(common.aotc("verify", project, "--json", "--samples", "2"))
    report = common.report(project)
    assert report["layers"] and report["macs"] > 0
    print(json.dumps(verified)[:400])
    expect(common.aotc("check", model), r"MACs")
    operators = json.loads(common.aotc("ops", "--json"))
    assert "conv_2d" in [o["name"] for o in operators]
    assert BOARD in [b["name"] for b in json.loads(common.aotc("boards", "--json"))]
    # What goes wrong has a located message, a slug and an exit code.
    broken = folder / "broken.tflite"
    broken.write_bytes(model.read_bytes()[:1000])
    said = common.aotc("check", broken, expect=None)
    assert said.returncode == 1
    expect(said.stderr, r"broken\.tflite", r"error: .*\[[a-z-]+\]")
    said = common.aotc("check", model, "--board", "qemu_mps2_an387", expect=None)
    expect(said.stderr, r"\[[a-z-]+\]", BOARD)
    assert said.returncode != 0
    common.aotc("frobnicate", expect=2)
    fails_if_tampered(project)


def fails_if_tampered(project):
    """verify must fail when the firmware computes something else."""
    data = project / "model" / "digits_int8_data.c"
    text = data.read_text()
    number = re.search(r"= \{\s+(-?\d+),", text)
    changed = str(int(number[1]) ^ 4096)  # of a bias; a lower bit may change no result
    data.write_text(text[:number.start(1)] + changed + text[number.end(1):])
    common.aotc("build", project)
    said = common.aotc("verify", project, expect=None)
    assert said.returncode == 4 and "[verify-differs]" in said.stderr, said
