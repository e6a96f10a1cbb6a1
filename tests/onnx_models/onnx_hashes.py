# SPDX-License-Identifier: Apache-2.0
"""Hashes of what onnxruntime gives, for processors on which it sums products of 8 by 8 bits with less than 32 bits.

Of each case the model's and, for every tensor of whole numbers, those of its values of the first input and of all 30.
"""
import contextlib
import hashlib
import json
import pathlib
import sys

import numpy as np

FILE = pathlib.Path(__file__).resolve().parent / "quantised_hashes.json"
ALL = 30  # inputs


def hash_of(pieces):
    whole = hashlib.sha256()
    for piece in pieces:
        whole.update(piece)
    return whole.hexdigest()[:16]


def tensors_of(names, wants, turns):
    """{tensor: hash} of as many inputs as there are turns; `wants` says which are whole numbers, `turns` are bytes."""
    return {name: hash_of(turn[i] for turn in turns) for i, name in enumerate(names) if wants[i].dtype.kind in "iu"}


def entry(case, path):
    raw = [[np.ascontiguousarray(v).tobytes() for v in turn] for turn in case.turns]
    first, every = (tensors_of(case.names, case.turns[0], turns) for turns in (raw[:1], raw))
    return {"model": hash_of([path.read_bytes()]), "tensors": {name: [first[name], every[name]] for name in every}}


def problems(case, known, found):
    """What of `found`, the outputs of all turns one behind the other, is not as the hashes say."""
    count, inputs = len(case.names), len(found) // len(case.names)
    turns = [found[t * count:(t + 1) * count] for t in range(inputs)]
    got = tensors_of(case.names, case.turns[0], turns)
    which = 0 if inputs == 1 else 1
    want = {name: pair[which] for name, pair in known["tensors"].items()}
    if set(got) != set(want):
        return [f"tensors are not those of the hashes: {', '.join(sorted(set(got) ^ set(want)))}"]
    return [f"{name}: not as its hash says" for name in got if got[name] != want[name]]


def read():
    return json.loads(FILE.read_text())["cases"]


def write(cases):
    says = "What tests/onnx_models/quantised.py compares with where onnxruntime's sums are not exact; made by its --record."
    text = json.dumps({"SPDX-License-Identifier": "Apache-2.0", "what": says, "cases": cases}, indent=1)
    FILE.write_text(text + "\n")


@contextlib.contextmanager
def rounded_ranges():
    """Calibration whose last bits, which follow from how a processor sums floats, do not count."""
    import onnxruntime.quantization  # noqa: F401
    calibrate = sys.modules["onnxruntime.quantization.calibrate"]
    plain = calibrate.MinMaxCalibrater.compute_data

    def rounded(value):
        part, power = np.frexp(np.asarray(value, np.float32))
        return np.ldexp(np.rint(part * np.float32(4096)) / np.float32(4096), power).astype(np.float32)

    def compute_data(self):
        found = plain(self)
        for name, data in found.items():
            low, high = data.range_value
            found[name] = calibrate.TensorData(lowest=rounded(low), highest=rounded(high))
        return found

    calibrate.MinMaxCalibrater.compute_data = compute_data
    try:
        yield
    finally:
        calibrate.MinMaxCalibrater.compute_data = plain
