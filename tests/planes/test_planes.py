# SPDX-License-Identifier: Apache-2.0
"""A network of planes (NCHW, as PyTorch has it) beside its twin of images (NHWC): what is left of its transposes.

For each network and type: how many transposes the file has and how many the compiled program, how many elements they
move, and the instructions of one run on Cortex-M4, of which the planes may cost 2 % more. Every layer equals LiteRT's. Where
the caller's input is planes of several channels, one transpose stays; a float network keeps the one before a
flatten, because fully connected layers add up in the order of their columns.
"""
import common
import pytest

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


@pytest.mark.parametrize("kind", ["f32", "int8"])
@pytest.mark.parametrize("network", ["plain", "residual", "flatten"])
def test_planes(network, kind, tmp_path, record_property):
    common.require(common.board(BOARD)["emulator"]["program"])
    twin = measure(f"{network}_images_{kind}", tmp_path)
    for form in ("images", "planes"):
        name = f"{network}_{form}_{kind}"
        in_file, left, elements, instructions = twin if form == "images" else measure(name, tmp_path)
        ratio = instructions / twin[3]
        print(f"{name}: {in_file} transposes in the file, {left} left of {elements} elements; {instructions} instructions, "
              f"{ratio:.4f} of the twin's")
        assert left == LEFT.get(name, 0)
        assert ratio <= MOST
    record_property("cases", 4)
