#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What models take of an AVR board: flash, RAM, stack and cycles of one inference, in simavr.

Usage: measure.py BOARD MODEL... --work DIR [--json FILE] [--compile "OPTIONS"]

MODEL is a name or a file. Flash is what the model adds to a linked program, with what it takes of the
compiler's and C libraries: the program with a run of the model less the same without. RAM is the
arena with the model's variables, inputs and outputs; stack is the run function and all below it, measured and as
`aotc analyze stack` bounds it; with the timer's handler the bound is at least what is measured.
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


def bound_of(board, image):
    """What is said of the run function's stack, with the handlers that the program has."""
    names = common.run([board["toolchain"]["prefix"] + "nm", image]).splitlines()
    handlers = [line.split()[2] for line in names if line.split()[1] == "T" and line.split()[2].startswith("__vector_")]
    priorities = ",".join(f"{handler}=1" for handler in handlers if handler != "__vector_default")
    said = common.aotc("analyze", "stack", image, "--root", "m_run", "--interrupts", priorities, "--json")
    return json.loads(said)["roots"][0]


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
    stack = values["base"][0] - values["untouched"][0]
    bound = bound_of(board, image)
    # The stack pointer is at the first free byte. The timer's handler runs on the same stack.
    if bound["state"] == "unbounded" or bound["with_interrupts"] < stack + 1:
        raise common.Failure(f"{name}: {stack + 1} bytes of stack measured, bound {bound}")
    return {"model": path.stem, "board": board_name,
            "flash_bytes": text + data - without[0] - without[1],
            "tables_bytes": made["constants_bytes"], "arena_bytes": made["arena_bytes"],
            "ram_bytes": made["arena_bytes"] + caller + data + bss - without[1] - without[2],
            "stack_bytes": stack, "stack_bound": bound["bytes"], "stack_state": bound["state"],
            "cycles": values["cycles"][0]}


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
              f"{r['stack_bytes']}, bound {r['stack_bound']}, {r['stack_state']}; {r['cycles']} cycles")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    common.main_of(main)
