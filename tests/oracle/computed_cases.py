# SPDX-License-Identifier: Apache-2.0
"""Cases whose weights are inputs of the model, made of those with constant ones; of floats every third has a
computed bias as well."""

import dataclasses

import numpy as np


def _input(tensor):
    return dataclasses.replace(tensor, data=None)


def _suitable(case, weights):
    w = case.inputs[weights]
    kinds = (case.inputs[0].dtype, w.dtype if w else None)
    pairs = (("int8", "int8"), ("uint8", "uint8"), ("int16", "int8"), ("float32", "float32"))
    return kinds in pairs and w.data is not None and w.bits == 8 and not case.undefined


def _samples(case, weights):
    """The case's own inputs with its weights, and then others."""
    if case.samples is None:
        return None
    from case import random_samples

    def draw(rng):
        own = [[a if t.data is None else t.data for a, t in zip(sample + [None] * 3, case.inputs[:1])]
               for sample in case.samples(rng)]
        rest = [t.data for t in case.inputs[1:] if t is not None]
        return [s + rest[:1] for s in own] + random_samples(dataclasses.replace(
            case, inputs=[case.inputs[0], _input(case.inputs[weights])]), rng, 1)
    return draw


def of(cases, weights=1, every=1):
    found = [c for c in cases if _suitable(c, weights)][::every]
    for i, case in enumerate(found):
        inputs = list(case.inputs)
        bias = len(inputs) > 2 and inputs[2] is not None
        inputs[weights] = _input(inputs[weights])
        if bias and inputs[0].dtype == "float32" and i % 3 == 0 and case.samples is None:
            inputs[2] = _input(inputs[2])
        yield dataclasses.replace(case, name="computed_" + case.name, inputs=inputs,
                                  samples=_samples(case, weights))
