/* Does this board compute what the model '@prefix@' should give? Compares the result of every layer
 * for a stored input with what was computed on the desktop: "bit-exact", or the first layer that
 * differs. Then prints the time of each layer, and the answers to the stored inputs. */
#include <@library@.h>

void setup()
{
    Serial.begin(115200);
    while (!Serial && millis() < 3000) {
        // Boards with USB of their own: nobody may be listening.
    }
    @prefix@_demo();
}

void loop()
{
}
