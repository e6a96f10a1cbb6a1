# SPDX-License-Identifier: Apache-2.0
"""Models on an AVR in simavr: every layer's result bit for bit as LiteRT's reference kernels.

Each model is a firmware of its own (firmware.c), built with -Wall -Wextra -Werror. An operator's model that does not fit
the board's memories is skipped. Float results are equal to the bit except at and behind exp and tanh of another
C library (common.LIBRARY_ULP).
"""
import dataclasses

import common
import on_avr
import pytest

UNO, MEGA = "arduino_uno", "arduino_mega2560"
OPS = sorted(p.stem for p in (common.ROOT / "tests" / "models" / "ops").glob("*.tflite"))
INT8, F32 = ([m for m in OPS if common.is_float(m) == is_float] for is_float in (False, True))


@dataclasses.dataclass
class Lane:
    board: str
    models: list
    flags: str = "-Os"
    options: str = ""  # of aotc compile


LANES = {
    "hello_world": Lane(UNO, ["hello_world_int8", "hello_world_float"]),
    "digits": Lane(MEGA, ["digits_int8", "gadget_int8", "gru_steps_int8"]),
    "ops.int8": Lane(UNO, INT8),
    "ops.f32": Lane(MEGA, F32),
    "ops.int8.mega": Lane(MEGA, INT8[::4]),
    # What else changes the C, and other optimisers.
    "ops.speed": Lane(UNO, INT8[::4], "-O2", "-O speed"),
    "ops.size": Lane(UNO, INT8[::4], "-O1", "-O size --input preserve --output overwrite"),
    "ops.ram": Lane(UNO, INT8[::4], "-O3", "--constants ram"),
}


@pytest.mark.parametrize("lane, model", [pytest.param(lane, model, id=f"{lane}-{model}")
                                         for lane, chosen in LANES.items() for model in chosen.models])
def test_equals_litert(lane, model, tmp_path):
    lane = LANES[lane]
    on_avr.require(lane.board)
    _, compared = on_avr.compare(common.model_path(model), lane.board, tmp_path / model, flags=lane.flags,
                                 options=lane.options.split())
    if compared is None:
        assert model in OPS, f"{model} does not fit {lane.board}"
        common.skip(f"{model} does not fit {lane.board}")
    assert compared > 0
