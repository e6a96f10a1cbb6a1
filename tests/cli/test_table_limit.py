# SPDX-License-Identifier: Apache-2.0
"""The tables of a default plan take at most 1.25 times the model's weights, unless a board has room for more: faster
ways of convolutions that multiply the bytes of weights are given up, those that save least for a byte first.

CPU: about 3 seconds.
"""
import json

import common
import numpy as np
import pytest
from tflite_builder import ModelBuilder

CPUS = ("cortex-m4f", "cortex-m7", "rv32imac")


@pytest.fixture(scope="module")
def detector(tmp_path_factory):
    """A backbone of 3x3 convolutions on an image of 160x160: much work for each weight."""
    random, m = np.random.default_rng(7), ModelBuilder()
    size, channels, weights = 160, 3, 0
    first = last = m.tensor("image", np.int8, [1, size, size, channels], 0.5, 3)
    for i, (out, stride) in enumerate([(16, 2), (32, 2), (32, 1), (64, 2), (64, 1), (64, 1), (96, 2), (96, 1)]):
        scale = 0.02 + 0.001 * random.random(out)
        w = m.const(f"w{i}", random.integers(-127, 128, [out, 3, 3, channels], dtype=np.int8), scale)
        b = m.const(f"b{i}", random.integers(-500, 500, [out], dtype=np.int32), scale * 0.5)
        size = -(-size // stride)
        weights += out * (9 * channels + 8)
        result = m.tensor(f"t{i}", np.int8, [1, size, size, out], 0.5, 3)
        m.op("CONV_2D", [last, w, b], [result], padding=0, stride_w=stride, stride_h=stride)
        last, channels = result, out
    path = tmp_path_factory.mktemp("detector") / "detector.tflite"
    path.write_bytes(m.finish([first], [last]))
    return path, weights


def figures(path, *options):
    said = json.loads(common.aotc("check", path, *options, "--json", "--quiet"))
    return said["constants_bytes"], said["estimated_cycles"], {layer["schedule"].split(":")[0].split(";")[0]
                                                              for layer in said["layers"]}


@pytest.mark.parametrize("cpu", CPUS)
def test_tables_are_no_larger_than_the_weights_allow(detector, cpu):
    path, weights = detector
    constants, cycles, _ = figures(path, "--cpu", cpu)
    assert constants <= 1.25 * weights
    fast, fewest, schedules = figures(path, "--cpu", cpu, "-O", "speed")
    assert fast > 1.25 * weights and "winograd" in schedules and fewest < cycles


def test_what_saves_most_for_a_byte_stays(detector):
    """The limit is used: some operators keep the faster way."""
    assert figures(detector[0], "--cpu", "cortex-m4f")[2] & {"winograd", "words"}


def test_a_board_with_room_keeps_the_fast_ways(detector):
    path, weights = detector
    limited, slower, _ = figures(path, "--cpu", "cortex-m7")
    large, faster, schedules = figures(path, "--board", "nucleo_h743zi")
    assert large > 1.25 * weights >= limited and faster < slower and "winograd" in schedules


def test_its_own_map_gives_the_same_tables(detector, tmp_path):
    common.aotc("compile", detector[0], "--cpu", "cortex-m4f", "-o", tmp_path / "first", "--quiet")
    common.aotc("compile", detector[0], "--cpu", "cortex-m4f", "-o", tmp_path / "again", "--quiet", "--schedules",
                tmp_path / "first" / "detector.map.json")
    for name in ("detector.c", "detector_data.c"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "first" / name).read_bytes()


def test_models_of_one_program_keep_the_limit(detector):
    """Both models are the same, so their tables are stored once."""
    path, weights = detector
    said = json.loads(common.aotc("check", path, path, "--together", "--name", "left", "--name", "right", "--cpu",
                                  "cortex-m4f", "--json", "--quiet"))
    assert said["constants_bytes"]["together"] <= 1.25 * weights
