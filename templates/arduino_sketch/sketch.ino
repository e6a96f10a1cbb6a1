// SPDX-License-Identifier: 0BSD
/* Does this board compute what the model '@prefix@' should give? At the start this compares the
 * result of every layer for a stored input with what was computed on the desktop: "bit-exact", or
 * the first layer that differs. Then it runs the stored inputs, again and again, and prints every
 * result and the microseconds that a run takes.
 *
 * Fill the inputs with your data where this loads a stored input. Without the call of
 * @prefix@_demo() the self test is not linked. */
#include "src/@prefix@_app.h"

// What the demo and the self test need: a printer and a clock.

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

const char *@prefix@_port_unit(void)
{
    return "microseconds";
}

void setup()
{
    Serial.begin(115200);
    while (!Serial && millis() < 3000) {
        // Boards with USB of their own: nobody may be listening.
    }
    (void)@demo_call@;
}

static void print_output(uint32_t index)
{
    const struct @prefix@_tensor output = @prefix@_app_output(index);
    Serial.print(F("output "));
    Serial.print(index);
    Serial.print(F(":"));
    for (uint32_t element = 0; element < output.elements; ++element) {
        Serial.print(F(" "));
        Serial.print(@prefix@_app_value(&output, element), 6);
    }
    Serial.println();
}

void loop()
{
    static uint32_t sample = 0;
    @prefix@_load_sample(sample);

    const uint32_t begin = micros();
    const int32_t status = @prefix@_app_run();
    const uint32_t end = micros();

    Serial.print(F("input "));
    Serial.print(sample);
    Serial.print(F(": status "));
    Serial.print(status);
    Serial.print(F(", "));
    Serial.print(end - begin);
    Serial.println(F(" microseconds"));
    for (uint32_t index = 0; status == 0 && index < @macro_prefix@_OUTPUT_COUNT; ++index) {
        print_output(index);
    }
    if (++sample >= @macro_prefix@_SAMPLE_COUNT) { sample = 0; }
    delay(1000);
}
