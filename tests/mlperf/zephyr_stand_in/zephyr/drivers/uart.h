// SPDX-License-Identifier: Apache-2.0
int uart_poll_in(const struct device *uart, unsigned char *byte);
void uart_poll_out(const struct device *uart, unsigned char byte);
