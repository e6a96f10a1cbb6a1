# SPDX-License-Identifier: Apache-2.0
"""Instructions of slices on a Cortex-M4, counted in QEMU, against what aotc says of them.

Each model is compiled with and without --slice and both are built into one program, which times every
NAME_step, the whole loop of them, and NAME_run of the model without slices. No slice is longer than
NAME_LONGEST_SLICE, which is no more than --slice allows and, where slices are calls, at most a tenth longer than the
longest one measured. Slices cost at most so many percent (OVERHEAD).
"""
import re
import string

import bundle
import common
import emitted_cases
import pytest

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


OVERHEAD = {"kws": 2, "vww": 4, "resnet": 2, "ad": 2, "strww": 2}
SHARED = ("kws", "vww", "resnet", "ad", "strww")


def check(model, length, work, within=None):
    bundle.require("cortex_m4")
    run, sliced, longest, slices, said = measure(model, length, work)
    more = 100 * (sliced / run - 1)
    print(f"{model}: {run:,} instructions, {sliced:,} in {slices} slices ({more:+.2f} %), longest {longest:,}, "
          f"said {said:,} ({100 * (said / longest - 1):+.1f} %)")
    assert said >= longest - TICK, "the clock may tick once more than a slice deserves"
    if length != "call":
        assert said <= int(length)
        assert more <= OVERHEAD.get(model, 100)
    if within is not None:
        assert said <= longest * (1 + within / 100) + TICK


@pytest.mark.models("digits_int8")
def test_calls(model, tmp_path):
    check(model, "call", tmp_path)


@pytest.mark.models(*SHARED)
def test_shared_calls(model, tmp_path):
    check(model, "call", tmp_path, 10)


@pytest.mark.models(*SHARED)
def test_shared_parts(model, tmp_path):
    check(model, "20000", tmp_path)
