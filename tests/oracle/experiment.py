# SPDX-License-Identifier: Apache-2.0
"""How a numeric fact is tried on LiteRT. facts_*.py register facts, numerics_facts.py runs them.

A fact is a function that returns whether the experiment came out as stated; it must be able to
come out otherwise, so it names the formulas that LiteRT does not follow beside the one it does.
"""

import numpy as np
from case import call_of
from litert_layers import Layers, Rejected
from make_cases import build

FACTS = []
F = np.float32


def fact(text):
    def register(check):
        FACTS.append((text, check))
        return check
    return register


def run(case, *arrays):
    """LiteRT's results for one sample."""
    arrays = [np.asarray(a, t.dtype).reshape(t.shape) for a, t in zip(arrays, case.model_inputs())]
    shapes = [r.shape for r in Layers(build(case, [()] * len(case.outputs))).run(arrays)[0]]
    return [r.copy() for r in Layers(build(case, shapes)).run(arrays)[0]]


def rejected(case):
    try:
        run(case, *[np.zeros(t.shape, t.dtype) for t in case.model_inputs()])
    except Rejected:
        return True
    return False


def follows(case, arrays, model, *others):
    """LiteRT gives `model`'s bits, and each other formula differs somewhere on this data."""
    expected = run(case, *arrays)
    arrays = [np.asarray(a, t.dtype).reshape(t.shape) for a, t in zip(arrays, case.model_inputs())]
    call = call_of(case, arrays, [e.shape for e in expected])
    same = lambda f: all(np.array_equal(g, e) for g, e in zip(f(call), expected))
    with np.errstate(all="ignore"):
        return same(model) and not any(same(o) for o in others)
