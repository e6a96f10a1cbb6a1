// SPDX-License-Identifier: 0BSD
/* What the demo and the self test of the model '@prefix@' need of Arduino: a printer and a clock. */
#include "@library@.h"

static Print *printer = &Serial;

void @prefix@_print_to(Print &other)
{
    printer = &other;
}

void @prefix@_port_write(const char *text, uint32_t length)
{
    printer->write(reinterpret_cast<const uint8_t *>(text), static_cast<size_t>(length));
}

/* micros() wraps after 71 minutes: seen at least that often, this does not. */
uint64_t @prefix@_port_now(void)
{
    static uint32_t last = 0;
    static uint32_t wraps = 0;
    const uint32_t now = micros();
    if (now < last) { ++wraps; }
    last = now;
    return (static_cast<uint64_t>(wraps) << 32) | now;
}

const char *@prefix@_port_unit(void)
{
    return "microseconds";
}
