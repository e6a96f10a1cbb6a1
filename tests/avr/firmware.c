/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a model of prefix `m` on an AVR over stored samples, and writes every result to the UART in
 * hexadecimal: "@r sample op result bytes" and lines "@d digits". The one thing to know: it ends by
 * sleeping with interrupts off, which is what ends simavr. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/pgmspace.h>
#include <avr/sleep.h>
#include <string.h>

#define M_TRACE
#ifdef TIMED /* without the hook's own time */
#undef M_TRACE
#endif
#include "m.c"
#include "samples.h"

#define OUTPUT UINT32_C(0xFFFFFFFE)
#define GUARD 16u
#define PAINT 0xA5u

static uint8_t arena[M_ARENA_SIZE + 2u * GUARD] __attribute__((aligned(16)));
static uint8_t sample_now;
static volatile uint16_t overflows;
static uint16_t base; /* of the stack when the model is called, from the end of the variables */

#define FIELD(field, c_type, elements, scale, zero_point) c_type field[elements];
#define POINTER(field, c_type, elements, scale, zero_point) .field = buffers.field,
#if M_INPUT_IN_ARENA
#define INPUT_FIELDS
#define INPUT_AT(field) m_input_##field(arena + GUARD)
#define INPUT_POINTERS 0
#else
#define INPUT_FIELDS M_FOR_EACH_INPUT(FIELD)
#define INPUT_AT(field) buffers.field
#define INPUT_POINTERS M_FOR_EACH_INPUT(POINTER)
#endif
#if M_OUTPUT_IN_ARENA
#define OUTPUT_FIELDS
#define OUTPUT_AT(field) m_output_##field(arena + GUARD)
#define OUTPUT_POINTERS 0
#else
#define OUTPUT_FIELDS M_FOR_EACH_OUTPUT(FIELD)
#define OUTPUT_AT(field) buffers.field
#define OUTPUT_POINTERS M_FOR_EACH_OUTPUT(POINTER)
#endif
static struct { INPUT_FIELDS OUTPUT_FIELDS char last; } buffers;

static void put(char c)
{
    while (!(UCSR0A & (1u << UDRE0))) {
    }
    UDR0 = (uint8_t)c;
}

static void put_text(PGM_P text)
{
    for (char c = (char)pgm_read_byte(text); c != 0; c = (char)pgm_read_byte(++text)) {
        put(c);
    }
}

static void put_hex(uint32_t value, int8_t digits)
{
    while (digits-- > 0) {
        put((char)pgm_read_byte(&PSTR("0123456789abcdef")[(value >> (4 * digits)) & 15u]));
    }
}

static void put_number(PGM_P name, uint32_t value)
{
    put_text(PSTR("@"));
    put_text(name);
    put(' ');
    put_hex(value, 8);
    put('\n');
}

static void put_record(uint32_t op, uint32_t result, const void *data, uint32_t bytes)
{
    put_text(PSTR("@r "));
    put_hex(sample_now, 2);
    put(' ');
    put_hex(op, 8);
    put(' ');
    put_hex(result, 8);
    put(' ');
    put_hex(bytes, 8);
    for (uint16_t i = 0; i < bytes; ++i) {
        if (i % 64u == 0) {
            put_text(PSTR("\n@d "));
        }
        put_hex(((const uint8_t *)data)[i], 2);
    }
    put('\n');
}

#ifdef M_TRACE
void m_trace(int32_t op, int32_t result, const void *data, uint32_t bytes)
{
    put_record((uint32_t)op, (uint32_t)result, data, bytes);
}
#endif

extern uint8_t __heap_start;

ISR(TIMER1_OVF_vect)
{
    ++overflows;
}

/* What lies between the variables and the stack is painted, to see how far the stack comes. */
static __attribute__((noinline)) void paint(void)
{
    for (uint8_t *at = &__heap_start; at < (uint8_t *)SP - 8; ++at) {
        *at = PAINT;
    }
}

static __attribute__((noinline)) uint16_t untouched(void)
{
    const uint8_t *at = &__heap_start;
    while (*at == PAINT && at < (const uint8_t *)SP) {
        ++at;
    }
    return (uint16_t)(at - &__heap_start);
}

static __attribute__((noinline)) int32_t run_timed(uint32_t *cycles)
{
    const struct m_inputs inputs = { INPUT_POINTERS };
    const struct m_outputs outputs = { OUTPUT_POINTERS };
    int32_t status;
    overflows = 0;
    TCNT1 = 0;
    TIFR1 = 1u << TOV1;
    sei();
    TCCR1B = 1u << CS10;
    status = m_run(&inputs, &outputs, arena + GUARD);
    cli();
    *cycles = TCNT1;
    TCCR1B = 0;
    base = (uint16_t)((uint16_t)SP - (uint16_t)&__heap_start);
    *cycles += ((uint32_t)overflows + ((TIFR1 & (1u << TOV1)) != 0)) << 16;
    return status;
}

#define READ(field, c_type, elements, scale, zero_point)         \
    memcpy_P(INPUT_AT(field), from, (elements) * sizeof(c_type)); \
    from += (elements) * sizeof(c_type);
#define WRITE(field, c_type, elements, scale, zero_point) \
    put_record(OUTPUT, result++, OUTPUT_AT(field), (elements) * sizeof(c_type));

static uint8_t guard_at(uint16_t i)
{
    return (uint8_t)(0x5Au ^ (i * 29u));
}

static void run_sample(void)
{
    const uint8_t *from = samples + sample_now * (uint16_t)SAMPLE_BYTES;
    uint32_t cycles = 0, result = 0;
    int32_t status;
    for (uint16_t i = 0; i < sizeof arena; ++i) {
        arena[i] = guard_at(i);
    }
    M_FOR_EACH_INPUT(READ)
    (void)from;
    paint();
    status = run_timed(&cycles);
    put_number(PSTR("untouched"), untouched());
    put_number(PSTR("base"), base);
    put_number(PSTR("cycles"), cycles);
    put_number(PSTR("status"), (uint32_t)status);
    for (uint16_t i = 0; i < GUARD; ++i) {
        const uint16_t behind = (uint16_t)(M_ARENA_SIZE + GUARD + i);
        if (arena[i] != guard_at(i) || arena[behind] != guard_at(behind)) {
            put_number(PSTR("overrun"), i);
        }
    }
    M_FOR_EACH_OUTPUT(WRITE)
    (void)result;
}

int main(void)
{
    UCSR0A = 1u << U2X0; /* the fastest, which is all the same to an emulator */
    UBRR0 = 0;
    UCSR0B = 1u << TXEN0;
    TIMSK1 = 1u << TOIE1;
    (void)&buffers;
    put_number(PSTR("space"), (uint32_t)((uint16_t)RAMEND + 1u - (uint16_t)&__heap_start));
    for (sample_now = 0; sample_now < SAMPLES; ++sample_now) {
        run_sample();
    }
    put_text(PSTR("@done\n"));
    cli();
    sleep_enable();
    sleep_cpu();
    return 0;
}
