# SPDX-License-Identifier: Apache-2.0
"""aotc bench --ops on a board: every result right, and the times those of the model's own run."""
import json

import common
import pytest
from test_rpc_boards import check, need_tools

MODEL = common.ROOT / "tests" / "models" / "digits" / "digits_int8.tflite"
# What a call through the registry may take more than a direct one.
MOST_OVERHEAD = 400


def operator_times(board, project):
    """Instructions of each operator of the model's file, from a run of the whole model."""
    common.aotc("create", MODEL, "--board", board, "-o", project)
    common.aotc("build", "-q", project)
    common.aotc("run", project)
    layers = json.loads(common.aotc("report", project, "--no-alternatives", "--json"))["layers"]
    return {layer["op_index"]: layer["instructions"] for layer in layers if "instructions" in layer}


@pytest.mark.parametrize("board", ["qemu_mps2_an386", "qemu_riscv32"])
def test_bench(board, tmp_path):
    need_tools(board)
    command = ["bench", "--ops", MODEL, "--board", board, "--json", "-q", "-o", tmp_path / "firmware"]
    first = json.loads(common.aotc(*command))
    check(first["operators"] and all(o["right"] for o in first["operators"]),
          "every operator gives on the device what it means", first)
    check(first == json.loads(common.aotc(*command)), "a second time the same to the instruction")
    times = operator_times(board, tmp_path / "model")
    compared = 0
    for operator in first["operators"]:
        for direct in [times[op] for op in operator["ops"] if op in times]:
            compared += 1
            overhead = operator["mean"] - direct
            # In the model several functions may be one that reads its sizes, which is slower; and
            # here the inputs are random, which clamps with branches show.
            check(-direct / 10 <= overhead <= MOST_OVERHEAD + direct / 100,
                  f"{operator['name']}: {operator['mean']} instructions, {overhead} more than in the model", operator)
    check(compared >= 4, "operators were compared", compared)
    if board == "qemu_mps2_an386":
        estimated = [o for o in first["operators"] if "estimated_instructions" in o]
        check(estimated and all(0.7 < o["mean"] / o["estimated_instructions"] < 1.4
                                for o in estimated if o["macs"] > 20000), "estimates are near", estimated)
