# SPDX-License-Identifier: Apache-2.0
"""NON_MAX_SUPPRESSION_V4 and V5: boxes that overlap, touch, contain each other, have their corners the other way round
or no area. Scores differ from each other: in which order the reference takes equal ones, its queue decides."""

import models_counted
import numpy as np
from case import Case, Tensor, const

KINDS = ("NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5")
PAIRS = [(k, "float32") for k in KINDS]
TALLIES = ((1, 1), (5, 3), (8, 8), (8, 20), (20, 6), (40, 10), (64, 64))
THRESHOLDS = ((0.5, 0.0, 0.0), (0.3, 0.4, 0.5), (0.9, -1.0, 0.1), (1.0, 0.25, 2.0))


def cases(rng):
    for kind in KINDS:
        soft = kind.endswith("5")
        for i, (boxes, most) in enumerate(TALLIES):
            for j, (overlap, score, sigma) in enumerate(THRESHOLDS):
                yield _case(f"{kind[-2:].lower()}_{i}_{j}", kind, boxes, most, overlap, score, sigma if soft else None,
                            [_drawn(rng, boxes, how) for how in ("near", "far", "any")])
        point = np.float32([[0, 0, 0, 0], [1, 1, 2, 2], [1, 1, 1, 3], [1, 1, 2, 2.5]])
        for overlap in (0.0, 0.5, 1.5):
            yield _case(f"{kind[-2:].lower()}_no_area_{overlap}", kind, 4, 6, overlap, 0.0, 0.0 if soft else None,
                        [[point, np.float32([3, 2, 1, 0.5])], [point, np.float32([0.5, 1, 2, 3])]])
        yield _case(f"{kind[-2:].lower()}_none", kind, 4, 6, 0.5, 9.0, 0.0 if soft else None,
                    [[point, np.float32([3, 2, 1, 9])]])
        yield _case(f"{kind[-2:].lower()}_not_numbers", kind, 4, 6, 0.5, 0.0, 0.0 if soft else None,
                    [[point, np.float32([np.nan, np.inf, 1, -np.inf])]])
        yield _case(f"{kind[-2:].lower()}_nothing_wanted", kind, 4, -1, 0.5, 0.0, 0.0 if soft else None, None)
    yield _case("v5_sigma_below_0", KINDS[1], 4, 6, 0.5, 0.0, -1.0, None)


def _case(name, kind, boxes, most, overlap, score, sigma, samples):
    numbers = [const(np.int32(most)), const(np.float32(overlap)), const(np.float32(score))]
    outputs = [Tensor("int32"), Tensor("int32")]
    if sigma is not None:
        numbers.append(const(np.float32(sigma)))
        outputs.insert(1, Tensor("float32"))
    settings = (most, np.float32(overlap), np.float32(score), np.float32(sigma or 0))
    apart = max([_apart(sample, settings) for sample in samples or []], default=0) if (sigma or 0) > 0 else 0
    return Case(name, kind, [Tensor("float32", (boxes, 4)), Tensor("float32", (boxes,))] + numbers, outputs, {},
                "ulp" if sigma is not None else "exact", apart, samples=(lambda rng: samples) if samples else None)


def _apart(sample, settings):
    """How many ulp scores may be apart where each result of the exponential function, of numbers below 0, is the next
    float to either side. Scores are products, and products and their rounding rise with what is multiplied: whatever
    a library does that is off by no more, is between all up and all down. The same boxes must be chosen then."""
    def moved(towards):
        return lambda x: np.float32(1) if x == 0 else np.nextafter(models_counted.expf(np.array([x], np.float32))[0],
                                                                   np.float32(towards), dtype=np.float32)
    chosen, scores = models_counted.suppressed(*sample, *settings)
    worst = 0
    for towards in (-np.inf, np.inf):
        others, moved_scores = models_counted.suppressed(*sample, *settings, moved(towards))
        assert others == chosen, "another library may choose other boxes: draw another case"
        steps = np.float32(moved_scores).view(np.int32).astype(np.int64) - np.float32(scores).view(np.int32)
        worst = max(worst, int(np.abs(steps).max(initial=0)))
    return worst


def _drawn(rng, n, how):
    spread = {"near": 0.5, "far": 30.0, "any": 4.0}[how]
    corner, size = rng.uniform(0, spread, (n, 2)), rng.uniform(0.2, 3.0, (n, 2))
    boxes = np.concatenate([corner, corner + size], axis=1)
    turned = rng.integers(2, size=n) == 1
    boxes[turned] = boxes[turned][:, [2, 3, 0, 1]]
    scores = rng.permutation(n) / n + rng.uniform(0.0, 0.5 / n, n)
    return [boxes.astype(np.float32), scores.astype(np.float32)]
