/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for the compiler's header on this machine: intrinsics of the DSP extension that emitted C calls, in plain C
 * by their definition in the Arm C Language Extensions. The Q flag is left out. */
#ifndef ARM_ACLE_STAND_IN_H
#define ARM_ACLE_STAND_IN_H

#include <stdint.h>

static inline int32_t acle_low(int32_t word) {
    return (int16_t)(uint16_t)((uint32_t)word & 0xFFFFu);
}

static inline int32_t acle_high(int32_t word) {
    return (int16_t)(uint16_t)((uint32_t)word >> 16);
}

static inline int32_t acle_add(int32_t a, int32_t b) {
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

static inline int32_t __smlabt(int32_t a, int32_t b, int32_t sum) {
    return acle_add(sum, acle_low(a) * acle_high(b));
}

static inline int32_t __smlad(int32_t a, int32_t b, int32_t sum) {
    return acle_add(acle_add(sum, acle_low(a) * acle_low(b)), acle_high(a) * acle_high(b));
}

static inline int32_t __ssat(int32_t value, unsigned bits) {
    const int32_t most = (int32_t)((1u << (bits - 1u)) - 1u);
    return value > most ? most : value < -most - 1 ? -most - 1 : value;
}

static inline int32_t __sxtb16(int32_t word) {
    const uint32_t low = (uint32_t)(int32_t)(int8_t)(uint8_t)((uint32_t)word & 0xFFu);
    const uint32_t high = (uint32_t)(int32_t)(int8_t)(uint8_t)((uint32_t)word >> 16 & 0xFFu);
    return (int32_t)((low & 0xFFFFu) | high << 16);
}

#endif
