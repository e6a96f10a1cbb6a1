# SPDX-License-Identifier: Apache-2.0
"""Cases of uint8, made of those of int8: stored values and zero points are 128 larger.

Weights get any zero point, and what leaves the bytes then is cut; their scale is one for all channels, as LiteRT
demands of uint8.
"""

import dataclasses
import zlib

import numpy as np


def _moved(tensor):
    if tensor is None or tensor.dtype != "int8":
        return tensor
    data = None if tensor.data is None else (tensor.data.astype(np.int16) + 128).astype(np.uint8)
    return dataclasses.replace(tensor, dtype="uint8", zero_point=tensor.zero + 128, data=data)


def _moved_samples(case):
    if case.samples is None:
        return None
    own = case.model_inputs()

    def moved(array, tensor):
        if tensor.dtype != "int8":
            return array
        return (np.asarray(array, np.int8).astype(np.int16) + 128).astype(np.uint8)

    return lambda rng: [[moved(a, t) for a, t in zip(sample, own)] for sample in case.samples(rng)]


def _with_zero_point(weights, zero):
    data = np.clip(weights.data.astype(np.int16) + zero, 0, 255).astype(np.uint8)
    return dataclasses.replace(weights, dtype="uint8", scale=float(weights.scale32), zero_point=zero, data=data)


def uint8_of(case, weights, number):
    """`weights`: which input holds them, or None. `number`: of the case, for its weights' zero point."""
    made, inputs = {}, []
    for i, tensor in enumerate(case.inputs):
        if i == weights:
            drawn = zlib.crc32(case.name.encode()) % 256
            inputs.append(_with_zero_point(tensor, (drawn, 128, drawn, 255, drawn, 0)[number % 6]))
        else:
            # One tensor may be several operands.
            inputs.append(made.setdefault(id(tensor), _moved(tensor)))
    if weights is not None:
        for i, tensor in enumerate(inputs):
            if tensor is not None and tensor.dtype == "int32" and tensor.scale is not None:
                scale = np.float32(np.atleast_1d(tensor.scale)[0])
                inputs[i] = dataclasses.replace(tensor, scale=float(scale), zero_point=0)
    return dataclasses.replace(case, name="uint8_" + case.name.removeprefix("int8_"), inputs=inputs,
                               outputs=[_moved(t) for t in case.outputs], samples=_moved_samples(case))


def _suitable(case, weights):
    activations = [t for i, t in enumerate(case.inputs) if t is not None and i != weights]
    quantized = [t for t in activations + case.outputs if t.dtype == "int8"]
    if case.undefined or case.join or case.stand_in or not quantized:
        return False
    if any(t.scale is None or np.size(t.scale) > 1 for t in quantized):
        return False
    if any(t.dtype not in ("int8", "int32") for t in activations + case.outputs):
        return False
    if weights is None:
        return True
    return len(case.inputs) > weights and case.inputs[weights].dtype == "int8" and \
        case.inputs[weights].data is not None and case.inputs[weights].bits == 8


def of(cases, weights=None, every=1, rounds=1):
    """Every so many of the cases of int8. With more `rounds` all are there several times, with other zero
    points of their inputs."""
    found = [c for c in cases if _suitable(c, weights)]
    made = [uint8_of(case, weights, i) for i, case in enumerate(found[::every])]
    return made + [_other_zero(case, r) for r in range(1, rounds) for case in made]


def _other_zero(case, number):
    inputs = [dataclasses.replace(t, zero_point=(t.zero + 61 * number) % 256) for t in case.inputs]
    return dataclasses.replace(case, name=f"{case.name}_zero{number}", inputs=inputs)
