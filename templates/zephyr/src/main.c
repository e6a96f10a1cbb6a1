/* SPDX-License-Identifier: 0BSD */
/* Runs the model '@prefix@' on its stored inputs once, when the board starts, and prints what comes
 * out. For an application of your own: fill what @prefix@_app_input describes, call
 * @prefix@_app_run, read @prefix@_app_output. */
#include "@prefix@_app.h"
#include "@prefix@_zephyr.h"

#if __has_include(<zephyr/kernel.h>)
#include <zephyr/kernel.h>
#include <zephyr/sys/printk.h>
#else
#include <zephyr.h>
#include <sys/printk.h>
#endif

/* Since 3.7 a board's name has qualifiers. */
#if defined(CONFIG_BOARD_TARGET)
#define BOARD_NAME CONFIG_BOARD_TARGET
#else
#define BOARD_NAME CONFIG_BOARD
#endif

/* Older Zephyr calls a main that returns nothing: it does not look at the result. */
int main(void)
{
    printk("@aotc model=@prefix@ board=%s clock_hz=%u\n", BOARD_NAME,
           (unsigned)@prefix@_clock_hz());
    (void)@demo_call@;
#if defined(CONFIG_@macro_prefix@_MODEL_STACK_CHECK)
    printk("@aotc stack_bytes=%d stack_unused=%d\n", (int)CONFIG_MAIN_STACK_SIZE,
           (int)@prefix@_stack_unused());
#endif
    return 0;
}
