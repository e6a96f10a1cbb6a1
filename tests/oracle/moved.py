# SPDX-License-Identifier: Apache-2.0
"""What case files of operators that move elements share: every type, one sample, since values do not
matter."""

from case import Tensor, random_samples

TYPES = ("int8", "float32", "int16", "int32", "int64", "uint8", "bool")
QUANTIZATION = {"int8": (0.05, -3), "uint8": (0.05, 100), "int16": (0.001, 0)}


def tensor(dtype, shape=()):
    return Tensor(dtype, tuple(shape), *QUANTIZATION.get(dtype, (None, 0)))


def one_sample(case):
    """The case, with a single sample."""
    case.samples = lambda rng: random_samples(case, rng, 1)
    return case
