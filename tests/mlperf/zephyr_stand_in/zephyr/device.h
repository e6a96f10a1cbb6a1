// SPDX-License-Identifier: Apache-2.0
struct device {
    int none;
};

extern const struct device the_uart;
#define DT_CHOSEN(name) name
#define DEVICE_DT_GET(node) (&the_uart)
