#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instructions of slices on a Cortex-M4, counted in QEMU, against what aotc says of them.

Usage: measure.py --work DIR [--models NAME,...] [--slice call] [--within PERCENT] [--overhead MODEL=PERCENT,...]

Each model is compiled with and without --slice and both are built into one program, which times every
NAME_step, the whole loop of them, and NAME_run of the model without slices. Checked are: no slice is longer
than NAME_LONGEST_SLICE, which is no more than --slice asks for; with --within, that it is at most so much
longer than the longest one measured; with --overhead, what slices cost.
"""
import argparse
import pathlib
import re
import string
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "e2e"), str(HERE.parent / "state")]
import bundle  # noqa: E402
import common  # noqa: E402
import emitted_cases  # noqa: E402

BOARD = "qemu_mps2_an386"
TICK = 40  # instructions: SysTick counts 25 MHz, an instruction takes a nanosecond
MAIN = string.Template("""\
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "plain.h"
#include "sliced.h"

#define POINTER(field, c_type, elements, scale, zero_point) .field = outputs_of.field,
#define FIELD(field, c_type, elements, scale, zero_point) c_type field[elements] __attribute__((aligned(8)));
#define SYSTICK ((volatile uint32_t *)0xE000E010u)

static uint8_t arena[(PLAIN_ARENA_SIZE > SLICED_ARENA_SIZE ? PLAIN_ARENA_SIZE : SLICED_ARENA_SIZE) + 16u]
    __attribute__((aligned(16)));
static struct { PLAIN_FOR_EACH_OUTPUT(FIELD) } outputs_of;
static struct sliced_context context;

static uint32_t now(void) { return SYSTICK[2]; }
static uint32_t since(uint32_t start) { return (start - now()) & 0xFFFFFFu; }

int main(void)
{
    const struct plain_outputs plain = { PLAIN_FOR_EACH_OUTPUT(POINTER) };
    const struct sliced_outputs sliced = { SLICED_FOR_EACH_OUTPUT(POINTER) };
    uint32_t longest = 0, steps = 0, begun, took, whole, in_slices;
    int32_t status;
    SYSTICK[1] = 0xFFFFFFu;
    SYSTICK[2] = 0u;
    SYSTICK[0] = 5u;
    memset(arena, 3, sizeof arena);
    begun = now();
    if (plain_run(NULL, &plain, arena) != 0) return 1;
    whole = since(begun);
    memset(arena, 3, sizeof arena);
    begun = now();
    if (sliced_begin(&context, NULL, &sliced, arena) != 0) return 2;
    do { status = sliced_step(&context); } while (status == SLICED_MORE);
    in_slices = since(begun);
    memset(arena, 3, sizeof arena);
    if (status != SLICED_DONE || sliced_begin(&context, NULL, &sliced, arena) != 0) return 3;
    do {
        begun = now();
        status = sliced_step(&context);
        took = since(begun);
        longest = took > longest ? took : longest;
        ++steps;
    } while (status == SLICED_MORE);
    printf("run %lu, in slices %lu, longest %lu, slices %lu, said %lu\\n", (unsigned long)whole,
           (unsigned long)in_slices, (unsigned long)longest, (unsigned long)steps,
           (unsigned long)SLICED_LONGEST_SLICE);
    return status == SLICED_DONE ? 0 : 4;
}
""")


def measure(model, slice_option, work):
    """(instructions of a run, the same in slices, of the longest slice, number of slices, what was said)."""
    work = common.fresh(work)
    path = common.model_path(model)
    for prefix, options in (("plain", []), ("sliced", ["--slice", slice_option])):
        common.aotc("compile", path, "--prefix", prefix, "--board", BOARD, "-o", work / prefix, "--quiet", *options)
    (work / "main.c").write_text(MAIN.substitute())
    target = emitted_cases.TARGETS["cortex_m4"]
    image = bundle.build(target, work, sorted(work.glob("*/*.c")),
                         ["-O2", "-I", work / "plain", "-I", work / "sliced"])
    command = [c.format(image=image) for c in target.command]
    printed = common.run_program([*command, "-icount", "shift=0"])
    run, sliced, longest, slices, said = (int(n) for n in re.findall(r"\d+", printed))
    return run * TICK, sliced * TICK, longest * TICK, slices, said


def check(model, options):
    run, sliced, longest, slices, said = measure(model, options.slice, options.work / f"{model}_{options.slice}")
    more = 100 * (sliced / run - 1)
    text = (f"{model}: {run:,} instructions, {sliced:,} in {slices} slices ({more:+.2f} %), longest {longest:,}, "
            f"said {said:,} ({100 * (said / longest - 1):+.1f} %)")
    wrong = []
    # The clock may tick once more than a slice deserves.
    if said < longest - TICK:
        wrong.append("longer than was said")
    if options.slice != "call" and said > int(options.slice):
        wrong.append("longer than was asked for")
    if options.within is not None and said > longest * (1 + options.within / 100) + TICK:
        wrong.append(f"said is more than {options.within} % too much")
    if model in options.overhead and more > options.overhead[model]:
        wrong.append(f"slices cost more than {options.overhead[model]} %")
    return text, wrong


def pairs(text):
    return {m: float(p) for m, p in (pair.split("=") for pair in text.split(","))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--models", type=lambda t: t.split(","), default=["digits_int8"])
    parser.add_argument("--slice", default="call")
    parser.add_argument("--within", type=float)
    parser.add_argument("--overhead", type=pairs, default={})
    options = parser.parse_args()
    options.work = options.work.resolve()
    target = emitted_cases.TARGETS["cortex_m4"]
    common.require(target.compiler, target.command[0])
    failed = []
    for model in options.models:
        text, wrong = check(model, options)
        print(text + "".join(f"; {w}" for w in wrong), flush=True)
        failed += [f"{model}: {w}" for w in wrong]
    print(f"{len(options.models) - len({f.split(':')[0] for f in failed})} passed, {len({f.split(':')[0] for f in failed})} failed")
    if failed:
        raise common.Failure("; ".join(failed))


if __name__ == "__main__":
    common.main_of(main)
