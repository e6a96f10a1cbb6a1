#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""int4 weights in blocks, as emitted C: byte for byte what blockwise_models.py states.

Usage: run_blockwise.py --work DIR [options of run_state.py]

Where LiteRT computes such weights, every result of the statement is compared with LiteRT's, byte for byte, before it
is what the C is compared with.
"""
import argparse
import json
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "state"), str(HERE.parent / "e2e"), str(HERE.parent / "oracle")]
import blockwise_models  # noqa: E402
import common  # noqa: E402
import litert_layers  # noqa: E402
import oracle  # noqa: E402
import run_state  # noqa: E402


class Statement:
    """blockwise_models.Meaning with as much of LiteRT's interface as tests/state uses."""

    def __init__(self, data):
        self._meaning = blockwise_models.Meaning(data)
        kind = litert_layers.litert.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
        self._litert = litert_layers.litert.Interpreter(model_content=data, num_threads=1,
                                                        experimental_op_resolver_type=kind)
        self._litert.allocate_tensors()
        self._result = None

    def get_input_details(self):
        return self._litert.get_input_details()

    def get_output_details(self):
        return self._litert.get_output_details()

    def set_tensor(self, index, array):
        self._litert.set_tensor(index, array)
        self._x = np.array(array)

    def get_tensor(self, _):
        return self._result

    def invoke(self):
        detail = self._litert.get_output_details()[0]
        meaning, shape = self._meaning, detail["shape"]
        stated = meaning.results(self._x).reshape(shape)
        self._result = meaning.activated(stated)
        if not meaning.known:
            return
        self._litert.invoke()
        found = self._litert.get_tensor(detail["index"])
        if found.tobytes() != stated.tobytes():
            raise oracle.Failure(f"LiteRT is up to {np.abs(found - stated).max():g} away")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options, rest = parser.parse_known_args()
    work = options.work.resolve()
    models = common.fresh(work / "models")
    blockwise_models.write(models)
    settings = {path.stem: {"oracle": "blocks"} for path in models.glob("*.tflite")}
    (models / "inputs.json").write_text(json.dumps(settings))
    oracle.INTERPRETERS["blocks"] = Statement
    sys.argv[1:] = [*rest, "--work", str(work), "--folder", str(models)]
    run_state.main()


if __name__ == "__main__":
    common.main_of(main)
