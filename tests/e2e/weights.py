#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instructions of a run on a Cortex-M4 with tables in the code, loaded, and at an address.

Usage: weights.py cost --work DIR MODEL...
"""
import argparse
import pathlib
import re

import c_program
import common
import numpy as np

ADDRESS = 0x20300000  # RAM of the emulated board that nothing else has


def table(name, rows, kind="int8_t"):
    rows = np.asarray(rows)
    text = ",\n".join(("{" + ",".join(map(str, row)) + "}") if rows.ndim > 1 else str(row) for row in rows)
    dims = "".join(f"[{n}]" for n in rows.shape)
    return f"static const {kind} {name}{dims} = {{\n{text}\n}};\n"


def bytes_of(path):
    return np.frombuffer(path.read_bytes(), np.uint8)


COST = """
#include <stdio.h>
#include "m.h"
#ifdef M_CONSTANTS_SIZE
{image}
#endif
#define REGISTER(at) (*(volatile uint32_t *)(at))
static uint8_t arena[M_ARENA_SIZE] __attribute__((aligned(16)));
#define X(field, type, elements, scale, zero) static type out_##field[elements];
M_FOR_EACH_OUTPUT(X)
#undef X
int main(void)
{{
    struct m_outputs outputs;
    int32_t status = 0;
#define X(field, type, elements, scale, zero) outputs.field = out_##field;
    M_FOR_EACH_OUTPUT(X)
#undef X
    REGISTER(0xE000E014) = 0xFFFFFF; /* SysTick counts 25 MHz: 40 instructions with -icount shift=0 */
    REGISTER(0xE000E018) = 0;
    REGISTER(0xE000E010) = 5;
    uint32_t loading = REGISTER(0xE000E018);
#ifdef M_CONSTANTS_ADDRESS
    __builtin_memcpy((void *)M_CONSTANTS_ADDRESS, image, sizeof image);
    loading = REGISTER(0xE000E018);
    status |= m_load((const void *)M_CONSTANTS_ADDRESS, sizeof image);
#elif defined(M_CONSTANTS_SIZE)
    status |= m_load(image, sizeof image);
#endif
    const uint32_t from = REGISTER(0xE000E018);
    for (int i = 0; i < 5; ++i) {{ status |= m_run(NULL, &outputs, arena); }}
    const uint32_t to = REGISTER(0xE000E018);
    printf("status %ld run %lu load %lu\\n", (long)status, (unsigned long)((from - to) & 0xFFFFFFu) * 8u, (unsigned long)((loading - from) & 0xFFFFFFu) * 40u);
    return status != 0;
}}
"""


def cost_of(model, folder, options):
    """Instructions of a run, to 8, and of a load, to 40."""
    common.aotc("compile", model, "--prefix", "m", "--cpu", "cortex-m4f", "-o", folder / "old", "-q", *options)
    weights = folder / "old" / "weights.bin"
    image = ("__attribute__((aligned(16)))\n" + table("image", bytes_of(weights), "uint8_t")) if weights.exists() else ""
    (folder / "main.c").write_text(COST.format(image=image))
    said = common.run_program([*c_program.command_on_m4(folder, [folder / "old"]), "-icount", "shift=0"])
    status, run, load = map(int, re.search(r"status (\S+) run (\d+) load (\d+)", said).groups())
    assert status == 0, said
    return run, load


def print_costs(models, work):
    print(f"{'instructions':16}{'in the code':>14}{'loaded':>14}{'at an address':>16}{'a load':>12}{'for any weights':>18}")
    for name in models:
        plain, loaded, fixed, open_for_any = (cost_of(common.model_path(name), common.fresh(work / f"{name}_{i}"), options) for i, options in enumerate((
            [], ["--constants-file", "weights.bin"], ["--constants-file", "weights.bin", "--constants-address", f"0x{ADDRESS:08x}"], ["--constants-file", "weights.bin", "--constants-open"])))
        print(f"{name:16}{plain[0]:14,}{loaded[0]:14,}{fixed[0]:16,}{loaded[1]:12,}{open_for_any[0]:18,}")
        for run in (loaded[0], fixed[0]):
            if run > plain[0] * 1.001 + 500:
                raise common.Failure(f"{name}: {run} instructions, {plain[0]} with the tables in the code")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["cost"])
    parser.add_argument("models", nargs="+")
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_intermixed_args()
    print_costs(options.models, options.work.resolve())


if __name__ == "__main__":
    common.main_of(main)
