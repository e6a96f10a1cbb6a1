# SPDX-License-Identifier: Apache-2.0
"""The integer arithmetic that LiteRT's reference kernels are built from, in numpy.

Values are int64 arrays that hold int32 (or int16 where said) numbers; a result that would leave
its width wraps or saturates exactly as the kernels do. The formulas are public mathematics; the
facts about which kernel uses which one are in docs/numerics.md and checked by numerics_facts.py.
"""

import math

import numpy as np

INT16_MIN, INT16_MAX = -(1 << 15), (1 << 15) - 1
INT32_MIN, INT32_MAX = -(1 << 31), (1 << 31) - 1


def wrap32(x):
    """Two's complement value of the low 32 bits."""
    return ((np.asarray(x, dtype=np.int64) + (1 << 31)) & 0xFFFFFFFF) - (1 << 31)


def round_half_away(x):
    """C's round(): nearest, ties away from zero; exact for float32 and float64 arrays."""
    magnitude = np.abs(x)
    floor = np.floor(magnitude)
    return np.copysign(floor + (magnitude - floor >= 0.5).astype(magnitude.dtype), x)


def quantize_multiplier(real):
    """real = multiplier * 2**(shift - 31), multiplier in [2**30, 2**31); (0, 0) if too small."""
    real = float(real)
    if real == 0.0:
        return 0, 0
    fraction, shift = math.frexp(real)
    multiplier = int(round_half_away(np.float64(fraction * (1 << 31))))
    if multiplier == 1 << 31:
        multiplier //= 2
        shift += 1
    if shift < -31:
        return 0, 0
    return multiplier, shift


def high_mul(a, b):
    """Rounded high half of 2*a*b: ties towards plus infinity for a*b >= 0, and for a*b < 0 the
    nudge is one less and the division truncates; saturates for a = b = -2**31."""
    a, b = np.asarray(a, dtype=np.int64), np.asarray(b, dtype=np.int64)
    product = a * b
    nudged = product + np.where(product >= 0, 1 << 30, 1 - (1 << 30))
    result = np.where(nudged >= 0, nudged >> 31, -((-nudged) >> 31))  # division truncates
    return np.where((a == b) & (a == INT32_MIN), INT32_MAX, result)


def rounding_shift(x, exponent):
    """x / 2**exponent, nearest, ties away from zero."""
    x = np.asarray(x, dtype=np.int64)
    mask = (np.int64(1) << np.int64(exponent)) - 1
    threshold = (mask >> 1) + (x < 0)
    return (x >> np.int64(exponent)) + ((x & mask) > threshold)


def scale(x, multiplier, shift):
    """x * multiplier * 2**(shift - 31), rounding twice: in the multiply and in the right shift.
    A left shift happens before the multiply and wraps at 32 bits."""
    left, right = max(shift, 0), max(-shift, 0)
    return rounding_shift(high_mul(wrap32(np.asarray(x, np.int64) << left), multiplier), right)


def scale_wide(x, multiplier, shift):
    """The same for x of up to 48 bits: the multiplier keeps 16 bits, and is rounded once more by
    that; the product is rounded once, ties towards plus infinity; 32 bits remain."""
    kept = (multiplier + (1 << 15)) >> 16 if multiplier < 0x7FFF0000 else 0x7FFF
    right = 15 - shift
    return wrap32((np.asarray(x, np.int64) * kept + (1 << (right - 1))) >> right)


def saturating_left_shift(x, exponent):
    return np.clip(np.asarray(x, np.int64) << exponent, INT32_MIN, INT32_MAX)


# Fixed point exp and reciprocal, as used by softmax. "Qm" below is a 32 bit number with m integer
# bits: value = raw / 2**(31 - m).

def exp_q5(x):
    """exp(x) in Q0 for x <= 0 in Q5. The quarter-unit remainder goes through a polynomial of
    degree four around -1/8, the rest through one constant per set bit."""
    x = np.asarray(x, dtype=np.int64)
    quarter = 1 << 24  # 0.25 in Q5
    remainder = (x & (quarter - 1)) - quarter
    a = saturating_left_shift(remainder, 5) + (1 << 28)  # Q0, plus 1/8
    a2 = high_mul(a, a)
    a3, a4 = high_mul(a2, a), high_mul(a2, a2)
    one_third = 715827883
    exp_minus_eighth = 1895147668
    tail = rounding_shift(high_mul(rounding_shift(a4, 2) + a3, one_third) + a2, 1)
    result = exp_minus_eighth + high_mul(exp_minus_eighth, a + tail)
    bits = remainder - x
    # exp(-2**k) in Q0 for k = -2 .. 4
    for k, factor in zip(range(-2, 5), (1672461947, 1302514674, 790015084, 290630308, 39332535,
                                         720401, 242)):
        result = np.where(bits & (1 << (26 + k)), high_mul(result, factor), result)
    return np.where(x == 0, INT32_MAX, result)


def reciprocal_one_plus(x):
    """1 / (1 + x) in Q0 for x in [0, 1) in Q0: three Newton steps from a linear guess."""
    total = np.asarray(x, dtype=np.int64) + INT32_MAX
    half_denominator = (total + 1) >> 1  # total >= 0, so this rounds half up
    guess = 1515870810 + high_mul(half_denominator, -1010580540)  # 48/17 - 32/17 d, in Q2
    for _ in range(3):
        error = (1 << 29) - high_mul(half_denominator, guess)  # Q2
        guess = guess + saturating_left_shift(high_mul(guess, error), 2)
    return saturating_left_shift(guess, 1)
