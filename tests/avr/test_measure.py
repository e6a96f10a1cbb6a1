# SPDX-License-Identifier: Apache-2.0
"""What models take of an AVR board: flash, RAM, stack and cycles of one inference, in simavr.

Flash is what the model adds to a linked program, with what it takes of the
compiler's and C libraries: the program with a run of the model less the same without. RAM is the
arena with the model's variables, inputs and outputs; stack is the run function and all below it, measured and as
`aotc analyze stack` bounds it; with the timer's handler the bound is at least what is measured.
"""
import json

import common
import on_avr
import pytest

FLAGS = ["-Os"]

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


@pytest.mark.models("hello_world_int8")
@pytest.mark.parametrize("board_name", ["arduino_uno"])
def test_measure(model, board_name, tmp_path, record_property):
    on_avr.require(board_name)
    board, path, folder = common.board(board_name), common.model_path(model), tmp_path / "out"
    made = json.loads(common.aotc("compile", path, "--prefix", "m", "--board", board_name, "-o", folder,
                                  "--quiet", "--json"))
    oracle = common.Oracle(path, 1)
    (folder / "samples.h").write_text(on_avr.samples_header(oracle))
    (folder / "program.c").write_text(PROGRAM)
    without = linked(board, folder, FLAGS)
    text, data, bss = linked(board, folder, FLAGS, "-DWITH_MODEL")
    caller = sum(made[f"{port}_bytes"] for port in ("input", "output")
                 if not made[f"{port}_in_arena"])
    image = on_avr.build(board, folder, FLAGS, "-DTIMED")
    assert image is not None, f"{model} does not fit {board_name}"
    found, values = on_avr.records_of(on_avr.run(board, image, 120))
    on_avr.check_values(values, 1)
    outputs = [data for _, op, _, data in found if op == common.OUTPUT]
    for got, want in zip(outputs, oracle.outputs[0], strict=True):
        _, text_of = common.difference(got, want, common.LIBRARY_ULP)
        if text_of:
            raise common.Failure(text_of)
    stack = values["base"][0] - values["untouched"][0]
    bound = bound_of(board, image)
    # The stack pointer is at the first free byte. The timer's handler runs on the same stack.
    assert bound["state"] != "unbounded" and bound["with_interrupts"] >= stack + 1
    figures = {
        "flash_bytes": text + data - without[0] - without[1], "tables_bytes": made["constants_bytes"],
        "ram_bytes": made["arena_bytes"] + caller + data + bss - without[1] - without[2],
        "arena_bytes": made["arena_bytes"], "stack_bytes": stack, "stack_bound": bound["bytes"],
        "stack_state": bound["state"], "cycles": values["cycles"][0]}
    record_property("figures", figures)
    print(f"{path.stem} on {board_name}: {figures}")
