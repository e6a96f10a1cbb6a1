# SPDX-License-Identifier: Apache-2.0
"""Models whose input is frames in time: every window of a sequence against LiteRT, to the byte.

Each model is compiled with --stream time. A program in C feeds a sequence of frames, several windows long, and compares
what is there after each frame from the first full window on with what LiteRT's reference kernels make of that window
alone; then it runs NAME_run. With --slice, which is "least" for the shortest that there can be, NAME_step does what NAME_feed leaves. On the
Cortex-M4 what a frame takes is counted. Models are a shared one, and those made here: causal convolutions over time, padded
before the first frame, with a dilation, of which the last row is taken; convolutions, a pool and a residual with strides in time, in int8
and float32. Models that are no frames have to be refused with the operator that is in the way and what to do.
"""
import pathlib
import re
import string

import ai_edge_litert.interpreter as litert
import bundle
import common
import numpy
import pytest
import test_feed
from frames_models import causal, strided

HERE = pathlib.Path(__file__).resolve().parent

# Instructions of a frame on a Cortex-M4, by options; 80,000 were asked for.
MOST = {("strww", ""): 88500, ("strww", "-O speed"): 75000}
MODELS = HERE.parent / "models"
MORE = 45  # frames behind the first window
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
static const struct fed_outputs outputs = { (void *)output.bytes };
static struct fed_context context;
static int failed;
/* SysTick counts 25 MHz; with QEMU's -icount shift=0 an instruction takes a nanosecond. */
#ifdef COUNTS
#define SYSTICK ((volatile uint32_t *)0xE000E010u)
#define NOW() SYSTICK[2]
#else
#define NOW() 0u
#endif
#ifdef FED_MORE
#define MORE FED_MORE
#else
#define MORE 99
#define fed_step(context) 0
#endif
static uint32_t longest, most_slices;
#define CHECK(what) do { if (!(what)) { printf("line %d: %s\\n", __LINE__, #what); failed = 1; } } while (0)

/* So many frames from the first of the sequence on; how many results there were. */
static uint32_t feed(uint32_t frames)
{
    uint32_t frame, slices, results = 0;
    memset(memory, 0x5A, sizeof memory);
    CHECK(fed_begin(&context, &outputs, memory + GUARD) == 0);
    for (frame = 0; frame < frames; ++frame) {
        const int there = frame + 1u >= FED_ROWS && (frame + 1u - FED_ROWS) % FED_STEP == 0;
        void *const to = fed_row(&context);
        uint32_t took;
        int32_t status;
        CHECK(to != NULL);
        if (to == NULL) return 0;
        memcpy(to, sequence[frame], FED_ROW_BYTES);
        memset(output.bytes, 0x33, sizeof output.bytes);
        took = NOW();
        status = fed_feed(&context);
        for (slices = 1; status == MORE; ++slices) {
            CHECK(fed_row(&context) == NULL && fed_feed(&context) == FED_ERROR_ROW);
            status = fed_step(&context);
        }
        took = (took - NOW()) & 0xFFFFFFu;
        if (slices > most_slices) most_slices = slices;
        if (frame >= FED_ROWS && took > longest) longest = took;
        CHECK(status == (there ? FED_DONE : FED_NEXT_ROW));
        /* Steps without a frame change nothing. */
        CHECK(fed_step(&context) == FED_NEXT_ROW);
        if (there) {
            CHECK(memcmp(output.bytes, expected[frame + 1u - FED_ROWS], sizeof output.bytes) == 0);
            ++results;
        }
    }
    for (frame = 0; frame < GUARD; ++frame)
        CHECK(memory[frame] == 0x5A && memory[sizeof memory - 1u - frame] == 0x5A);
    return results;
}

int main(void)
{
    const struct fed_inputs in = { (void *)whole.bytes };
    uint32_t results;
#ifdef COUNTS
    SYSTICK[1] = 0xFFFFFFu;
    SYSTICK[2] = 0u;
    SYSTICK[0] = 5u;
#endif
    CHECK(fed_row(&context) == NULL && fed_feed(&context) == FED_ERROR_ARGUMENT);
    feed(FED_ROWS + 3u);
    results = feed(FRAMES);
    memcpy(whole.bytes, sequence, sizeof whole.bytes);
    CHECK(fed_run(&in, &outputs, memory + GUARD) == 0);
    CHECK(memcmp(output.bytes, expected[0], sizeof output.bytes) == 0);
    printf("arena %lu, of which %lu are kept; %lu windows of %lu frames, one every %lu, in at most %lu slices, at most %lu instructions a frame: %s\\n",
           (unsigned long)FED_ARENA_SIZE, (unsigned long)FED_KEPT_SIZE, (unsigned long)results,
           (unsigned long)FED_ROWS, (unsigned long)FED_STEP, (unsigned long)most_slices, (unsigned long)longest * 40u,
           failed ? "failed" : "passed");
    return failed;
}
""")


def samples(path):
    """A sequence of frames, and what LiteRT's reference kernels make of each window."""
    interpreter = litert.Interpreter(str(path), experimental_op_resolver_type=litert.OpResolverType.BUILTIN_REF)
    interpreter.allocate_tensors()
    into, out = interpreter.get_input_details()[0], interpreter.get_output_details()[0]
    shape = list(into["shape"])
    random = numpy.random.default_rng(5)
    # Noise alone is the same to a network that listens.
    level = numpy.cumsum(random.normal(0, 25, [shape[1] + MORE, 1, 1]), 0) + random.normal(0, 40, [1, *shape[2:]])
    sequence = numpy.clip(random.normal(level - 40, 30), -128, 127)
    sequence = (sequence / 64 if into["dtype"] == numpy.float32 else sequence).astype(into["dtype"])
    windows = []
    for at in range(MORE + 1):
        interpreter.set_tensor(into["index"], sequence[None, at:at + shape[1]])
        interpreter.invoke()
        windows.append(interpreter.get_tensor(out["index"]).copy())
    if len({w.tobytes() for w in windows}) < 5:
        raise common.Failure(f"{path.stem}: the windows hardly differ")
    return (test_feed.table("sequence", list(sequence)) + test_feed.table("expected", windows) +
            f"#define FRAMES {len(sequence)}u\n")


def check(path, options, work, targets=("gcc", "cortex_m4")):
    bundle.require(*targets)
    command = ["compile", path, "--prefix", "fed", "-o", work / "fed", "--quiet", "--cpu", "cortex-m4f", "--stream", "time"]
    if "least" in options:
        refused = common.aotc(*command, *options.replace("least", "1").split(), expect=None)
        options = options.replace("least", re.search(r"--slice (\d+)$", refused.stderr, re.M)[1])
    common.aotc(*command, *options.split())
    header = (work / "fed" / "fed.h").read_text().splitlines()
    (work / "samples.h").write_text(samples(path))
    (work / "main.c").write_text(MAIN.substitute(input=test_feed.field(header, "INPUT").upper(),
                                                 output=test_feed.field(header, "OUTPUT").upper()))
    for name in targets:
        counts = name == "cortex_m4"
        command = test_feed.program(name, work, "-O2", *(["-DCOUNTS"] if counts else []))
        printed = common.run_program([*command, *(["-icount", "shift=0"] if counts else [])]).strip()
        print(f"{path.stem} {options} on {name}: {printed}")
        instructions = int(printed.split("at most ")[1].split()[0])
        if counts and not 0 < instructions <= MOST.get((path.stem, options), 10**9):
            raise common.Failure(f"{path.stem}: a frame takes {instructions} instructions")


MADE = {"causal": causal, "strided": lambda: strided(numpy.int8), "strided_f32": lambda: strided(numpy.float32)}


def write(folder, name, model):
    path = folder / f"{name}.tflite"
    path.write_bytes(model)
    return path


def verify(path):
    for sliced in ([], ["--slice", "call"]):
        common.aotc("verify", path, "--cpu", "cortex-m4f", "--stream", "time", "--quiet", *sliced)


@pytest.mark.parametrize("options", ["", "--slice call", "--slice least"])
@pytest.mark.parametrize("name", MADE)
def test_frames(name, options, tmp_path):
    check(write(tmp_path, name, MADE[name]()), options, tmp_path)


@pytest.mark.parametrize("options", ["-O size", "-O speed", "--slice 25000", "-O speed --prefer ram --slice 1500", "--kernels c --slice least"])
@pytest.mark.parametrize("name", MADE)
def test_options(name, options, tmp_path):
    check(write(tmp_path, name, MADE[name]()), options, tmp_path)


@pytest.mark.parametrize("options", ["", "-O speed", "--slice 25000"])
@pytest.mark.models("strww")
def test_shared(model, options, tmp_path):
    check(common.model_path(model), options, tmp_path)


@pytest.mark.parametrize("name", MADE)
def test_verify(name, tmp_path):
    verify(write(tmp_path, name, MADE[name]()))


@pytest.mark.models("strww")
def test_verify_shared(model):
    verify(common.model_path(model))


REFUSED = {  # model, message, operator that is named
    "first_row": (lambda: causal(last=False), "depends on its padding before the first frame", "op 3 CONV_2D"),
    "around": (lambda: causal(before=False), "it is padded behind the last frame", "op 3 CONV_2D"),
    "ahead": (lambda: strided(numpy.int8, cut_from=1), "its result is 1 rows ahead of what it is used with",
              "op 2 STRIDED_SLICE"),
    "state": (lambda: (MODELS / "state" / "stream_conv_int8.tflite").read_bytes(), "each run takes the next frames", ""),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name, tmp_path):
    model, message, operator = REFUSED[name]
    done = common.aotc("compile", write(tmp_path, name, model()), "-o", tmp_path / "out", "--cpu", "cortex-m4f", "--stream",
                       "time", expect=None)
    assert done.returncode == 1 and "[time-impossible]" in done.stderr
    assert message in done.stderr and operator in done.stderr
