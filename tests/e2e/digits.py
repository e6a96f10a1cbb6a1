#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The digits sample from end to end: accuracy on its whole test set, and the commands of a user.

Usage: digits.py accuracy_host|accuracy_board|commands --work DIR
"""
import argparse
import json
import pathlib
import re

import common
import numpy as np

BOARD = "qemu_mps2_an386"
MODELS = common.ROOT / "tests" / "models" / "digits"


def accuracy(board, folder):
    """Outputs of the firmware for every image, against LiteRT's that are committed."""
    labels = np.load(MODELS / "test_labels.npy")
    for kind, dtype in (("int8", np.int8), ("f32", np.float32)):
        images = np.load(MODELS / f"test_inputs_{kind}.npy")
        stored = np.load(MODELS / f"test_outputs_{kind}.npy")
        project = folder / kind
        if common.create_project(MODELS / f"digits_{kind}.tflite", board, project) is None:
            raise common.Failure(f"the model does not fit {board}")
        found, figures = common.verify_on_board(project, board, [[i] for i in images])
        outputs = [np.frombuffer(r[3], dtype) for r in found if r[1] == common.OUTPUT]
        if len(outputs) != len(images):
            raise common.Failure(f"{len(outputs)} outputs for {len(images)} images")
        outputs = np.stack(outputs)
        if kind == "int8" and not np.array_equal(outputs, stored):
            wrong = np.flatnonzero((outputs != stored).any(axis=1))
            raise common.Failure(f"outputs of {len(wrong)} images differ, first {wrong[0]}")
        distance = int(common.ulp_distance(outputs, stored).max()) if kind == "f32" else 0
        if distance > common.LIBRARY_ULP:
            raise common.Failure(f"outputs differ by {distance} ulp")
        right, expected = (int((o.argmax(axis=1) == labels).sum()) for o in (outputs, stored))
        print(f"digits_{kind} on {board}: {right} of {len(labels)} right, LiteRT {expected}; "
              f"outputs differ by at most {distance} ulp; {figures['instructions']} ticks")
        if right != expected:
            raise common.Failure(f"{right} images right, LiteRT has {expected}")


def expect(text, *patterns):
    for pattern in patterns:
        if not re.search(pattern, text):
            raise common.Failure(f"no match for '{pattern}' in:\n{text[:3000]}")


def commands(folder):
    """The commands of the README in the order of a user, and what they say when something is wrong."""
    model, project = MODELS / "digits_int8.tflite", folder / "app"
    np.save(folder / "images.npy", np.load(MODELS / "test_inputs_int8.npy")[:3])
    expect(common.aotc(model, "--board", BOARD, "-o", project, "--samples", folder / "images.npy"),
           r"RAM: arena", r"flash: constants", r"aotc build")
    expect(common.aotc("build", project), r"code", r"constants")
    expect(common.aotc("run", project), r"largest", r"instructions", r"stack")
    common.aotc("verify", project)
    verified = json.loads(common.aotc("verify", project, "--json", "--samples", "2"))
    report = common.report(project)
    if not report["layers"] or report["macs"] <= 0:
        raise common.Failure(f"report is empty: {report}")
    print(json.dumps(verified)[:400])
    expect(common.aotc("check", model), r"MACs")
    operators = json.loads(common.aotc("ops", "--json"))
    if "conv_2d" not in [o["name"] for o in operators]:
        raise common.Failure("ops does not list conv_2d")
    if BOARD not in [b["name"] for b in json.loads(common.aotc("boards", "--json"))]:
        raise common.Failure(f"boards does not list {BOARD}")
    # What goes wrong has a located message, a slug and an exit code.
    broken = folder / "broken.tflite"
    broken.write_bytes(model.read_bytes()[:1000])
    said = common.aotc("check", broken, expect=None)
    if said.returncode != 1:
        raise common.Failure(f"check of a truncated file exits with {said.returncode}, not 1")
    expect(said.stderr, r"broken\.tflite", r"error: .*\[[a-z-]+\]")
    said = common.aotc("check", model, "--board", "qemu_mps2_an387", expect=None)
    expect(said.stderr, r"\[[a-z-]+\]", BOARD)
    if said.returncode == 0:
        raise common.Failure("an unknown board is accepted")
    if common.aotc("frobnicate", expect=None).returncode != 2:
        raise common.Failure("an unknown command does not exit with 2")
    tampered(project)


def tampered(project):
    """verify must fail when the firmware computes something else."""
    data = project / "model" / "digits_int8_data.c"
    text = data.read_text()
    number = re.search(r"= \{\s+(-?\d+),", text)
    changed = str(int(number[1]) ^ 1)
    data.write_text(text[:number.start(1)] + changed + text[number.end(1):])
    common.aotc("build", project)
    said = common.aotc("verify", project, expect=None)
    if said.returncode != 4 or "[verify-differs]" not in said.stderr:
        raise common.Failure(f"verify of tampered code exits with {said.returncode}, not 4\n"
                             f"{said.stdout}{said.stderr}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("check", choices=("accuracy_host", "accuracy_board", "commands"))
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    folder = common.fresh(options.work.resolve() / options.check)
    if options.check == "commands":
        commands(folder)
    else:
        accuracy("host" if options.check == "accuracy_host" else BOARD, folder)


if __name__ == "__main__":
    common.main_of(main)
