# SPDX-License-Identifier: Apache-2.0
"""The C program that runs a model many times and writes the outputs of every run."""

import string

_MAIN = string.Template("""\
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "${prefix}.h"

#define GUARD 32u
#define STATE_SIZE ${state_size}u
#define FIELD(field, c_type, elements, scale, zero_point) \\
    union { c_type at[elements]; uint64_t align; } field;
#define POINT_IN(field, c_type, elements, scale, zero_point) .field = buffers.in.field.at,
#define POINT_OUT(field, c_type, elements, scale, zero_point) .field = buffers.out.field.at,
#if ${upper}_INPUT_IN_ARENA
#define INPUT_AT(field) ${prefix}_input_##field(arena + GUARD)
#define INPUT_POINTERS 0
#else
#define INPUT_AT(field) buffers.in.field.at
#define INPUT_POINTERS ${upper}_FOR_EACH_INPUT(POINT_IN)
#endif
#if ${upper}_OUTPUT_IN_ARENA
#define OUTPUT_AT(field) ${prefix}_output_##field(arena + GUARD)
#define OUTPUT_POINTERS 0
#else
#define OUTPUT_AT(field) buffers.out.field.at
#define OUTPUT_POINTERS ${upper}_FOR_EACH_OUTPUT(POINT_OUT)
#endif
#define READ(field, c_type, elements, scale, zero_point) \\
    good = good && fread(INPUT_AT(field), sizeof(c_type), elements, self->in) == (elements);
#define WRITE(field, c_type, elements, scale, zero_point) \\
    record(self, run, output++, OUTPUT_AT(field), (elements) * sizeof(c_type));

struct instance {
    uint8_t state[STATE_SIZE + 2u * GUARD] __attribute__((aligned(16)));
    FILE *in, *out;
    uint32_t runs;
};

/* An input and an output may have one name. */
static struct {
    struct { ${upper}_FOR_EACH_INPUT(FIELD) char none; } in;
    struct { ${upper}_FOR_EACH_OUTPUT(FIELD) char none; } out;
} buffers;
static uint8_t arena[${upper}_ARENA_SIZE + 2u * GUARD] __attribute__((aligned(16)));
static struct instance first, second;
static int good = 1;

static void fail(const char *what)
{
    printf("${prefix}: %s\\n", what);
    good = 0;
}

static void spoil(uint8_t *bytes, uint32_t size, uint32_t seed)
{
    uint32_t i;
    for (i = 0; i < size; ++i) bytes[i] = (uint8_t)(seed ^ (i * 29u));
}

static void check_guards(const uint8_t *bytes, uint32_t size, uint32_t seed, const char *what)
{
    uint32_t i;
    for (i = 0; i < 2u * GUARD; ++i) {
        const uint32_t at = i < GUARD ? i : size + i;
        if (bytes[at] != (uint8_t)(seed ^ (at * 29u))) {
            fail(what);
            return;
        }
    }
}

static void record(struct instance *self, uint32_t run, uint32_t output, const void *data, size_t bytes)
{
    const uint32_t head[4] = { run, 0xFFFFFFFEu, output, (uint32_t)bytes };
    if (fwrite(head, 4, 4, self->out) != 4 || fwrite(data, 1, bytes, self->out) != bytes) {
        fail("cannot write");
    }
}

static void begin(struct instance *self, const char *in, const char *out)
{
    const uint32_t magic = 0x52544F41u;
    uint32_t head[2] = { 0, 0 };
    spoil(self->state, sizeof self->state, 0x5Au);
    self->in = fopen(in, "rb");
    self->out = fopen(out, "wb");
    if (self->in == NULL || self->out == NULL || fread(head, 4, 2, self->in) != 2 ||
        fwrite(&magic, 4, 1, self->out) != 1) {
        fail("no files");
        return;
    }
    self->runs = head[1];
    if (${first_reset} != 0) fail("the first reset failed");
}

static void run_once(struct instance *self, uint32_t run)
{
    const struct ${prefix}_inputs inputs = { INPUT_POINTERS };
    const struct ${prefix}_outputs outputs = { OUTPUT_POINTERS };
    uint32_t output = 0;
    int32_t status;
    spoil(arena, sizeof arena, 0xA5u + run);
    memset(&buffers, 0x33, sizeof buffers);
    ${upper}_FOR_EACH_INPUT(READ)
    status = ${run};
    if (status != 0) fail("the run failed");
    check_guards(arena, ${upper}_ARENA_SIZE, 0xA5u + run, "wrote outside of its arena");
    check_guards(self->state, STATE_SIZE, 0x5Au, "wrote outside of its state");
    ${upper}_FOR_EACH_OUTPUT(WRITE)
    (void)inputs;
    (void)outputs;
}

static void end(struct instance *self)
{
    if (self->in != NULL) fclose(self->in);
    if (self->out == NULL || fclose(self->out) != 0) fail("cannot write");
}

int main_${prefix}(void);
int main_${prefix}(void)
{
    struct instance *self = &first;
    uint32_t run;
    begin(self, "${folder}/first.in", "${folder}/kept.out");
    for (run = 0; good && run < self->runs; ++run) run_once(self, run);
    end(self);
    begin(self, "${folder}/first.in", "${folder}/reset.out");
    for (run = 0; good && run < self->runs; ++run) {
        if (run == ${reset_after}u && ${reset} != 0) fail("the reset failed");
        run_once(self, run);
    }
    end(self);
    begin(&first, "${folder}/first.in", "${folder}/first.out");
    begin(&second, "${folder}/second.in", "${folder}/second.out");
    for (run = 0; good && run < first.runs; ++run) {
        run_once(run % 3u == 1u ? &second : &first, run);
        run_once(run % 3u == 1u ? &first : &second, run);
    }
    end(&first);
    end(&second);
    return !good;
}
""")


def main_text(header, folder, reset_after):
    """C whose main_PREFIX reads FOLDER/{first,second}.in and writes kept.out, reset.out, first.out and second.out.

    `reset_after`: the run before which the pass `reset` resets the state, as the oracle did.
    """
    arguments = {"inputs": "&inputs", "outputs": "&outputs", "arena": "arena + GUARD",
                 "state": "self->state + GUARD"}
    return _MAIN.substitute(
        prefix=header.prefix, upper=header.upper, folder=folder, state_size=header.state_size, reset_after=reset_after,
        run=header.run(**arguments), reset=header.reset(False, **arguments),
        first_reset=header.reset(True, **arguments))
