# SPDX-License-Identifier: Apache-2.0
"""int4 weights in blocks, as emitted C: byte for byte what blockwise_models.py states.

Where LiteRT computes such weights, every result of the statement is compared with LiteRT's, byte for byte, before it
is what the C is compared with.
"""
import json

import blockwise_models
import litert_layers
import numpy as np
import oracle
import run_state


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


def find(work):
    models = work / "models"
    models.mkdir()
    blockwise_models.write(models)
    paths = {path.stem: path for path in models.glob("*.tflite")}
    (models / "inputs.json").write_text(json.dumps({name: {"oracle": "blocks"} for name in paths}))
    oracle.INTERPRETERS["blocks"] = Statement
    return paths


test_blockwise = run_state.test_of([f"blocks_{name}" for name in blockwise_models.LAYERS], find,
                                   lambda path, work: run_state.prepared(path, work, 6),
                                   ["gcc", "clang", "cortex_m4", "rv32imac"])
