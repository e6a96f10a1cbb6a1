# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/slices.md, and that of docs/streaming.md, compiled against stand-ins for their frameworks and run.

The stand-ins call loop() and the work item as the frameworks do. Each example must print the result that
LiteRT has for the first stored input, once, after as many turns as the model has slices, or the image rows.
"""
import re

import common
import numpy as np
import pytest

DIGITS = common.ROOT / "tests" / "models" / "digits"
# What both have: an input, and a line for every result.
COMMON = """
#include <stdint.h>
#include <stdio.h>
#include <string.h>
static const int8_t stored[64] = { %s };
static int filled, turns;
static int fill_image(int8_t *to) { memcpy(to, stored, sizeof stored); return filled++ == 0; }
static void show(const int8_t *scores)
{
    printf("%%d turns:", turns);
    for (int i = 0; i < 10; ++i) printf(" %%d", scores[i]);
    printf("\\n");
}
"""
ARDUINO = """
static void blink() { ++turns; }
%s
int main() { for (int i = 0; i < 100; ++i) loop(); return 0; }
"""
ZEPHYR = """
%s
int main(void)
{
    if (start_inference() < 0) return 1;
    while (submitted != NULL) {
        struct k_work *work = submitted;
        submitted = NULL;
        ++turns;
        work->handler(work);
    }
    return 0;
}
"""
ROWS = """
#define camera_read_line(to, bytes) memcpy(to, stored + turns++ * (bytes), bytes)
%s
int main(void)
{
    (void)fill_image;
    if (read_digit() != 0) return 1;
    show(scores);
    return 0;
}
"""
KERNEL_H = """
#include <stddef.h>
#define EINVAL 22
#define __aligned(n) __attribute__((aligned(n)))
struct k_work { void (*handler)(struct k_work *work); };
#define K_WORK_DEFINE(name, function) struct k_work name = { function }
static struct k_work *submitted;
static int k_work_submit(struct k_work *work) { submitted = work; return 1; }
"""


def block(language, page="slices.md"):
    text = (common.ROOT / "docs" / page).read_text()
    found = re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)
    if len(found) != 1:
        raise common.Failure(f"{len(found)} blocks of {language} in docs/{page}")
    return found[0]


EXAMPLES = {  # folder of the model, compiler, text around a block of a page, its language, the page
    "arduino.cpp": ("digits", ["g++", "-std=c++11"], ARDUINO, "cpp", "slices.md"),
    "zephyr.c": ("digits", ["gcc", "-std=gnu99"], ZEPHYR, "c", "slices.md"),
    "rows.c": ("rows", ["gcc", "-std=gnu99"], ROWS, "c", "streaming.md"),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name, tmp_path):
    work = tmp_path
    folder, compiler, text, language, page = EXAMPLES[name]
    how = ["--slice", "call"] if folder == "digits" else ["--input", "rows"]
    common.aotc("compile", DIGITS / "digits_int8.tflite", "--prefix", "digits", "-o", work / folder, *how, "--quiet")
    stored = np.load(DIGITS / "test_inputs_int8.npy").reshape(-1, 64)[0]
    wanted = np.load(DIGITS / "test_outputs_int8.npy").reshape(-1, 10)[0]
    (work / "zephyr").mkdir()
    (work / "zephyr" / "kernel.h").write_text(KERNEL_H)
    includes = ["-I", work, "-I", work / folder, "-Wall", "-Wextra", "-Werror"]
    objects = []
    for source in sorted((work / folder).glob("*.c")):
        objects.append(work / f"{folder}_{source.stem}.o")
        common.run(["gcc", "-O1", *includes, "-c", source, "-o", objects[-1]])
    (work / name).write_text(COMMON % ", ".join(str(v) for v in stored) + text % block(language, page))
    common.run([*compiler, *includes, work / name, *objects, "-o", work / "image.elf"])
    turns = 8  # lines of a camera
    if folder == "digits":
        # loop() blinks behind each slice, a work item counts before it.
        slices = re.search(r"SLICE_COUNT (\d+)", (work / "digits" / "digits.h").read_text())[1]
        turns = int(slices) - (1 if name.startswith("arduino") else 0)
    assert common.run_program([work / "image.elf"]).split() == [str(turns), "turns:", *(str(v) for v in wanted)]
