#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What models take of an AVR board: flash, RAM, stack and cycles of one inference, in simavr.

Usage: measure.py BOARD MODEL... --work DIR [--json FILE] [--compile "OPTIONS"]

MODEL is a name or a file. Flash is what the model adds to a linked program, with what it takes of the
compiler's and C libraries: the program with a run of the model less the same without. RAM is the
arena with the model's variables, inputs and outputs; stack is the run function and all below it.
"""
import argparse
import json
import pathlib

import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import common  # noqa: E402
import on_avr  # noqa: E402

# The arguments are volatile, so that no compiler knows that nothing reads the results.
PROGRAM = """
#include "m.h"
static uint8_t arena[M_ARENA_SIZE] __attribute__((aligned(16)));
static void *volatile place;
int main(void)
{
    place = arena;
#ifdef WITH_MODEL
    return (int)m_run((const struct m_inputs *)place, (const struct m_outputs *)place, place);
#else
    return place == 0;
#endif
}
"""


def linked(board, folder, flags, *more):
    image = folder / "linked.elf"
    common.run([board["toolchain"]["compiler"], *board["toolchain"]["cflags"], *on_avr.FLAGS, *flags,
                *more, "-I", folder, folder / "program.c", folder / "m.c", folder / "m_data.c", "-o",
                image, "-lm"])
    return on_avr.sections(board, image)


def measure(name, board_name, options):
    board = common.board(board_name)
    path = pathlib.Path(name) if name.endswith(".tflite") else common.model_path(name)
    folder = options.work / path.stem
    made = json.loads(common.aotc("compile", path, "--prefix", "m", "--board", board_name, "-o", folder,
                                  "--quiet", "--json", *options.compile))
    oracle = common.Oracle(path, 1)
    (folder / "samples.h").write_text(on_avr.samples_header(oracle))
    (folder / "program.c").write_text(PROGRAM)
    without = linked(board, folder, options.flags)
    text, data, bss = linked(board, folder, options.flags, "-DWITH_MODEL")
    caller = sum(made[f"{port}_bytes"] for port in ("input", "output")
                 if not made[f"{port}_in_arena"])
    image = on_avr.build(board, folder, options.flags, "-DTIMED")
    if image is None:
        raise common.Failure(f"{name} does not fit {board_name}")
    found, values = on_avr.records_of(on_avr.run(board, image, options.timeout))
    on_avr.check_values(values, 1)
    outputs = [data for _, op, _, data in found if op == common.OUTPUT]
    for got, want in zip(outputs, oracle.outputs[0], strict=True):
        _, text_of = common.difference(got, want, common.LIBRARY_ULP)
        if text_of:
            raise common.Failure(text_of)
    base = values["base"][0]
    return {"model": path.stem, "board": board_name,
            "flash_bytes": text + data - without[0] - without[1],
            "tables_bytes": made["constants_bytes"], "arena_bytes": made["arena_bytes"],
            "ram_bytes": made["arena_bytes"] + caller + data + bss - without[1] - without[2],
            "stack_bytes": base - values["untouched"][0], "cycles": values["cycles"][0]}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("board")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--flags", default="-Os", type=lambda text: text.split())
    parser.add_argument("--timeout", type=int, default=120)
    parser.add_argument("--compile", default="", type=lambda text: text.split(),
                        help="options of 'aotc compile'")
    options = parser.parse_args()
    board = common.board(options.board)
    common.require(board["toolchain"]["compiler"], board["emulator"]["program"])
    options.work = common.fresh(options.work.resolve())
    rows = [measure(name, options.board, options) for name in options.models]
    for r in rows:
        print(f"{r['model']} on {r['board']}: flash {r['flash_bytes']} bytes, {r['tables_bytes']} of them "
              f"tables; RAM {r['ram_bytes']}, {r['arena_bytes']} of them the arena; stack "
              f"{r['stack_bytes']}; {r['cycles']} cycles")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    common.main_of(main)
