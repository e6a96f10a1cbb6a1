# SPDX-License-Identifier: Apache-2.0
"""Cases of elementwise operators, alike for all of a family: every broadcast that LiteRT takes,
constants and scalars on either side, one tensor as both operands, and values at the ends of types."""

import numpy as np
from case import Case, Tensor, const, random_samples
from patterns import BROADCASTS, SPECIAL

# Scales and zero points of operands and result, of bytes that carry one.
QUANTIZED = ("int8", "uint8")
ALIKE = ((0.05, -3), (0.05, -3), (0.05, -3))
SHAPES = ((1, 8), (3,), (2, 3, 4), (1, 5, 7, 3), (1, 1, 1, 1), (17,), (2, 1, 3, 1, 4), (), (1, 33),
          (64,))


def tensor(dtype, shape=(), quantization=None):
    """`quantization`: scale and zero point, the latter as of int8; None is none."""
    if quantization is None or dtype not in QUANTIZED:
        return Tensor(dtype, tuple(shape))
    scale, zero = quantization
    return Tensor(dtype, tuple(shape), scale, zero + 128 if dtype == "uint8" else zero)


def special(dtype):
    """Values at the ends of a type, and those that arithmetic treats differently."""
    if dtype == "float32":
        return SPECIAL
    if dtype == "bool":
        return np.array([False, True])
    info = np.iinfo(dtype)
    wanted = [info.min, info.max, info.min + 1, info.max - 1, 0, 1, 2, 3, 7, info.max // 2]
    return np.array(wanted + ([-1, -2, -3, -7] if info.min < 0 else []), dtype)


def drawn(rng, t):
    """Data for a constant like `t`."""
    return random_samples(Case("", "", [Tensor(t.dtype, t.shape, t.scale, t.zero_point)], []), rng,
                          1)[0][0]


def constant(rng, t, allow=None):
    data = drawn(rng, t)
    if allow is not None:
        data = allow(data, rng)
    return const(np.asarray(data, t.dtype), t.scale, t.zero_point)


def all_pairs_of(values, others=None):
    """One sample of every value of one operand with every value of the other."""
    others = values if others is None else others
    return lambda rng: [[np.asarray(values).reshape(-1, 1), np.asarray(others).reshape(1, -1)]]


def binary(rng, kind, dtype, result=None, quantization=ALIKE, allow=None, options=None, ulp=None,
           tag="", few=False):
    """At least 20 cases. `result`: the result's type if it is another; `allow(data, rng)`: operand 1
    made one that LiteRT accepts; `ulp`: of floats, None for equal bits."""
    qa, qb, qo = quantization
    out = result or dtype
    name = f"{kind.lower()}_{dtype}_{tag}"

    def case(label, a, b, samples=None, **more):
        floats = out == "float32"
        return Case(f"{name}{label}", kind, [a, b], [tensor(out, (), qo)], dict(options or {}),
                    "ulp" if floats else "exact", ulp or 0,
                    samples=samples or _allowed([a, b], allow), **more)

    shapes = BROADCASTS[:4] if few else BROADCASTS
    for i, (sa, sb) in enumerate(shapes):
        yield case(f"shapes_{i:02}", tensor(dtype, sa, qa), tensor(dtype, sb, qb),
                   may_abort=max(len(sa), len(sb)) > 4)
    same = BROADCASTS[0][0]
    a, b = tensor(dtype, same, qa), tensor(dtype, same, qb)
    row = tensor(dtype, same[-1:], qb)
    yield case("constant_0", constant(rng, a), b)
    yield case("constant_1", a, constant(rng, b, allow))
    yield case("constant_row", a, constant(rng, row, allow))
    for i, shape in enumerate(((), (1,))):
        yield case(f"constant_scalar_0_{i}", constant(rng, tensor(dtype, shape, qa)), b)
        yield case(f"constant_scalar_1_{i}", a, constant(rng, tensor(dtype, shape, qb), allow))
    yield case("scalar_0", tensor(dtype, (), qa), b)
    yield case("scalar_1", a, tensor(dtype, (), qb))
    yield case("both_scalars", tensor(dtype, (), qa), tensor(dtype, (), qb))
    if qa == qb:
        yield case("itself", a, a)
    values = special(dtype)
    others = values if allow is None else allow(values, rng)
    yield case("special", tensor(dtype, (len(values), 1), qa), tensor(dtype, (1, len(others)), qb),
               samples=all_pairs_of(values, others))


def _allowed(operands, allow):
    if allow is None:
        return None

    def samples(rng):
        case = Case("", "", operands, [])
        of_second = [t is operands[1] for t in case.model_inputs()]
        return [[allow(a, rng) if second else a for a, second in zip(arrays, of_second)]
                for arrays in random_samples(case, rng)]
    return samples


def unary(rng, kind, dtype, quantizations=(ALIKE,), options=None, ulp=None, allow=None, tag="",
          values=None):
    """At least 20 cases. `quantizations`: of operand and result, in turn over the shapes."""
    name = f"{kind.lower()}_{dtype}_{tag}"

    def case(label, x, q, samples=None, **more):
        return Case(f"{name}{label}", kind, [x], [tensor(dtype, (), q[-1])], dict(options or {}),
                    "ulp" if dtype == "float32" else "exact", ulp or 0,
                    samples=samples or _first_allowed(x, allow), **more)

    turns = max(2, -(-18 // len(SHAPES)))
    for turn in range(turns):
        for i, shape in enumerate(SHAPES):
            q = quantizations[(turn * len(SHAPES) + i) % len(quantizations)]
            x = tensor(dtype, shape[::-1] if turn else shape, q[0])
            yield case(f"shape_{turn}_{i:02}", x, q)
    values = special(dtype) if values is None else values
    if allow is not None:
        values = allow(values, rng)
    yield case("special", tensor(dtype, (len(values),), quantizations[0][0]), quantizations[0],
               samples=lambda rng: [[values]])
    if dtype in QUANTIZED:
        info = np.iinfo(dtype)
        ramp = np.arange(info.min, info.max + 1).astype(dtype)
        for i, q in enumerate(quantizations):
            wide = ramp if allow is None else allow(ramp, rng)
            yield case(f"every_value_{i:02}", tensor(dtype, (len(wide),), q[0]), q,
                       samples=lambda rng, wide=wide: [[wide]])


def _first_allowed(x, allow):
    if allow is None:
        return None
    return lambda rng: [[allow(arrays[0], rng)]
                        for arrays in random_samples(Case("", "", [x], []), rng)]
