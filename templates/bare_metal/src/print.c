/* Numbers as text without stdio: printf with floats costs more flash than many models. */
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
