# SPDX-License-Identifier: Apache-2.0
"""The calling conventions give the same bytes, and the packed ones cost little."""
import functools
import json

import common
import pytest

OWN = ("digits_int8", "gadget_int8", "digits_f32", "gadget_f32")
SHARED = ("kws", "vww", "resnet", "ad", "strww", "micro_speech", "hello_world_int8")
SHARED_FLOAT = ("vww_f32", "resnet_f32", "ad_f32", "hello_world_float")
BOARD = "qemu_mps2_an386"
FLAGS = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-O1",
         "-ffp-contract=off"]
# Instructions that a call of an operator may cost more than a plain one.
LIMITS = {"packed": 60, "registry": 400}
# Its convolution is inlined into the run function where that can be; alone gcc spills in each of 167 turns (2,362
# instructions of the 2,960 that three calls cost more).
ALONE = {("micro_speech", "registry"): 1000}
CRT = common.ROOT / "crt"

PROGRAM = """
#include <stdio.h>
#include <string.h>
{includes}
static uint32_t state = 1;
static uint8_t next_byte(void) {{ state = state * 1664525u + 1013904223u; return (uint8_t)(state >> 24); }}
{runs}
int main(void)
{{
    static uint8_t all[{count}][{bytes}];
    for (int round = 0; round < 3; ++round) {{
        for (int i = 0; i < {count}; ++i) {{
            state = (uint32_t)round * 77u + 1u;
            memset(all[i], 0, sizeof all[i]);
            const int32_t status = runs[i](all[i]);
            if (status != 0) {{ printf("run %d: status %ld\\n", i, (long)status); return 1; }}
            if (memcmp(all[0], all[i], sizeof all[i]) != 0) {{ printf("run %d differs\\n", i); return 1; }}
        }}
        int sum = 0;
        for (size_t b = 0; b < sizeof all[0]; ++b) {{ sum |= all[0][b]; }}
        if (sum == 0) {{ printf("nothing was computed\\n"); return 1; }}
    }}
    return 0;
}}
"""
RUN = """
static int32_t run_{p}(uint8_t *out)
{{
    static uint8_t arena[{P}_ARENA_SIZE + 1] __attribute__((aligned(16)));
    struct {p}_inputs in; struct {p}_outputs to;
    uint8_t *at = out;
#define X(field, type, elements, scale, zero) \\
    static type in_##field[elements]; \\
    for (size_t i = 0; i < elements; ++i) {{ in_##field[i] = (type)((int)next_byte() - 128); }} \\
    in.field = in_##field;
    {P}_FOR_EACH_INPUT(X)
#undef X
#define X(field, type, elements, scale, zero) \\
    static type out_##field[elements]; \\
    to.field = out_##field;
    {P}_FOR_EACH_OUTPUT(X)
#undef X
    const int32_t status = {p}_run(&in, &to, arena);
#define X(field, type, elements, scale, zero) memcpy(at, out_##field, sizeof out_##field); at += sizeof out_##field;
    {P}_FOR_EACH_OUTPUT(X)
#undef X
    return status;
}}
"""


@pytest.fixture(scope="module")
def runtime(tmp_path_factory):
    """A function that gives a compiler's objects of the C runtime, which all models share."""
    @functools.cache
    def objects(compiler):
        folder, made = tmp_path_factory.mktemp(compiler), []
        for source in sorted((CRT / "src").glob("*.c")):
            made.append(folder / f"{source.stem}.o")
            common.run([*common.cached(compiler), *common.LISTED, "-std=c99", "-O1", "-DTVM_WORKSPACE_SIZE_BYTES=4194304",
                        f"-I{CRT / 'include'}", "-c", source, "-o", made[-1]])
        return made
    return objects


@pytest.mark.parametrize("name, compiler", [(n, c) for n in OWN for c in ("gcc", "clang-19")]
                         + [(n, "gcc") for n in SHARED + SHARED_FLOAT])
def test_bytes(name, compiler, runtime, tmp_path):
    """Every convention and memory of one model in one program; the outputs are compared there."""
    path, folder = common.model_path(name), tmp_path
    variants = [(c, m) for c in ("plain", "packed", "registry") for m in ("static", "workspace")]
    # One program has one system library.
    variants.remove(("registry", "workspace"))
    prefixes, objects = [], []
    for convention, memory in variants:
        prefix = f"m_{convention}_{memory}"
        common.aotc("compile", path, "--prefix", prefix, "--input", "preserve", "--calling-convention", convention, "--memory",
                    memory, "-o", folder / prefix)
        prefixes.append(prefix)
        objects += [folder / prefix / f"{prefix}.c", folder / prefix / f"{prefix}_data.c"]
    header = (folder / prefixes[0] / f"{prefixes[0]}.h").read_text()
    count = sum(int(line.split()[2].rstrip("u")) for line in header.splitlines()
                if line.startswith("#define") and "_OUTPUT_" in line and "_BYTES " in line)
    main = folder / "main.c"
    main.write_text(PROGRAM.format(
        includes="\n".join(f'#include "{p}.h"' for p in prefixes), count=len(prefixes), bytes=count,
        runs="".join(RUN.format(p=p, P=p.upper()) for p in prefixes)
        + "static int32_t (*const runs[])(uint8_t *) = {" + ", ".join(f"run_{p}" for p in prefixes)
        + "};"))
    includes = [f"-I{folder / p}" for p in prefixes] + [f"-I{CRT / 'include'}"]
    compiled = []
    for source in objects:
        compiled.append(folder / f"{source.stem}.o")
        common.run([*common.cached(compiler), *common.LISTED, *FLAGS, *includes, "-c", source, "-o", compiled[-1]])
    compiled += runtime(compiler)
    common.run([*common.cached(compiler), *common.LISTED, "-std=gnu99", "-O1", *includes, "-c", main, "-o",
                folder / "main.o"])
    common.run([compiler, *compiled, folder / "main.o", "-lm", "-o", folder / "program"])
    common.run_program([folder / "program"])


@pytest.mark.parametrize("name", ("digits_int8", "gadget_int8", *SHARED))
def test_cost(name, tmp_path):
    """On the emulated Cortex-M4: instructions of a call over plain."""
    counted = {}
    for convention in ("plain", *LIMITS):
        folder = tmp_path / convention
        common.create_project(common.model_path(name), BOARD, folder, "--calling-convention", convention)
        counted[convention] = json.loads(common.aotc("run", folder, "--json"))
    calls = len(counted["plain"]["op_ticks"])
    over = {c: (counted[c]["instructions"] - counted["plain"]["instructions"]) / calls for c in LIMITS}
    print(f"{name}, {calls} calls, instructions per call over plain: {over}")
    assert {c: cost for c, cost in over.items() if cost > ALONE.get((name, c), LIMITS[c])} == {}
