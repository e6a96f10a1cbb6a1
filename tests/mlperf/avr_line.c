/* SPDX-License-Identifier: Apache-2.0 */
/* Runs firmware of an ATmega2560 at 16 MHz in simavr, with its first UART on standard input and
 * output at the pace of 115200 baud. Usage: avr_line FILE.elf */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <simavr/avr_uart.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>

#define CYCLES_A_BYTE 1389u /* ten bits of 16 MHz / 115200 */

static void put(struct avr_irq_t *irq, uint32_t value, void *context)
{
    const uint8_t byte = (uint8_t)value;
    (void)irq;
    (void)context;
    if (write(STDOUT_FILENO, &byte, 1) != 1) { exit(1); }
}

int main(int argc, char **argv)
{
    elf_firmware_t firmware;
    struct pollfd input = {STDIN_FILENO, POLLIN, 0};
    avr_cycle_count_t next = 0;
    uint32_t flags = 0;
    avr_t *avr;
    int state = cpu_Running;
    memset(&firmware, 0, sizeof firmware);
    if (argc != 2 || elf_read_firmware(argv[1], &firmware) != 0) { return 2; }
    avr = avr_make_mcu_by_name("atmega2560");
    if (avr == 0 || avr_init(avr) != 0) { return 2; }
    firmware.frequency = 16000000;
    avr_load_firmware(avr, &firmware);
    avr_ioctl(avr, AVR_IOCTL_UART_GET_FLAGS('0'), &flags);
    flags &= ~(uint32_t)(AVR_UART_FLAG_STDIO | AVR_UART_FLAG_POOL_SLEEP);
    avr_ioctl(avr, AVR_IOCTL_UART_SET_FLAGS('0'), &flags);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUTPUT), put,
                            0);
    while (state != cpu_Done && state != cpu_Crashed) {
        uint8_t byte;
        state = avr_run(avr);
        if (avr->cycle < next) { continue; }
        next = avr->cycle + CYCLES_A_BYTE;
        if (poll(&input, 1, 0) <= 0) { continue; }
        if (read(STDIN_FILENO, &byte, 1) != 1) { return 0; }
        avr_raise_irq(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_INPUT), byte);
    }
    return 1;
}
