# SPDX-License-Identifier: Apache-2.0
"""What a step of a recurrent layer that Keras unrolled costs beside its weights, in emitted C.

Prints for each model the calls in the code, the bytes of a step for multipliers and places, and the constants by kind;
fails where a step takes more than 64 bytes for what its scales make of it, where more than 31 calls are in the code,
or where there are more packed weights than weight tensors (streams and fully connected weights of two layers and the
dense one behind them).
"""
import collections
import re

import common
import pytest

BOARD = "qemu_mps2_an386"
STEP_BYTES = 64
CALLS = 31
WEIGHTS = 3
SIZES = {"int8_t": 1, "uint8_t": 1, "int16_t": 2, "uint16_t": 2, "int32_t": 4, "uint32_t": 4, "float": 4}


def measured(model, folder):
    """Calls in the code, columns of the loops' tables by name, bytes and number of constants by kind."""
    said = common.aotc("compile", model, "--board", BOARD, "--prefix", "m", "-o", folder)
    calls = re.search(r"calls \((\d+) in the code, with loops\)", said)
    assert calls, f"no loop\n{said}"
    code = (folder / "m.c").read_text()
    columns = {name: int(wide) * (4 if kind.endswith("*const") else SIZES[kind]) for kind, name, wide in
               re.findall(r"static const (void \*const|\w+) (\w+)\[\d+\]\[(\d+)\]", code)}
    kinds = collections.defaultdict(lambda: [0, 0])
    data = (folder / "m_data.c").read_text()
    for kind, name, count in re.findall(r"^(?:static )?const (\w+) m_call\d+_([a-z]+)\w*\[(\d+)\]", data, re.M):
        kinds[name][0] += SIZES[kind] * int(count)
        kinds[name][1] += 1
    return int(calls[1]), columns, kinds


@pytest.mark.models("lstm_turns_int8", "gru_turns_int8")
def test_unrolled(model, tmp_path):
    calls, columns, kinds = measured(common.model_path(model), tmp_path)
    print(f"{model}: {calls} calls in the code; bytes of a step: "
          + ", ".join(f"{name} {size}" for name, size in columns.items()) + "; constants: "
          + ", ".join(f"{name} {size} in {count}" for name, (size, count) in sorted(kinds.items())))
    assert calls <= CALLS
    assert 0 < columns.get("rows", 0) <= STEP_BYTES
    assert 0 < kinds["stream"][1] + kinds["weights"][1] <= WEIGHTS
