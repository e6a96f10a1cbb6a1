# SPDX-License-Identifier: Apache-2.0
"""The C program that runs a model slice by slice and writes the outputs of every run."""

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
#define POINT_IN(field, c_type, elements, scale, zero_point) .field = self->in.field.at,
#define POINT_OUT(field, c_type, elements, scale, zero_point) .field = self->out.field.at,
#if ${upper}_INPUT_IN_ARENA
#define INPUT_AT(self, field) ${prefix}_input_##field((self)->arena + GUARD)
#define INPUT_POINTERS 0
#else
#define INPUT_AT(self, field) (self)->in.field.at
#define INPUT_POINTERS ${upper}_FOR_EACH_INPUT(POINT_IN)
#endif
#if ${upper}_OUTPUT_IN_ARENA
#define OUTPUT_AT(self, field) ${prefix}_output_##field((self)->arena + GUARD)
#define OUTPUT_POINTERS 0
#else
#define OUTPUT_AT(self, field) (self)->out.field.at
#define OUTPUT_POINTERS ${upper}_FOR_EACH_OUTPUT(POINT_OUT)
#endif
#define READ(field, c_type, elements, scale, zero_point) \\
    good = good && fread(INPUT_AT(self, field), sizeof(c_type), elements, self->from) == (elements);
#define COPY(field, c_type, elements, scale, zero_point) \\
    memcpy(INPUT_AT(&twin, field), INPUT_AT(self, field), (elements) * sizeof(c_type));
#define WRITE(field, c_type, elements, scale, zero_point) \\
    record(self, output++, OUTPUT_AT(self, field), (elements) * sizeof(c_type));
#define SAME(field, c_type, elements, scale, zero_point) \\
    if (memcmp(OUTPUT_AT(&twin, field), OUTPUT_AT(self, field), (elements) * sizeof(c_type)) != 0) \\
        fail("a run in slices is not what ${prefix}_run gives");

struct instance {
    struct { ${upper}_FOR_EACH_INPUT(FIELD) char none; } in;
    struct { ${upper}_FOR_EACH_OUTPUT(FIELD) char none; } out;
    uint8_t arena[${upper}_ARENA_SIZE + 2u * GUARD] __attribute__((aligned(16)));
    uint8_t state[STATE_SIZE + 2u * GUARD] __attribute__((aligned(16)));
    struct ${prefix}_context context;
    FILE *from, *to;
    uint32_t runs, run, steps;
    int32_t status;
};

static struct instance first, second, twin;
static int good = 1;

static void fail(const char *what)
{
    if (good) printf("${prefix}: %s\\n", what);
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
        if (bytes[at] != (uint8_t)(seed ^ (at * 29u))) fail(what);
    }
}

static void record(struct instance *self, uint32_t output, const void *data, size_t bytes)
{
    const uint32_t head[4] = { self->run, 0xFFFFFFFEu, output, (uint32_t)bytes };
    if (fwrite(head, 4, 4, self->to) != 4 || fwrite(data, 1, bytes, self->to) != bytes) {
        fail("cannot write");
    }
}

static void begin_sequence(struct instance *self, const char *in, const char *out)
{
    const uint32_t magic = 0x52544F41u;
    uint32_t head[2] = { 0, 0 };
    spoil(self->state, sizeof self->state, 0x5Au);
    self->from = fopen(in, "rb");
    self->to = fopen(out, "wb");
    if (self->from == NULL || self->to == NULL || fread(head, 4, 2, self->from) != 2 ||
        fwrite(&magic, 4, 1, self->to) != 1) {
        fail("no files");
        return;
    }
    self->runs = head[1];
    if (${first_reset} != 0) fail("the first reset failed");
}

static void end_sequence(struct instance *self)
{
    if (self->from != NULL) fclose(self->from);
    if (self->to == NULL || fclose(self->to) != 0) fail("cannot write");
}

/* The structs of pointers are gone when the first slice runs. */
static void begin_run(struct instance *self)
{
    struct ${prefix}_inputs inputs = { INPUT_POINTERS };
    struct ${prefix}_outputs outputs = { OUTPUT_POINTERS };
    self->status = ${begin};
    if (self->status != 0) fail("a run did not begin");
    self->status = ${upper}_MORE;
    self->steps = 0;
    memset(&inputs, 0, sizeof inputs);
    memset(&outputs, 0, sizeof outputs);
}

static void start(struct instance *self, uint32_t run)
{
    self->run = run;
    spoil(self->arena, sizeof self->arena, 0xA5u + run);
    memset(&self->in, 0x33, sizeof self->in);
    memset(&self->out, 0x33, sizeof self->out);
    ${upper}_FOR_EACH_INPUT(READ)
    begin_run(self);
}

static void step(struct instance *self)
{
    if (self->status != ${upper}_MORE) return;
    self->status = ${prefix}_step(&self->context);
    ++self->steps;
    if (self->status != ${upper}_MORE && self->status != ${upper}_DONE) fail("a slice failed");
}

static void finish(struct instance *self)
{
    uint32_t output = 0;
    if (self->status != ${upper}_DONE || ${prefix}_step(&self->context) != ${upper}_DONE) {
        fail("a run is not done");
    }
    if (${straight} && self->steps != ${upper}_SLICE_COUNT) fail("a wrong number of slices");
    check_guards(self->arena, ${upper}_ARENA_SIZE, 0xA5u + self->run, "wrote outside of its arena");
    check_guards(self->state, STATE_SIZE, 0x5Au, "wrote outside of its state");
    ${upper}_FOR_EACH_OUTPUT(WRITE)
}

/* The same run by ${prefix}_run, in memory of its own. */
static void compare_with_run(struct instance *from)
{
    struct instance *self = from;
    uint8_t kept[STATE_SIZE + 2u * GUARD];
    int32_t status;
    memcpy(kept, self->state, sizeof kept);
    memcpy(twin.state, self->state, sizeof twin.state);
    ${upper}_FOR_EACH_INPUT(COPY)
    while (good && self->status == ${upper}_MORE) step(self);
    self = &twin;
    {
        const struct ${prefix}_inputs inputs = { INPUT_POINTERS };
        const struct ${prefix}_outputs outputs = { OUTPUT_POINTERS };
        status = ${run};
        (void)inputs;
        (void)outputs;
    }
    self = from;
    if (status != 0) fail("the run failed");
    ${upper}_FOR_EACH_OUTPUT(SAME)
    if (memcmp(twin.state, self->state, sizeof twin.state) != 0) fail("the states differ");
    (void)self;
}

static void refusals(void)
{
    struct instance *self = &first;
    struct ${prefix}_inputs inputs = { INPUT_POINTERS };
    struct ${prefix}_outputs outputs = { OUTPUT_POINTERS };
    memset(&self->context, 0, sizeof self->context);
    if (${prefix}_step(NULL) != ${upper}_ERROR_ARGUMENT) fail("a step of nothing");
    if (${prefix}_step(&self->context) != ${upper}_ERROR_ARGUMENT) fail("a step before the beginning");
    ${refused}
    if (${prefix}_step(&self->context) != ${upper}_ERROR_ARGUMENT) fail("a step after a refusal");
    (void)inputs;
    (void)outputs;
}

static void both(uint32_t run)
{
    uint32_t dice = run * 7u + 1u;
    start(&first, run);
    start(&second, run);
    while (good && (first.status == ${upper}_MORE || second.status == ${upper}_MORE)) {
        dice = dice * 1103515245u + 12345u;
        step((dice >> 16) % 3u == 1u ? &second : &first);
        if (first.status != ${upper}_MORE) step(&second);
    }
    finish(run % 2u == 0u ? &first : &second);
    finish(run % 2u == 0u ? &second : &first);
}

int main_${prefix}(void);
int main_${prefix}(void)
{
    struct instance *self = &first;
    uint32_t run;
    refusals();
    begin_sequence(self, "${folder}/first.in", "${folder}/kept.out");
    for (run = 0; good && run < self->runs; ++run) {
        start(self, run);
        compare_with_run(self);
        finish(self);
    }
    end_sequence(self);
    begin_sequence(self, "${folder}/first.in", "${folder}/reset.out");
    for (run = 0; good && run < self->runs; ++run) {
        if (run == ${reset_after}u && ${reset} != 0) fail("the reset failed");
        start(self, run);
        /* Inputs of the caller are there still: a run without state may begin anew. */
        if (!${upper}_INPUT_IN_ARENA && STATE_SIZE == 0u && run % 5u == 2u) {
            step(self);
            begin_run(self);
        }
        while (good && self->status == ${upper}_MORE) step(self);
        finish(self);
    }
    end_sequence(self);
    begin_sequence(&first, "${folder}/first.in", "${folder}/first.out");
    begin_sequence(&second, "${folder}/second.in", "${folder}/second.out");
    for (run = 0; good && run < first.runs; ++run) both(run);
    end_sequence(&first);
    end_sequence(&second);
    return !good;
}
""")


def _refused(header, arguments):
    """Statements that begin runs with one pointer that is not good."""
    bad = {"context": ["NULL"], "arena": ["NULL", "self->arena + GUARD + 1"]}
    if header.state_size:
        bad["state"] = ["NULL", "self->state + GUARD + 1"]
    for kind, fields in (("inputs", header.inputs), ("outputs", header.outputs)):
        if fields and not header.in_arena(kind):
            bad[kind] = ["NULL"]
    if not header.arena_size:
        del bad["arena"]
    return "\n    ".join(
        f"if ({header.begin(**{**arguments, kind: text})} != {header.upper}_ERROR_ARGUMENT) "
        f'fail("{kind} {text} is taken");' for kind, texts in bad.items() for text in texts)


def main_text(header, folder, reset_after, whole_calls):
    """C that reads FOLDER/{first,second}.in and writes kept.out, reset.out, first.out and second.out."""
    arguments = {"inputs": "&inputs", "outputs": "&outputs", "arena": "self->arena + GUARD",
                 "state": "self->state + GUARD", "context": "&self->context"}
    return _MAIN.substitute(
        prefix=header.prefix, upper=header.upper, folder=folder, state_size=header.state_size, reset_after=reset_after,
        run=header.run(**arguments), begin=header.begin(**arguments),
        reset=header.reset(False, **arguments), first_reset=header.reset(True, **arguments),
        refused=_refused(header, arguments),
        straight=int(whole_calls and header.number("SLICE_COUNT") == header.number("CALL_COUNT")))
