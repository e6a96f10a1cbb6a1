/* Runs the model '@prefix@' on its stored inputs, again and again, and prints every result and the
 * microseconds that a run takes. To use data of your own, fill the inputs instead of loading a
 * stored one: @prefix@_app_input(0).data is where the first one is, @prefix@.h has its type. */
#include <@library@.h>

void setup()
{
    Serial.begin(115200);
    while (!Serial && millis() < 3000) {
        // Boards with USB of their own: nobody may be listening.
    }
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
