# SPDX-License-Identifier: Apache-2.0
"""Models whose input is fed row by row: NAME_begin, NAME_row and NAME_feed against LiteRT, to the byte.

("--slice least" is the shortest that the model can have.) Each model is compiled with --input rows and each of the options. A program in C then runs it twice in an arena that was
filled with garbage: by rows, and by NAME_run. Rows come from a table and are put where NAME_row says; between feeds the
place where the last row was is spoilt on the way (a feed has to have taken it). Checked are the outputs of both, the
bytes around the arena, and what is refused: null and misaligned pointers, a feed before NAME_begin and one too many, a
row when none is wanted, a begin in the middle of a run. With slices every NAME_step that has nothing to do has to say so.
On the host it runs with sanitizers.
"""
import dataclasses
import re
import string

import ai_edge_litert.interpreter as litert
import bundle
import common
import emitted_cases
import numpy as np
import pytest

OPTIONS = {"stream": "--stream max", "slice": "--stream max --prefer ram --slice call",
           "least": "--slice least --output overwrite --arena model"}
MAIN = string.Template("""\
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "fed.h"
#include "samples.h"

#define GUARD 32u
static uint8_t memory[FED_ARENA_SIZE + 2u * GUARD] __attribute__((aligned(16)));
static union { uint8_t bytes[FED_INPUT_${input}_BYTES]; double align; } whole;
static union { uint8_t bytes[FED_OUTPUT_${output}_BYTES]; double align; } output;
static struct fed_context context;
static int failed;
#define arena (memory + GUARD)
#define CHECK(what) do { if (!(what)) { printf("line %d: %s\\n", __LINE__, #what); failed = 1; } } while (0)

#if FED_OUTPUT_IN_ARENA
#define OUTPUTS NULL
#define OUTPUT fed_output_${out_field}(arena)
#else
static const struct fed_outputs outputs = { (void *)output.bytes };
#define OUTPUTS &outputs
#define OUTPUT output.bytes
#endif

static void spoil(uint32_t seed)
{
    uint32_t i;
    for (i = 0; i < sizeof memory; ++i) memory[i] = (uint8_t)(seed ^ (i * 29u));
    memset(output.bytes, 0x33, sizeof output.bytes);
}

static void check(uint32_t seed, uint32_t sample)
{
    uint32_t i;
    for (i = 0; i < GUARD; ++i) {
        CHECK(memory[i] == (uint8_t)(seed ^ (i * 29u)));
        CHECK(memory[sizeof memory - 1u - i] == (uint8_t)(seed ^ ((sizeof memory - 1u - i) * 29u)));
    }
    CHECK(memcmp(OUTPUT, expected[sample], sizeof expected[sample]) == 0);
}

static int32_t feed(const uint8_t *row, int32_t *longest)
{
    void *const to = fed_row(&context);
    int32_t status, steps = 1;
    CHECK(to != NULL && fed_row(&context) == to);
    if (to == NULL) return -100;
    memcpy(to, row, FED_ROW_BYTES);
    status = fed_feed(&context);
#ifdef FED_SLICE_COUNT
    while (status == FED_MORE) {
        /* Whatever is left of the rows comes before the next row. */
        CHECK(fed_row(&context) == NULL && fed_feed(&context) == FED_ERROR_ROW);
        status = fed_step(&context);
        ++steps;
    }
    if (status == FED_NEXT_ROW) CHECK(fed_step(&context) == FED_NEXT_ROW);
#endif
    if (steps > *longest) *longest = steps;
    return status;
}

static void by_rows(uint32_t sample)
{
    int32_t row, longest = 0;
    spoil(sample + 7u);
    CHECK(fed_begin(&context, OUTPUTS, arena) == 0);
    for (row = 0; row < FED_ROWS; ++row)
        CHECK(feed(inputs[sample] + (uint32_t)row * FED_ROW_BYTES, &longest) ==
              (row + 1 < FED_ROWS ? FED_NEXT_ROW : FED_DONE));
    check(sample + 7u, sample);
    CHECK(fed_row(&context) == NULL);
    CHECK(fed_feed(&context) == FED_ERROR_ROW);
#ifdef FED_SLICE_COUNT
    CHECK(fed_step(&context) == FED_DONE);
    CHECK(${least_slices} == 0 || longest >= ${least_slices});
#endif
    check(sample + 7u, sample);
}

static void by_run(uint32_t sample)
{
    const struct fed_inputs in = { (void *)whole.bytes };
    memcpy(whole.bytes, inputs[sample], sizeof inputs[sample]);
    spoil(sample + 3u);
    CHECK(fed_run(&in, OUTPUTS, arena) == 0);
    check(sample + 3u, sample);
    CHECK(memcmp(whole.bytes, inputs[sample], sizeof inputs[sample]) == 0);
}

static void refusals(void)
{
    static struct fed_inputs none;
    int32_t longest = 0;
    CHECK(fed_row(NULL) == NULL && fed_row(&context) == NULL);
    CHECK(fed_feed(NULL) == FED_ERROR_ARGUMENT && fed_feed(&context) == FED_ERROR_ARGUMENT);
    CHECK(fed_begin(NULL, OUTPUTS, arena) == FED_ERROR_ARGUMENT);
    CHECK(fed_begin(&context, OUTPUTS, arena + 1) == FED_ERROR_ARGUMENT);
    CHECK(fed_row(&context) == NULL && fed_feed(&context) == FED_ERROR_ARGUMENT);
#ifndef FED_OWN_ARENA
    CHECK(fed_begin(&context, OUTPUTS, NULL) == FED_ERROR_ARGUMENT);
#endif
#if !FED_OUTPUT_IN_ARENA
    CHECK(fed_begin(&context, NULL, arena) == FED_ERROR_ARGUMENT);
#endif
    CHECK(fed_run(NULL, OUTPUTS, arena) == FED_ERROR_ARGUMENT);
    CHECK(fed_run(&none, OUTPUTS, arena) == FED_ERROR_ARGUMENT);
#ifdef FED_SLICE_COUNT
    CHECK(fed_step(NULL) == FED_ERROR_ARGUMENT && fed_step(&context) == FED_ERROR_ARGUMENT);
#endif
    /* A run that is left after some rows; the next one begins anew. */
    CHECK(fed_begin(&context, OUTPUTS, arena) == 0);
    if (FED_ROWS > 2) {
        CHECK(feed(inputs[1], &longest) == FED_NEXT_ROW && feed(inputs[1], &longest) == FED_NEXT_ROW);
    }
}

int main(void)
{
    uint32_t sample;
    refusals();
    for (sample = 0; sample < SAMPLES; ++sample) {
        by_rows(sample);
        by_run(sample);
    }
    printf("arena %lu, rows %lu of %lu bytes, %s\\n", (unsigned long)FED_ARENA_SIZE, (unsigned long)FED_ROWS,
           (unsigned long)FED_ROW_BYTES, failed ? "failed" : "passed");
    return failed;
}
""")


def table(name, arrays):
    rows = ",\n".join("{" + ",".join(str(b) for b in a.tobytes()) + "}" for a in arrays)
    return f"static const uint8_t {name}[{len(arrays)}][{arrays[0].nbytes}] = {{\n{rows}\n}};\n"


def samples(path):
    """Inputs, and what LiteRT's reference kernels make of them."""
    interpreter = litert.Interpreter(str(path), experimental_op_resolver_type=litert.OpResolverType.BUILTIN_REF)
    interpreter.allocate_tensors()
    into, out = interpreter.get_input_details()[0], interpreter.get_output_details()[0]
    random = np.random.default_rng(3)
    inputs, outputs = [], []
    for _ in range(3):
        value = (random.normal(0, 1, into["shape"]).astype(into["dtype"]) if into["dtype"] == np.float32
                 else random.integers(-128, 128, into["shape"], dtype=into["dtype"]))
        interpreter.set_tensor(into["index"], value)
        interpreter.invoke()
        inputs.append(value)
        outputs.append(interpreter.get_tensor(out["index"]).copy())
    return table("inputs", inputs) + table("expected", outputs) + f"#define SAMPLES {len(inputs)}u\n"


def field(header, kind):
    return next(line.split("X(")[1].split(",")[0] for at, line in enumerate(header)
                if "X(" in line and f"FOR_EACH_{kind}(X)" in header[at - 1])


def program(name, work, *flags):
    """The command that runs main.c and the model in `work`; on the host with sanitizers."""
    target = emitted_cases.TARGETS[name]
    strict = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wno-unused-function", "-Werror"]
    sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"] if name == "gcc" else []
    target = dataclasses.replace(target, flags=[*target.flags, *sanitizers])
    image = bundle.build(target, work, sorted((work / "fed").glob("*.c")), [*flags, *strict, "-I", work / "fed"])
    return [c.format(image=image) for c in target.command]


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.models("digits_int8", "conv1d_int8")
def test_feed(model, options, tmp_path):
    fed(model, options, ("gcc", "cortex_m4"), tmp_path)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.models("vww", "kws", "micro_speech")
def test_feed_shared(model, options, tmp_path):
    fed(model, options, ("gcc",), tmp_path)


def fed(model, options, targets, work):
    bundle.require(*targets)
    path = common.model_path(model)
    command = ["compile", path, "--prefix", "fed", "-o", work / "fed", "--quiet", "--cpu", "cortex-m4f", "--input", "rows"]
    least = "least" in options
    if least:
        refused = common.aotc(*command, "--slice", "1", expect=None)
        options = options.replace("least", re.search(r"--slice (\d+)$", refused.stderr, re.M)[1])
    common.aotc(*command, *options.split())
    header = (work / "fed" / "fed.h").read_text().splitlines()
    (work / "samples.h").write_text(samples(path))
    (work / "main.c").write_text(MAIN.substitute(
        input=field(header, "INPUT").upper(), output=field(header, "OUTPUT").upper(), out_field=field(header, "OUTPUT"),
        least_slices=2 if least else 0))
    for name in targets:
        print(name, common.run_program(program(name, work, "-O1")).strip())
