// SPDX-License-Identifier: 0BSD
/* The platform on Arduino: the line is Serial, the clock micros(). */
#include <Arduino.h>

extern "C" {
#include "harness.h"
#include "serial.h"
}

void serial_initialise(void)
{
    Serial.begin(115200);
    while (!Serial) {}
}

int serial_get(void)
{
    while (Serial.available() <= 0) { yield(); }
    return Serial.read();
}

void serial_put(const uint8_t *bytes, uint32_t count)
{
    (void)Serial.write(bytes, static_cast<size_t>(count));
}

/* micros() wraps after 71 minutes: seen at least that often, this does not. */
uint64_t platform_clock_now(void)
{
    static uint32_t last = 0;
    static uint32_t wraps = 0;
    const uint32_t now = micros();
    if (now < last) { ++wraps; }
    last = now;
    return ((static_cast<uint64_t>(wraps) << 32) | now) * 1000u;
}

const char *platform_board(void)
{
    return "@board@";
}
