// SPDX-License-Identifier: 0BSD
/* Does this board compute what the model '@prefix@' should give? Compares the result of every layer
 * for a stored input with what was computed on the desktop, and prints "bit-exact" or the first
 * layer that differs, the time of each layer, and the answers to the stored inputs. */
#include <@prefix@_app.h>

#if defined(ARDUINO)
#include <Arduino.h>

void @prefix@_port_write(const char *text, uint32_t length)
{
    Serial.write(reinterpret_cast<const uint8_t *>(text), static_cast<size_t>(length));
}

// micros() wraps after 71 minutes: seen at least that often, this does not.
uint64_t @prefix@_port_now(void)
{
    static uint32_t last = 0;
    static uint32_t wraps = 0;
    const uint32_t now = micros();
    if (now < last) { ++wraps; }
    last = now;
    return (static_cast<uint64_t>(wraps) << 32) | now;
}

void setup()
{
    Serial.begin(115200);
    while (!Serial && millis() < 3000) {
        // Boards with USB of their own: nobody may be listening.
    }
    @prefix@_demo();
}

// Your own: fill @prefix@_app_input(0).data, call @prefix@_app_run(), and read the results with
// @prefix@_app_value(). @prefix@.h has the same without the wrapping.
void loop()
{
}

#else
#include <stdio.h>

#include <chrono>

void @prefix@_port_write(const char *text, uint32_t length)
{
    fwrite(text, 1, length, stdout);
}

uint64_t @prefix@_port_now(void)
{
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

int main()
{
    return @prefix@_demo() == 0 ? 0 : 1;
}
#endif

const char *@prefix@_port_unit(void)
{
    return "microseconds";
}
