// SPDX-License-Identifier: 0BSD
/* Does this board compute what the model '@prefix@' should give? At the start this compares the
 * result of every layer for a stored input with what was computed on the desktop: "bit-exact", or
 * the first layer that differs. Then it runs the stored inputs, again and again, and prints every
 * result and the microseconds that a run takes.
 *
 * A sketch of your own fills the inputs where this one loads a stored input; it can leave out
 * @prefix@_demo(), and with it the self test. */
#include <@library@.h>

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
