# SPDX-License-Identifier: Apache-2.0
"""How many cases with LiteRT's results each operator of the format has, type by type, of those that `aotc ops` claims.

A case counts for the types of its first operand and first result, and of its second operand behind a condition; cases
that LiteRT refuses do not count. Pairs below the minimum are listed with the reason (ELSEWHERE); a pair without a reason
fails, and so does a reason that no pair needs.
"""
import collections
import json

import common

NAMES = {"bool": "bool", "int8": "i8", "uint8": "u8", "int16": "i16", "uint16": "u16", "int32": "i32", "uint32": "u32",
         "int64": "i64", "float32": "f32", "float64": "f64"}
MINIMUM = 20

_KEEPS = "keeps something from run to run: tests/state"
_SIGNAL = "TensorFlow Lite Micro's: tests/signal"
_NO_KERNEL = "LiteRT has no kernel for it"
# Why there are few cases, by operator: of all types, or of these.
ELSEWHERE = {
    "BIDIRECTIONAL_SEQUENCE_LSTM": _KEEPS, "BIDIRECTIONAL_SEQUENCE_RNN": _KEEPS, "RNN": _KEEPS, "SVDF": _KEEPS,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": _KEEPS + ", of int16 tests/custom", "UNIDIRECTIONAL_SEQUENCE_RNN": _KEEPS,
    "CIRCULAR_BUFFER": "TensorFlow Lite Micro's: tests/custom", "TFLM_DECODE": "TensorFlow Lite Micro's: tests/custom",
    "TFLite_Detection_PostProcess": "LiteRT's, in other shapes: tests/custom",
    "DENSIFY": "of constants: tests/e2e/test_sparse.py",
    "DIV": {"i64": _NO_KERNEL}, "PACK": {"bool": _NO_KERNEL}, "RESIZE_NEAREST_NEIGHBOR": {"i64": _NO_KERNEL},
    "SPLIT": {"bool": _NO_KERNEL}, "SPLIT_V": {"bool": _NO_KERNEL}, "UNPACK": {"i64": _NO_KERNEL},
    **dict.fromkeys(("SignalDelay", "SignalEnergy", "SignalFftAutoScale", "SignalFilterBank", "SignalFilterBankLog",
                     "SignalFilterBankSpectralSubtraction", "SignalFilterBankSquareRoot", "SignalFramer", "SignalIrfft",
                     "SignalOverlapAdd", "SignalPCAN", "SignalRfft", "SignalStacker", "SignalWindow"), _SIGNAL),
}
# The same, by type: of all operators that have no reason of their own.
BY_TYPE = {"u16": "of ONNX models: tests/onnx_models"}


def reason_of(name, dtype):
    """None if there is none."""
    known = ELSEWHERE.get(name)
    return (known.get(dtype) if isinstance(known, dict) else known) or BY_TYPE.get(dtype)


def counted(index):
    counts = collections.Counter()
    for entries in index["operators"].values():
        for e in entries:
            if not e["supported"]:
                continue
            tensors = [t for t in e["inputs"][:1] + e["outputs"][:1] if t]
            if e["kind"].startswith("SELECT"):
                tensors = e["inputs"][1:2]
            for dtype in {t["dtype"] for t in tensors}:
                counts[e["kind"], NAMES.get(dtype, dtype)] += 1
    return counts


def test_pairs(record_property):
    counts = counted(json.loads((common.ROOT / "build" / "cases" / "index.json").read_text()))
    operators = json.loads(common.aotc("ops", "--json"))
    pairs = [(name, t["dtype"]) for op in operators for name in op["tflite_names"] for t in op["types"]
             if t["dtype"] in NAMES.values()]
    few = [(name, dtype) for name, dtype in pairs if counts[name, dtype] < MINIMUM]
    rows = collections.defaultdict(list)
    for name, dtype in few:
        rows[name, reason_of(name, dtype) or "NO REASON"].append(f"{dtype} {counts[name, dtype]}")
    for (name, reason), types in sorted(rows.items()):
        print(f"{name:36} {', '.join(types):50} {reason}")
    assert [pair for pair in few if reason_of(*pair) is None] == [], "pairs without a reason"
    assert [name for name, known in ELSEWHERE.items() for dtype in (known if isinstance(known, dict) else [None])
            if not any(name == n and dtype in (None, d) for n, d in few)] == [], "reasons that no pair needs"
    record_property("cases", len(pairs))
