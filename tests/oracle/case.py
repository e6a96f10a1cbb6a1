# SPDX-License-Identifier: Apache-2.0
"""What one operator test case is, shared by the case files, the generator and the models.

A case is one operator with its tensors; tensors without data are the model's inputs. Shapes of
results are not stated by a case: LiteRT decides them.
"""

import dataclasses
import typing

import numpy as np


@dataclasses.dataclass
class Tensor:
    """`scale` None = not quantised; a list = one scale per slice of `axis`. `bits` 4: int8 data that the
    model holds as INT4."""

    dtype: str
    shape: tuple = ()
    scale: typing.Any = None
    zero_point: typing.Any = 0
    axis: int = 0
    data: typing.Any = None
    bits: int = 8

    @property
    def scale32(self):
        return np.float32(np.atleast_1d(self.scale)[0])

    @property
    def zero(self):
        return int(np.atleast_1d(self.zero_point)[0])


def const(array, scale=None, zero_point=0, axis=0):
    array = np.asarray(array)
    return Tensor(array.dtype.name, array.shape, scale, zero_point, axis, array)


def unique(tensors):
    """Each tensor once: an operator may have one tensor as several operands."""
    found = []
    for t in tensors:
        if not any(t is other for other in found):
            found.append(t)
    return found


@dataclasses.dataclass
class Case:
    """`kind`: operator name of the format. `tolerance`: "exact" or "ulp" with at most `ulp`.
    `samples`: None, or a function of a random generator giving lists of input arrays.
    `may_abort`: LiteRT may end the process on it, so it is tried in a child process.
    `kernels`: "builtin" for operators that LiteRT's reference resolver does not have.
    `join`: a tensor that the result meets in a MAXIMUM: operators that are only computed while aotc
    compiles leave a model that has something to run. `undefined`: why the result LiteRT gives means
    nothing; such a case counts as not supported. `stand_in`: what LiteRT runs instead, where its
    kernel is broken for the case and another one computes the same. `most_rows`: result 0 has as many
    rows as the data says, at most so many: aotc fills up with zeros and gives one more result, the count. `follow`: adds operators behind
    it, of a model builder and the results' tensors; gives the tensor that is the model's output instead."""

    name: str
    kind: str
    inputs: list
    outputs: list
    options: dict = dataclasses.field(default_factory=dict)
    tolerance: str = "exact"
    ulp: int = 0
    samples: typing.Any = None
    may_abort: bool = False
    undefined: str = ""
    note: str = ""
    join: typing.Any = None
    kernels: str = "reference"
    stand_in: typing.Any = None
    most_rows: typing.Any = None
    follow: typing.Any = None

    def model_inputs(self):
        own = unique(t for t in self.inputs if t is not None and t.data is None)
        return own + ([self.join] if self.join else [])


@dataclasses.dataclass
class StandIn:
    """`case` gives the results wanted: `there` makes its input of an input, `back` a result of its."""

    case: Case
    there: typing.Any
    back: typing.Any


@dataclasses.dataclass
class Call:
    """One evaluation: every operand's array beside its description."""

    kind: str
    options: dict
    inputs: list  # Tensor or None
    arrays: list  # numpy array or None, parallel to inputs
    outputs: list  # Tensor; shapes are those LiteRT gave


def call_of(case, arrays, output_shapes):
    """`arrays`: the model inputs of one sample, in order."""
    given = {id(t): a for t, a in zip(case.model_inputs(), arrays)}
    full = [None if t is None else (t.data if t.data is not None else given[id(t)])
            for t in case.inputs]
    outputs = [dataclasses.replace(t, shape=tuple(s)) for t, s in zip(case.outputs, output_shapes)]
    return Call(case.kind, case.options, case.inputs, full, outputs)


def random_samples(case, rng, count=3):
    """Samples of full range, of extremes, and of small values around the zero point."""
    samples = []
    for s in range(count):
        samples.append([_random(t, rng, s) for t in case.model_inputs()])
    return samples


_FLOAT_SPECIALS = np.array(
    [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 6.0, -6.0, 3.0, -3.0, 1e-3, -1e-3, 100.0, -100.0, 2.5, -9.5],
    dtype=np.float32)


def _random(t, rng, which):
    dtype, shape = np.dtype(t.dtype), tuple(t.shape)
    if dtype == np.bool_:
        return rng.integers(0, 2, size=shape).astype(np.bool_)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        if which == 0:
            return rng.integers(info.min, info.max, size=shape, dtype=dtype, endpoint=True)
        if which == 1:
            extremes = np.array([info.min, info.max, info.min + 1, info.max - 1], dtype=dtype)
            return rng.choice(extremes, size=shape)
        zero = t.zero if t.scale is not None else 0
        low, high = max(info.min, zero - 12), min(info.max, zero + 12)
        return rng.integers(low, high, size=shape, dtype=dtype, endpoint=True)
    if which == 0:
        values = rng.standard_normal(size=shape)
    elif which == 1:
        values = np.where(rng.random(size=shape) < 0.3, rng.choice(_FLOAT_SPECIALS, size=shape),
                          10.0 ** rng.uniform(-4, 2, size=shape) * rng.choice([-1, 1], size=shape))
    else:
        values = rng.uniform(-8, 8, size=shape)
    return np.asarray(values).astype(dtype)
