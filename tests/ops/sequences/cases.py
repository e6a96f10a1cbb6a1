# SPDX-License-Identifier: Apache-2.0
"""ONE_HOT, REVERSE_SEQUENCE, TOPK_V2 and LOCAL_RESPONSE_NORMALIZATION: indices and lengths beyond either
end, elements that are equal."""

import numpy as np
from case import Case, Tensor, const, random_samples
from families import drawn
from moved import tensor

HOT = ("int8", "float32", "int32", "int64", "uint8", "bool")
TOP = ("int8", "float32", "int16", "int32", "int64", "uint8")
REVERSED = ("float32", "int16", "int32", "int64", "uint8")
PAIRS = [("ONE_HOT", t) for t in HOT] + [("REVERSE_SEQUENCE", t) for t in REVERSED]
PAIR_BY = "outputs"
PAIRS += [("TOPK_V2", t) for t in TOP] + [("LOCAL_RESPONSE_NORMALIZATION", "float32")]

HOTS = (((4,), 3, -1), ((4,), 3, 0), ((), 5, -1), ((2, 3), 4, 1), ((2, 3), 4, 0), ((2, 3), 4, -1),
        ((1,), 1, 0), ((2, 2, 2), 3, 2), ((7,), 17, -1), ((3, 1), 2, 1))
SEQUENCES = (((4, 3), 0, 1), ((4, 3), 1, 0), ((2, 5, 3), 1, 0), ((2, 5, 3), 0, 1), ((2, 3, 4), 0, 2),
             ((2, 3, 4), 2, 0), ((2, 3, 4), 2, 1), ((1, 6, 2, 2), 1, 0), ((3, 2, 4, 2), 2, 0), ((5, 1), 0, 1),
             ((2, 2, 9), 2, 1))
TOPS = (((5,), 1), ((5,), 3), ((5,), 5), ((1,), 1), ((3, 4), 2), ((3, 4), 4), ((2, 3, 7), 3), ((1, 40), 5),
        ((2, 17), 17), ((4, 1), 1))


def cases(rng):
    for dtype in HOT:
        for i, (shape, depth, axis) in enumerate(HOTS):
            for fixed in (False, True):
                of = ("int32", "int64")[(i + fixed) % 2]
                t = tensor(dtype)
                one, other = (const(drawn(rng, t), t.scale, t.zero_point) if fixed else t for _ in range(2))
                if not fixed:
                    one, other = tensor(dtype), tensor(dtype)
                case = Case(f"one_hot_{dtype}_{i}{'_constant' * fixed}", "ONE_HOT",
                            [Tensor(of, shape), const(np.int32(depth)), one, other], [tensor(dtype)],
                            dict(axis=axis))
                case.samples = _near(case, depth)
                yield case
    for dtype in REVERSED:
        for i, (shape, seq, batch) in enumerate(SEQUENCES):
            for of in ("int32", "int64"):
                lengths = Tensor(of, (shape[batch],))
                case = Case(f"reverse_sequence_{dtype}_{of}_{i:02}", "REVERSE_SEQUENCE",
                            [tensor(dtype, shape), lengths], [tensor(dtype)], dict(seq_dim=seq, batch_dim=batch))
                case.samples = _lengths(case, shape[seq])
                yield case
    for i, bad in enumerate((5, np.iinfo(np.int32).max)):
        yield Case(f"reverse_sequence_too_long_{i}", "REVERSE_SEQUENCE",
                   [tensor("float32", (4, 2)), Tensor("int32", (2,))], [tensor("float32")],
                   dict(seq_dim=0, batch_dim=1), undefined="the reference reads outside of the tensor",
                   may_abort=True, samples=lambda rng, bad=bad: [[np.zeros((4, 2)), np.array([1, bad])]])
    for dtype in TOP:
        for i, (shape, k) in enumerate(TOPS):
            for equal in (False, True):
                case = Case(f"topk_v2_{dtype}_{i}{'_equal' * equal}", "TOPK_V2",
                            [tensor(dtype, shape), const(np.int32(k))], [tensor(dtype), Tensor("int32")])
                if equal:
                    case.samples = lambda rng, shape=shape: [[rng.integers(0, 3, size=shape)]]
                yield case
    yield Case("topk_v2_not_numbers", "TOPK_V2", [Tensor("float32", (2, 6)), const(np.int32(6))],
               [Tensor("float32"), Tensor("int32")],
               samples=lambda rng: [[[[np.nan, 1, -np.inf, np.nan, np.inf, -0.0], [0.0, -0.0, np.nan, 0, -1, 1]]]])
    yield Case("topk_v2_too_many", "TOPK_V2", [Tensor("float32", (2, 3)), const(np.int32(4))],
               [Tensor("float32"), Tensor("int32")], may_abort=True)
    for i, (radius, bias, alpha, beta) in enumerate(((1, 1.0, 1.0, 0.5), (2, 2.0, 0.1, 0.75), (5, 1.0, 1e-4, 0.75),
                                                     (0, 1.0, 1.0, 0.5), (3, 0.5, 2.0, 1.0), (100, 1.0, 0.3, 2.0))):
        for j, shape in enumerate(((1, 2, 3, 5), (2, 1, 1, 1), (1, 3, 2, 12), (1, 1, 4, 2))):
            yield Case(f"local_response_normalization_{i}_{j}", "LOCAL_RESPONSE_NORMALIZATION",
                       [Tensor("float32", shape)], [Tensor("float32")],
                       dict(radius=radius, bias=bias, alpha=alpha, beta=beta), "ulp", 4)


def _near(case, depth):
    def samples(rng):
        out = random_samples(case, rng, 2)
        for sample in out:
            indices = sample[0]
            sample[0] = np.where(rng.integers(4, size=indices.shape) == 0, indices,
                                 rng.integers(-1, depth + 1, size=indices.shape)).astype(indices.dtype)
        return out
    return samples


def _lengths(case, size):
    def samples(rng):
        out = random_samples(case, rng, 2)
        for sample in out:
            sample[1] = rng.integers(0, size + 1, size=sample[1].shape)
        return out
    return samples
