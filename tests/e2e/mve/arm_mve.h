/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for the compiler's header on this machine: the intrinsics of Helium that emitted C calls, in plain C by
 * their definition in the Arm C Language Extensions and the architecture's manual. The saturation flag is left out.
 * Addresses of words and half words must be multiples of their size, as on the core. */
#ifndef ARM_MVE_STAND_IN_H
#define ARM_MVE_STAND_IN_H

#include <stdint.h>
#include <string.h>

/* Not inline: kernels call hundreds of them in a row, which compilers would take minutes for. */
#define MVE_FUNCTION __attribute__((noinline, unused)) static

typedef uint16_t mve_pred16_t; /* a bit for each byte */

#define MVE_TYPES(BITS, LANES)                                     \
    typedef struct { int##BITS##_t lane[LANES]; } int##BITS##x##LANES##_t; \
    typedef struct { uint##BITS##_t lane[LANES]; } uint##BITS##x##LANES##_t;
MVE_TYPES(8, 16)
MVE_TYPES(16, 8)
MVE_TYPES(32, 4)
typedef struct { float lane[4]; } float32x4_t;
typedef struct { int8x16_t val[2]; } int8x16x2_t;
typedef struct { int8x16_t val[4]; } int8x16x4_t;
typedef struct { int32x4_t val[2]; } int32x4x2_t;

/* ---- values */

/* The low bits of a value, as a signed number. */
MVE_FUNCTION int64_t mve_low(int64_t value, int bits) {
    const uint64_t sign = (uint64_t)1 << (bits - 1), low = (uint64_t)value & (sign * 2u - 1u);
    return (int64_t)(low ^ sign) - (int64_t)sign;
}

MVE_FUNCTION int64_t mve_saturate(int64_t value, int bits) {
    const int64_t most = ((int64_t)1 << (bits - 1)) - 1;
    return value > most ? most : value < -most - 1 ? -most - 1 : value;
}

/* Rounded down. */
MVE_FUNCTION int64_t mve_right(int64_t value, int by) {
    return value >= 0 ? value >> by : ~(~value >> by);
}

MVE_FUNCTION int64_t mve_rounded_right(int64_t value, int by) {
    return by == 0 ? value : mve_right(value + ((int64_t)1 << (by - 1)), by);
}

/* By a signed number of bits. */
MVE_FUNCTION int64_t mve_shift(int64_t value, int32_t by, int rounds) {
    const int left = (int8_t)(uint8_t)((uint32_t)by & 0xFFu);
    if (left >= 0) return left < 32 ? (int64_t)((uint64_t)value << left) : 0;
    if (left < -32) return rounds || value >= 0 ? 0 : -1;
    return rounds ? mve_rounded_right(value, -left) : mve_right(value, -left);
}

/* Twice the product as saturating high halves take it: half of it would not fit where both are the least number. */
MVE_FUNCTION int64_t mve_high_of_twice(int64_t product, int64_t plus, int rounds, int bits) {
    const int64_t half = rounds ? (int64_t)1 << (bits - 2) : 0;
    return mve_saturate(mve_right(product + half, bits - 1) + plus, bits);
}

MVE_FUNCTION int mve_holds(mve_pred16_t lanes, int lane, int bytes) {
    return (lanes >> (lane * bytes) & 1) != 0;
}

MVE_FUNCTION void mve_check(const volatile void *at, unsigned bytes) {
    if ((uintptr_t)at % bytes != 0) __builtin_trap();
}

/* ---- all types */

#define MVE_REINTERPRET(TO, TO_T, FROM, FROM_T)                      \
    MVE_FUNCTION TO_T vreinterpretq_##TO##_##FROM(FROM_T value) {   \
        TO_T out;                                                    \
        memcpy(&out, &value, sizeof out);                            \
        return out;                                                  \
    }
MVE_REINTERPRET(s8, int8x16_t, s16, int16x8_t)
MVE_REINTERPRET(s8, int8x16_t, s32, int32x4_t)
MVE_REINTERPRET(s16, int16x8_t, s8, int8x16_t)
MVE_REINTERPRET(s16, int16x8_t, s32, int32x4_t)
MVE_REINTERPRET(s32, int32x4_t, s8, int8x16_t)
MVE_REINTERPRET(s32, int32x4_t, s16, int16x8_t)
MVE_REINTERPRET(u8, uint8x16_t, s8, int8x16_t)
MVE_REINTERPRET(u16, uint16x8_t, s16, int16x8_t)
MVE_REINTERPRET(u32, uint32x4_t, s32, int32x4_t)
MVE_REINTERPRET(s16, int16x8_t, u16, uint16x8_t)
MVE_REINTERPRET(f32, float32x4_t, s32, int32x4_t)
MVE_REINTERPRET(s32, int32x4_t, f32, float32x4_t)

#define MVE_LANES(NAME, PARAMETERS, OUT, LANES, VALUE)               \
    MVE_FUNCTION OUT NAME PARAMETERS {                              \
        OUT out;                                                     \
        for (int i = 0; i < LANES; ++i) out.lane[i] = VALUE;         \
        return out;                                                  \
    }

/* Rounded to the nearest, ties to even, and saturated. */
MVE_FUNCTION int32_t mve_nearest(float value) {
    if (value != value) return 0;
    if (value >= 2147483648.0f) return INT32_MAX;
    if (value < -2147483648.0f) return INT32_MIN;
    const int64_t below = (int64_t)value - (value < (float)(int64_t)value);
    const float rest = value - (float)below;
    return (int32_t)(below + (rest > 0.5f || (rest == 0.5f && below % 2 != 0)));
}

MVE_LANES(vcvtq_f32_s32, (int32x4_t a), float32x4_t, 4, (float)a.lane[i])
MVE_LANES(vcvtnq_s32_f32, (float32x4_t a), int32x4_t, 4, mve_nearest(a.lane[i]))
MVE_LANES(vmulq_f32, (float32x4_t a, float32x4_t b), float32x4_t, 4, a.lane[i] * b.lane[i])

/* The operations on signed lanes of so many bits. */
#define MVE_SIGNED(BITS, LANES, V, S)                                                                             \
    MVE_LANES(vdupq_n_s##BITS, (S a), V, LANES, a)                                                                \
    MVE_LANES(vaddq_s##BITS, (V a, V b), V, LANES, (S)mve_low((int64_t)a.lane[i] + b.lane[i], BITS))              \
    MVE_LANES(vaddq_n_s##BITS, (V a, S b), V, LANES, (S)mve_low((int64_t)a.lane[i] + b, BITS))                    \
    MVE_LANES(vsubq_s##BITS, (V a, V b), V, LANES, (S)mve_low((int64_t)a.lane[i] - b.lane[i], BITS))              \
    MVE_LANES(vsubq_n_s##BITS, (V a, S b), V, LANES, (S)mve_low((int64_t)a.lane[i] - b, BITS))                    \
    MVE_LANES(vqaddq_s##BITS, (V a, V b), V, LANES, (S)mve_saturate((int64_t)a.lane[i] + b.lane[i], BITS))        \
    MVE_LANES(vqaddq_n_s##BITS, (V a, S b), V, LANES, (S)mve_saturate((int64_t)a.lane[i] + b, BITS))              \
    MVE_LANES(vmulhq_s##BITS, (V a, V b), V, LANES, (S)mve_right((int64_t)a.lane[i] * b.lane[i], BITS))           \
    MVE_LANES(vrmulhq_s##BITS, (V a, V b), V, LANES, (S)mve_rounded_right((int64_t)a.lane[i] * b.lane[i], BITS))  \
    MVE_LANES(vqdmulhq_n_s##BITS, (V a, S b), V, LANES,                                                           \
              (S)mve_high_of_twice((int64_t)a.lane[i] * b, 0, 0, BITS))                                           \
    MVE_LANES(vqrdmulhq_s##BITS, (V a, V b), V, LANES,                                                            \
              (S)mve_high_of_twice((int64_t)a.lane[i] * b.lane[i], 0, 1, BITS))                                   \
    MVE_LANES(vqrdmulhq_n_s##BITS, (V a, S b), V, LANES,                                                          \
              (S)mve_high_of_twice((int64_t)a.lane[i] * b, 0, 1, BITS))                                           \
    MVE_LANES(vqrdmulhq_m_n_s##BITS, (V inactive, V a, S b, mve_pred16_t lanes), V, LANES,                        \
              mve_holds(lanes, i, BITS / 8) ? (S)mve_high_of_twice((int64_t)a.lane[i] * b, 0, 1, BITS)            \
                                            : inactive.lane[i])                                                  \
    MVE_LANES(vqdmlashq_n_s##BITS, (V a, V b, S plus), V, LANES,                                                  \
              (S)mve_high_of_twice((int64_t)a.lane[i] * b.lane[i], plus, 0, BITS))                                \
    MVE_LANES(vqrdmlashq_n_s##BITS, (V a, V b, S plus), V, LANES,                                                 \
              (S)mve_high_of_twice((int64_t)a.lane[i] * b.lane[i], plus, 1, BITS))                                \
    MVE_LANES(vmlaq_n_s##BITS, (V sum, V a, S b), V, LANES,                                                       \
              (S)mve_low(mve_low((int64_t)a.lane[i] * b, BITS) + sum.lane[i], BITS))                              \
    MVE_LANES(vmlasq_n_s##BITS, (V a, V b, S plus), V, LANES,                                                     \
              (S)mve_low(mve_low((int64_t)a.lane[i] * b.lane[i], BITS) + plus, BITS))                             \
    MVE_LANES(vminq_s##BITS, (V a, V b), V, LANES, a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i])                 \
    MVE_LANES(vmaxq_s##BITS, (V a, V b), V, LANES, a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i])                 \
    MVE_LANES(vabsq_s##BITS, (V a), V, LANES, (S)mve_low(a.lane[i] < 0 ? -(int64_t)a.lane[i] : a.lane[i], BITS))  \
    MVE_LANES(vnegq_s##BITS, (V a), V, LANES, (S)mve_low(-(int64_t)a.lane[i], BITS))                              \
    MVE_LANES(vmvnq_s##BITS, (V a), V, LANES, (S)~a.lane[i])                                                      \
    MVE_LANES(vnegq_m_s##BITS, (V inactive, V a, mve_pred16_t lanes), V, LANES,                                   \
              mve_holds(lanes, i, BITS / 8) ? (S)mve_low(-(int64_t)a.lane[i], BITS) : inactive.lane[i])           \
    MVE_LANES(vsubq_m_s##BITS, (V inactive, V a, V b, mve_pred16_t lanes), V, LANES,                              \
              mve_holds(lanes, i, BITS / 8) ? (S)mve_low((int64_t)a.lane[i] - b.lane[i], BITS) : inactive.lane[i]) \
    MVE_LANES(vdupq_m_n_s##BITS, (V inactive, S a, mve_pred16_t lanes), V, LANES,                                 \
              mve_holds(lanes, i, BITS / 8) ? a : inactive.lane[i])                                               \
    MVE_LANES(vshlq_n_s##BITS, (V a, int by), V, LANES, (S)mve_low(mve_shift(a.lane[i], by, 0), BITS))            \
    MVE_LANES(vshlq_r_s##BITS, (V a, int32_t by), V, LANES, (S)mve_low(mve_shift(a.lane[i], by, 0), BITS))        \
    MVE_LANES(vrshlq_n_s##BITS, (V a, int32_t by), V, LANES, (S)mve_low(mve_shift(a.lane[i], by, 1), BITS))       \
    MVE_LANES(vrshlq_s##BITS, (V a, V by), V, LANES, (S)mve_low(mve_shift(a.lane[i], by.lane[i], 1), BITS))       \
    MVE_LANES(vshlq_s##BITS, (V a, V by), V, LANES, (S)mve_low(mve_shift(a.lane[i], by.lane[i], 0), BITS))        \
    MVE_LANES(vqshlq_n_s##BITS, (V a, int by), V, LANES, (S)mve_saturate(mve_shift(a.lane[i], by, 0), BITS))      \
    MVE_LANES(vshrq_n_s##BITS, (V a, int by), V, LANES, (S)mve_right(a.lane[i], by))                              \
    MVE_LANES(vrshrq_n_s##BITS, (V a, int by), V, LANES, (S)mve_rounded_right(a.lane[i], by))                     \
    MVE_FUNCTION mve_pred16_t mve_compare_s##BITS(V a, S b, int less, int equal, int more) {                     \
        uint32_t out = 0;                                                                                         \
        for (int i = 0; i < LANES; ++i)                                                                           \
            if (a.lane[i] < b ? less : a.lane[i] == b ? equal : more)                                             \
                out |= ((1u << (BITS / 8)) - 1u) << (i * (BITS / 8));                                             \
        return (mve_pred16_t)out;                                                                                 \
    }                                                                                                             \
    MVE_FUNCTION mve_pred16_t vcmpeqq_n_s##BITS(V a, S b) { return mve_compare_s##BITS(a, b, 0, 1, 0); }         \
    MVE_FUNCTION mve_pred16_t vcmpgeq_n_s##BITS(V a, S b) { return mve_compare_s##BITS(a, b, 0, 1, 1); }         \
    MVE_FUNCTION mve_pred16_t vcmpleq_n_s##BITS(V a, S b) { return mve_compare_s##BITS(a, b, 1, 1, 0); }         \
    MVE_FUNCTION mve_pred16_t vcmpltq_n_s##BITS(V a, S b) { return mve_compare_s##BITS(a, b, 1, 0, 0); }         \
    MVE_FUNCTION mve_pred16_t vctp##BITS##q(uint32_t count) {                                                    \
        uint32_t out = 0;                                                                                         \
        for (uint32_t i = 0; i < LANES && i < count; ++i)                                                         \
            out |= ((1u << (BITS / 8)) - 1u) << (i * (BITS / 8));                                                 \
        return (mve_pred16_t)out;                                                                                 \
    }
MVE_SIGNED(8, 16, int8x16_t, int8_t)
MVE_SIGNED(16, 8, int16x8_t, int16_t)
MVE_SIGNED(32, 4, int32x4_t, int32_t)

MVE_LANES(vhaddq_n_u16, (uint16x8_t a, uint16_t b), uint16x8_t, 8, (uint16_t)(((uint32_t)a.lane[i] + b) >> 1))
MVE_LANES(vshrq_n_u16, (uint16x8_t a, int by), uint16x8_t, 8, (uint16_t)(a.lane[i] >> by))
MVE_LANES(vbicq_n_u16, (uint16x8_t a, uint16_t b), uint16x8_t, 8, (uint16_t)(a.lane[i] & ~(uint32_t)b))
MVE_LANES(vpselq_s8, (int8x16_t a, int8x16_t b, mve_pred16_t lanes), int8x16_t, 16,
          mve_holds(lanes, i, 1) ? a.lane[i] : b.lane[i])

/* ---- sums of products */

#define MVE_PRODUCTS(BITS, LANES, V)                                                    \
    MVE_FUNCTION int32_t vmladavaq_s##BITS(int32_t sum, V a, V b) {                    \
        int64_t out = sum;                                                              \
        for (int i = 0; i < LANES; ++i) out += (int64_t)a.lane[i] * b.lane[i];          \
        return (int32_t)mve_low(out, 32);                                               \
    }                                                                                   \
    MVE_FUNCTION int32_t vmladavq_s##BITS(V a, V b) { return vmladavaq_s##BITS(0, a, b); }
MVE_PRODUCTS(8, 16, int8x16_t)
MVE_PRODUCTS(16, 8, int16x8_t)

/* ---- other sizes of lanes; `b` and `t` are the even and odd ones */

#define MVE_NARROWS(NAME, ODD, BITS, LANES, V, HALF, HALF_T, MORE, VALUE)               \
    MVE_FUNCTION HALF NAME(HALF into, V from MORE) {                                   \
        for (int i = 0; i < LANES; ++i) into.lane[2 * i + ODD] = (HALF_T)mve_saturate(VALUE, BITS / 2); \
        return into;                                                                    \
    }
#define MVE_COMMA_BY , int by
#define MVE_NARROW(BITS, LANES, V, HALF, HALF_T)                                                                  \
    MVE_NARROWS(vqmovnbq_s##BITS, 0, BITS, LANES, V, HALF, HALF_T, , from.lane[i])                                \
    MVE_NARROWS(vqmovntq_s##BITS, 1, BITS, LANES, V, HALF, HALF_T, , from.lane[i])                                \
    MVE_NARROWS(vqrshrnbq_n_s##BITS, 0, BITS, LANES, V, HALF, HALF_T, MVE_COMMA_BY,                               \
                mve_rounded_right(from.lane[i], by))                                                              \
    MVE_NARROWS(vqrshrntq_n_s##BITS, 1, BITS, LANES, V, HALF, HALF_T, MVE_COMMA_BY,                               \
                mve_rounded_right(from.lane[i], by))
MVE_NARROW(16, 8, int16x8_t, int8x16_t, int8_t)
MVE_NARROW(32, 4, int32x4_t, int16x8_t, int16_t)

MVE_LANES(vmullbq_int_s16, (int16x8_t a, int16x8_t b), int32x4_t, 4, (int32_t)a.lane[2 * i] * b.lane[2 * i])
MVE_LANES(vmulltq_int_s16, (int16x8_t a, int16x8_t b), int32x4_t, 4, (int32_t)a.lane[2 * i + 1] * b.lane[2 * i + 1])
MVE_LANES(vmovlbq_s8, (int8x16_t a), int16x8_t, 8, a.lane[2 * i])
MVE_LANES(vmovltq_s8, (int8x16_t a), int16x8_t, 8, a.lane[2 * i + 1])
MVE_LANES(vmovlbq_s16, (int16x8_t a), int32x4_t, 4, a.lane[2 * i])
MVE_LANES(vmovltq_s16, (int16x8_t a), int32x4_t, 4, a.lane[2 * i + 1])

/* ---- lanes */

MVE_FUNCTION int32x4_t vsetq_lane_s32(int32_t value, int32x4_t into, int lane) {
    into.lane[lane] = value;
    return into;
}

/* All bits to the left: those of `carry` come in, those that leave go there. */
MVE_FUNCTION int32x4_t vshlcq_s32(int32x4_t value, uint32_t *carry, int by) {
    for (int i = 0; i < 4; ++i) {
        const uint64_t wide = (uint64_t)(uint32_t)value.lane[i] << by;
        const uint32_t in = *carry & (uint32_t)(((uint64_t)1 << by) - 1u);
        value.lane[i] = (int32_t)mve_low((int64_t)((uint32_t)wide | in), 32);
        *carry = (uint32_t)(wide >> 32);
    }
    return value;
}

/* ---- memory */

#define MVE_MEMORY(LETTER, ELEMENT, BITS, LANES, V)                                                         \
    MVE_FUNCTION V vldr##LETTER##q_z_s##BITS(const ELEMENT *from, mve_pred16_t lanes) {                    \
        V out;                                                                                              \
        mve_check(from, sizeof(ELEMENT));                                                                   \
        for (int i = 0; i < LANES; ++i) {                                                                   \
            ELEMENT element = 0;                                                                            \
            if (mve_holds(lanes, i, BITS / 8))                                                              \
                memcpy(&element, (const char *)from + (size_t)i * sizeof element, sizeof element);          \
            out.lane[i] = element;                                                                          \
        }                                                                                                   \
        return out;                                                                                         \
    }                                                                                                       \
    MVE_FUNCTION V vldr##LETTER##q_s##BITS(const ELEMENT *from) {                                          \
        return vldr##LETTER##q_z_s##BITS(from, 0xFFFF);                                                     \
    }                                                                                                       \
    MVE_FUNCTION void vstr##LETTER##q_p_s##BITS(ELEMENT *to, V value, mve_pred16_t lanes) {                \
        mve_check(to, sizeof(ELEMENT));                                                                     \
        for (int i = 0; i < LANES; ++i) {                                                                   \
            const ELEMENT element = (ELEMENT)mve_low(value.lane[i], 8 * (int)sizeof(ELEMENT));              \
            if (mve_holds(lanes, i, BITS / 8))                                                              \
                memcpy((char *)to + (size_t)i * sizeof element, &element, sizeof element);                  \
        }                                                                                                   \
    }                                                                                                       \
    MVE_FUNCTION void vstr##LETTER##q_s##BITS(ELEMENT *to, V value) {                                      \
        vstr##LETTER##q_p_s##BITS(to, value, 0xFFFF);                                                       \
    }
MVE_MEMORY(b, int8_t, 8, 16, int8x16_t)
MVE_MEMORY(b, int8_t, 16, 8, int16x8_t)
MVE_MEMORY(b, int8_t, 32, 4, int32x4_t)
MVE_MEMORY(h, int16_t, 16, 8, int16x8_t)
MVE_MEMORY(h, int16_t, 32, 4, int32x4_t)
MVE_MEMORY(w, int32_t, 32, 4, int32x4_t)

#define MVE_SCATTER(BITS, LANES, V, U)                                                                      \
    MVE_FUNCTION void vstrbq_scatter_offset_p_s##BITS(int8_t *to, U offsets, V value, mve_pred16_t lanes) { \
        for (int i = 0; i < LANES; ++i)                                                                     \
            if (mve_holds(lanes, i, BITS / 8)) to[offsets.lane[i]] = (int8_t)mve_low(value.lane[i], 8);     \
    }                                                                                                       \
    MVE_FUNCTION void vstrbq_scatter_offset_s##BITS(int8_t *to, U offsets, V value) {                      \
        vstrbq_scatter_offset_p_s##BITS(to, offsets, value, 0xFFFF);                                        \
    }
MVE_SCATTER(8, 16, int8x16_t, uint8x16_t)
MVE_SCATTER(16, 8, int16x8_t, uint16x8_t)
MVE_SCATTER(32, 4, int32x4_t, uint32x4_t)

MVE_FUNCTION int32x4_t vldrwq_gather_offset_s32(const int32_t *from, uint32x4_t offsets) {
    int32x4_t out;
    for (int i = 0; i < 4; ++i) {
        const char *at = (const char *)from + offsets.lane[i];
        mve_check(at, 4);
        memcpy(&out.lane[i], at, 4);
    }
    return out;
}

#define MVE_INTERLEAVED(COUNT, BITS, LANES, S, VS)                                                          \
    MVE_FUNCTION void vst##COUNT##q_s##BITS(S *to, VS value) {                                             \
        mve_check(to, sizeof(S));                                                                           \
        for (int i = 0; i < LANES; ++i)                                                                     \
            for (int v = 0; v < COUNT; ++v)                                                                 \
                memcpy((char *)to + (size_t)(i * COUNT + v) * sizeof(S), &value.val[v].lane[i], sizeof(S)); \
    }
MVE_INTERLEAVED(2, 8, 16, int8_t, int8x16x2_t)
MVE_INTERLEAVED(4, 8, 16, int8_t, int8x16x4_t)
MVE_INTERLEAVED(2, 32, 4, int32_t, int32x4x2_t)

MVE_FUNCTION int8x16x4_t vld4q_s8(const int8_t *from) {
    int8x16x4_t out;
    for (int i = 0; i < 64; ++i) out.val[i % 4].lane[i / 4] = from[i];
    return out;
}

#endif
