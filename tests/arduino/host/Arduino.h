// SPDX-License-Identifier: Apache-2.0
/* Stands in for Arduino's header when sketches are compiled for the host: what the generated ones
 * use, and no more. Serial is standard output; main.cpp calls setup() and loop(). */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define F(text) (text)
#define PROGMEM

unsigned long millis();
unsigned long micros();
inline void delay(unsigned long) {}

class Print {
public:
    virtual ~Print() = default;
    virtual size_t write(const uint8_t *bytes, size_t length) = 0;
    size_t print(const char *text) { return static_cast<size_t>(printf("%s", text)); }
    size_t print(unsigned long value) { return static_cast<size_t>(printf("%lu", value)); }
    size_t print(unsigned value) { return static_cast<size_t>(printf("%u", value)); }
    size_t print(int value) { return static_cast<size_t>(printf("%d", value)); }
    size_t print(double value, int digits)
    {
        return static_cast<size_t>(printf("%.*f", digits, value));
    }
    size_t println(const char *text) { return static_cast<size_t>(printf("%s\n", text)); }
    size_t println() { return static_cast<size_t>(printf("\n")); }
};

class Console : public Print {
public:
    void begin(unsigned long) {}
    explicit operator bool() const { return true; }
    size_t write(const uint8_t *bytes, size_t length) override
    {
        return fwrite(bytes, 1, length, stdout);
    }
};

extern Console Serial;

void setup();
void loop();
