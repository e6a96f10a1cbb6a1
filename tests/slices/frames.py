#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models whose input is frames in time: every window of a sequence against LiteRT, to the byte.

Usage: frames.py --work DIR [--models NAME,...] [--targets gcc,cortex_m4] [--options TEXT;TEXT...]
                 [--optimize=-O3]

Each model is compiled with --stream time. A program in C feeds a sequence of frames, several windows long, and compares
what is there after each frame from the first full window on with what LiteRT's reference kernels make of that window
alone; then it runs NAME_run. With --slice, which is "least" for the shortest that there can be, NAME_step does what NAME_feed leaves. On the
Cortex-M4 what a frame takes is counted. Models are those given, and those that this script makes: causal convolutions over time, padded
before the first frame, with a dilation, of which the last row is taken; convolutions, a pool and a residual with strides in time, in int8
and float32. Models that are no frames have to be refused with the operator that is in the way and what to do.
"""
import argparse
import dataclasses
import pathlib
import re
import string
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e"), str(HERE.parent / "oracle")]
import bundle  # noqa: E402
import common  # noqa: E402
import emitted_cases  # noqa: E402
import feed  # noqa: E402
import numpy  # noqa: E402
import tflite_builder  # noqa: E402

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


def causal(last=True, before=True):
    """int8: frames of 8 numbers. `last`: the last row is taken, else the first; `before`: padded before, else around."""
    random = numpy.random.default_rng(7)
    b = tflite_builder.ModelBuilder()
    x = of = b.tensor("frames", numpy.int8, (1, 12, 1, 8), 0.05, 3)

    def convolution(of, name, taps, dilation, zero):
        pads = [[0, 0], [(taps - 1) * dilation, 0] if before else [1, (taps - 1) * dilation - 1], [0, 0], [0, 0]]
        padded = b.tensor(name + "_padded", numpy.int8, (1, 12 + (taps - 1) * dilation, 1, 8), 0.05, zero)
        b.op("PAD", [of, b.const(name + "_pads", numpy.array(pads, numpy.int32))], [padded])
        weights = b.const(name + "_weights", random.integers(-127, 128, (8, taps, 1, 8), dtype=numpy.int8), 0.004)
        bias = b.const(name + "_bias", random.integers(-500, 500, 8, dtype=numpy.int32), 0.05 * 0.004)
        to = b.tensor(name, numpy.int8, (1, 12, 1, 8), 0.05, -5)
        b.op("CONV_2D", [padded, weights, bias], [to], padding="VALID", stride_w=1, stride_h=1, dilation_h=dilation,
             dilation_w=1, activation="RELU")
        return to

    of = convolution(of, "first", 3, 1, 3)
    of = convolution(of, "second", 3, 2, -5)
    begin = 11 if last else 0
    row = b.tensor("row", numpy.int8, (1, 1, 1, 8), 0.05, -5)
    b.op("STRIDED_SLICE", [of, b.const("begin", numpy.array([0, begin, 0, 0], numpy.int32)),
                           b.const("end", numpy.array([1, begin + 1, 1, 8], numpy.int32)),
                           b.const("strides", numpy.ones(4, numpy.int32))], [row])
    flat = b.tensor("flat", numpy.int8, (1, 8), 0.05, -5)
    b.op("RESHAPE", [row, b.const("shape", numpy.array([1, 8], numpy.int32))], [flat])
    scores = b.tensor("scores", numpy.int8, (1, 4), 0.1, 0)
    b.op("FULLY_CONNECTED", [flat, b.const("dense", random.integers(-127, 128, (4, 8), dtype=numpy.int8), 0.01), -1], [scores])
    return b.finish([x], [scores])


def strided(dtype, cut_from=2):
    """Frames of 8 numbers, of which every second and then every fourth is stepped to; a residual of frames from `cut_from` on,
    and a pool. `dtype`: float32 or int8."""
    random = numpy.random.default_rng(9)
    b = tflite_builder.ModelBuilder()
    whole = dtype == numpy.int8

    def tensor(name, rows):
        return b.tensor(name, dtype, (1, rows, 1, 8), *((0.05, -3) if whole else ()))

    def weights(name, shape, axis):
        if not whole:
            return b.const(name, random.normal(0, 0.3, shape).astype(numpy.float32))
        return b.const(name, random.integers(-127, 128, shape, dtype=numpy.int8), [0.004] * 8, axis=axis)

    def window(kind, of, name, rows, taps, stride):
        shape, axis = ((1, taps, 1, 8), 3) if kind == "DEPTHWISE_CONV_2D" else ((8, taps, 1, 8), 0)
        to = tensor(name, rows)
        more = {"depth_multiplier": 1} if kind == "DEPTHWISE_CONV_2D" else {}
        biases = random.normal(0, 1000 if whole else 1, 8).astype(numpy.int32 if whole else numpy.float32)
        bias = b.const(name + "_bias", biases, [0.05 * 0.004] * 8 if whole else None)
        b.op(kind, [of, weights(name + "_weights", shape, axis), bias], [to], padding="VALID", stride_w=1, stride_h=stride,
             dilation_h=1, dilation_w=1, activation="NONE", **more)
        return to

    x = tensor("frames", 23)
    first = window("CONV_2D", x, "first", 11, 3, 2)
    second = window("CONV_2D", first, "second", 9, 3, 1)
    cut = tensor("cut", 9)
    b.op("STRIDED_SLICE", [first, b.const("begin", numpy.array([0, cut_from, 0, 0], numpy.int32)),
                           b.const("end", numpy.array([1, cut_from + 9, 1, 8], numpy.int32)),
                           b.const("strides", numpy.ones(4, numpy.int32))], [cut])
    sum_of = tensor("sum", 9)
    b.op("ADD", [second, cut], [sum_of], activation="RELU")
    pooled = tensor("pooled", 4)
    b.op("MAX_POOL_2D", [sum_of], [pooled], padding="VALID", stride_w=1, stride_h=2, filter_h=3, filter_w=1,
         activation="NONE")
    row = window("DEPTHWISE_CONV_2D", pooled, "row", 1, 4, 1)
    flat = b.tensor("flat", dtype, (1, 8), *((0.05, -3) if whole else ()))
    b.op("RESHAPE", [row, b.const("shape", numpy.array([1, 8], numpy.int32))], [flat])
    scores = b.tensor("scores", dtype, (1, 4), *((0.1, 0) if whole else ()))
    dense = (b.const("dense", random.integers(-127, 128, (4, 8), dtype=numpy.int8), 0.01) if whole else
             b.const("dense", random.normal(0, 1, (4, 8)).astype(numpy.float32)))
    b.op("FULLY_CONNECTED", [flat, dense, -1], [scores])
    return b.finish([x], [scores])


def samples(path):
    """A sequence of frames, and what LiteRT's reference kernels make of each window."""
    import ai_edge_litert.interpreter as litert
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
    return (feed.table("sequence", list(sequence)) + feed.table("expected", windows) +
            f"#define FRAMES {len(sequence)}u\n")


def check(path, options, targets, optimize, work):
    work = common.fresh(work)
    command = ["compile", path, "--prefix", "fed", "-o", work / "fed", "--quiet", "--cpu", "cortex-m4f", "--stream", "time"]
    if "least" in options:
        refused = common.aotc(*command, *options.replace("least", "1").split(), expect=None)
        options = options.replace("least", re.search(r"--slice (\d+)$", refused.stderr, re.M)[1])
    common.aotc(*command, *options.split())
    header = (work / "fed" / "fed.h").read_text().splitlines()
    (work / "samples.h").write_text(samples(path))
    (work / "main.c").write_text(MAIN.substitute(input=feed.field(header, "INPUT").upper(),
                                                 output=feed.field(header, "OUTPUT").upper()))
    for name in targets:
        target = emitted_cases.TARGETS[name]
        strict = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wno-unused-function", "-Werror"]
        sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"] if name == "gcc" else []
        target = dataclasses.replace(target, flags=[*target.flags, *sanitizers])
        counts = name == "cortex_m4"
        image = bundle.build(target, work, sorted((work / "fed").glob("*.c")),
                             [optimize, *strict, "-I", work / "fed", *(["-DCOUNTS"] if counts else [])])
        command = [c.format(image=image) for c in target.command] + (["-icount", "shift=0"] if counts else [])
        printed = common.run_program(command).strip()
        print(f"{path.stem} {options} on {name}: {printed}", flush=True)
        instructions = int(printed.split("at most ")[1].split()[0])
        if counts and not 0 < instructions <= MOST.get((path.stem, options), 10**9):
            raise common.Failure(f"{path.stem}: a frame takes {instructions} instructions")


def refusals(work):
    """Messages of models that are no frames."""
    ahead = strided(numpy.int8, cut_from=1)
    for name, model, said, blamed in (
            ("first_row", causal(last=False), "depends on its padding before the first frame", "op 3 CONV_2D"),
            ("around", causal(before=False), "it is padded behind the last frame", "op 3 CONV_2D"),
            ("ahead", ahead, "its result is 1 rows ahead of what it is used with", "op 2 STRIDED_SLICE")):
        (work / f"{name}.tflite").write_bytes(model)
        done = common.aotc("compile", work / f"{name}.tflite", "-o", work / name, "--cpu", "cortex-m4f", "--stream", "time",
                           expect=None)
        if done.returncode != 1 or said not in done.stderr or "[time-impossible]" not in done.stderr or blamed not in done.stderr:
            raise common.Failure(f"{name}: {done.returncode} {done.stderr}")
    done = common.aotc("compile", MODELS / "state" / "stream_conv_int8.tflite", "-o", work / "state", "--cpu", "cortex-m4f",
                       "--stream", "time", expect=None)
    if done.returncode != 1 or "[time-impossible]" not in done.stderr or "each run takes the next frames" not in done.stderr:
        raise common.Failure(f"state: {done.returncode} {done.stderr}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--models", type=lambda t: t.split(","), default=[])
    parser.add_argument("--targets", type=lambda t: t.split(","), default=["gcc"])
    parser.add_argument("--options", default="", help="of aotc compile, separated by ;")
    parser.add_argument("--optimize", default="-O2", help="level of the compiler: --optimize=-O3")
    options = parser.parse_args()
    work = common.fresh(options.work.resolve())
    made = {"causal": causal(), "strided": strided(numpy.int8), "strided_f32": strided(numpy.float32)}
    for name, model in made.items():
        (work / f"{name}.tflite").write_bytes(model)
    refusals(work)
    models = [*(work / f"{name}.tflite" for name in made), *map(common.model_path, options.models)]
    for model in models:
        for text in options.options.split(";"):
            check(model, text, options.targets, options.optimize, work / model.stem)
        for sliced in ([], ["--slice", "call"]):
            common.aotc("verify", model, "--cpu", "cortex-m4f", "--stream", "time", "--quiet", *sliced)
    print(f"{len(models) + 4} passed, 0 failed")


if __name__ == "__main__":
    common.main_of(main)
