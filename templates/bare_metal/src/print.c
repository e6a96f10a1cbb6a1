/* SPDX-License-Identifier: 0BSD */
/* Numbers and tensors as text without stdio: printf with floats costs more flash than many
 * models. */
#include <string.h>

#include "harness.h"

void print_text(const char *text)
{
    platform_console_write(text, (uint32_t)strlen(text));
}

void print_u64(uint64_t value)
{
    char digits[20];
    uint32_t at = (uint32_t)sizeof digits;
    do {
        digits[--at] = (char)('0' + (int)(value % 10u));
        value /= 10u;
    } while (value != 0u);
    platform_console_write(digits + at, (uint32_t)sizeof digits - at);
}

void print_i64(int64_t value)
{
    if (value < 0) {
        print_text("-");
        print_u64(0u - (uint64_t)value);
    } else {
        print_u64((uint64_t)value);
    }
}

/* `millionths` as .dddddd */
static void print_fraction(uint32_t millionths)
{
    char digits[7];
    int at;
    for (at = 6; at > 0; --at) {
        digits[at] = (char)('0' + (int)(millionths % 10u));
        millionths /= 10u;
    }
    digits[0] = '.';
    platform_console_write(digits, (uint32_t)sizeof digits);
}

void print_float(float value)
{
    uint32_t bits;
    int32_t exponent = 0;
    uint32_t whole;
    uint32_t millionths;
    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7f800000u) == 0x7f800000u) {
        print_text((bits & 0x007fffffu) != 0u ? "nan" : (bits >> 31) != 0u ? "-inf" : "inf");
        return;
    }
    if ((bits >> 31) != 0u) {
        print_text("-");
        value = -value;
    }
    /* Only what does not fit six whole or six fractional digits gets an exponent. */
    while (value >= 1e6f) {
        value /= 10.0f;
        ++exponent;
    }
    while (value > 0.0f && value < 1e-4f) {
        value *= 10.0f;
        --exponent;
    }
    if (exponent != 0) {
        while (value >= 10.0f) {
            value /= 10.0f;
            ++exponent;
        }
        while (value < 1.0f) {
            value *= 10.0f;
            --exponent;
        }
    }
    whole = (uint32_t)value;
    millionths = (uint32_t)((value - (float)whole) * 1e6f + 0.5f);
    if (millionths >= 1000000u) {
        millionths -= 1000000u;
        ++whole;
    }
    print_u64(whole);
    print_fraction(millionths);
    if (exponent != 0) {
        print_text("e");
        print_i64(exponent);
    }
}

void print_pair(const char *key, uint64_t value)
{
    print_text(" ");
    print_text(key);
    print_text("=");
    print_u64(value);
}

/* Without the compiler's own conversion, which brings double arithmetic along. */
static float to_float(int64_t value)
{
    const uint64_t size = value < 0 ? 0u - (uint64_t)value : (uint64_t)value;
    float result = (float)(uint32_t)size;
    if ((size >> 32) != 0u) { result += (float)(uint32_t)(size >> 32) * 4294967296.0f; }
    return value < 0 ? -result : result;
}

/* As stored, sign extended. */
static int64_t integer_element(const struct tensor *t, uint32_t index)
{
    const uint32_t size = t->bytes / t->elements;
    uint64_t raw = 0;
    memcpy(&raw, (const uint8_t *)t->data + index * size, size);
    if (t->kind == ELEMENT_SIGNED) {
        const uint64_t sign = (uint64_t)1 << (size * 8u - 1u);
        raw = (raw ^ sign) - sign;
    }
    return (int64_t)raw;
}

static float element(const struct tensor *t, uint32_t index)
{
    float value;
    if (t->kind == ELEMENT_FLOAT) {
        memcpy(&value, (const uint8_t *)t->data + index * sizeof value, sizeof value);
        return value;
    }
    value = to_float(integer_element(t, index) - t->zero_point);
    return t->scale > 0.0f ? value * t->scale : value;
}

static void print_element(const struct tensor *t, uint32_t index)
{
    if (t->kind != ELEMENT_FLOAT && !(t->scale > 0.0f)) {
        print_i64(integer_element(t, index));
    } else {
        print_float(element(t, index));
    }
}

static uint32_t largest_element(const struct tensor *t)
{
    uint32_t best = 0;
    float best_value = element(t, 0);
    uint32_t i;
    for (i = 1; i < t->elements; ++i) {
        const float value = element(t, i);
        if (value > best_value) {
            best_value = value;
            best = i;
        }
    }
    return best;
}

/* The name of a class, if there is one for each element. */
static const char *label_of(const struct tensor *t, uint32_t index)
{
    uint32_t count = 0;
    while (labels[count] != 0) { ++count; }
    return count == t->elements ? labels[index] : 0;
}

void print_output(uint32_t sample, const struct tensor *t)
{
    const uint32_t best = largest_element(t);
    const uint32_t shown = t->elements < 16u ? t->elements : 16u;
    const char *const label = label_of(t, best);
    uint32_t i;
    print_text("sample ");
    print_u64(sample);
    print_text(": ");
    print_text(t->name);
    print_text(" largest [");
    print_u64(best);
    print_text("]");
    if (label != 0) {
        print_text(" '");
        print_text(label);
        print_text("'");
    }
    print_text(" of");
    for (i = 0; i < shown; ++i) {
        print_text(" ");
        print_element(t, i);
    }
    print_text(shown < t->elements ? " ...\n" : "\n");
    print_text("@aotc sample=");
    print_u64(sample);
    print_text(" output=");
    print_text(t->name);
    print_pair("largest", best);
    print_text(" value=");
    print_element(t, best);
    print_text("\n");
}
