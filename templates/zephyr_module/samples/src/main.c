/* SPDX-License-Identifier: 0BSD */
/* Runs the demo of the model '@prefix@' once. */
#include "@prefix@_app.h"

int main(void)
{
    (void)@demo_call@;
    return 0;
}
