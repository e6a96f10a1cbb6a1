// SPDX-License-Identifier: Apache-2.0
/* Runs a sketch on the host: setup() once, loop() as often as the argument says. */
#include <Arduino.h>

#include <stdlib.h>

#include <chrono>

Console Serial;

unsigned long micros()
{
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<uint32_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

unsigned long millis()
{
    return micros() / 1000;
}

int main(int count, char **arguments)
{
    setup();
    for (int i = count > 1 ? atoi(arguments[1]) : 0; i > 0; --i) { loop(); }
    return 0;
}
