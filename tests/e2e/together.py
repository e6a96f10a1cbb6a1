#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Several models in one program (aotc compile --together): run in turns in one arena, they give the bytes that LiteRT's
reference kernels give and that each gives alone, on this machine and on a Cortex-M4; and what they share.

Usage: together.py --work DIR [--only NAME] [--optimize=-O3]   all tests
       together.py figures --work DIR A,B...   arena, tables and code of pairs of models beside the sum of both
"""
import argparse
import json
import pathlib
import re

import numpy as np

import c_program
import common

M4 = c_program.M4
# What LiteRT gives: inputs and outputs of the models, in the order of the header.
RECORDED = {"digits": (["digits/test_inputs_int8"], ["digits/test_outputs_int8"]),
            "gadget": (["gadget/inputs_int8_motion", "gadget/inputs_int8_settings"],
                       ["gadget/outputs_int8_state", "gadget/outputs_int8_trend"])}
# The last keeps a state from run to run: it is right only if nothing of it lies in the arena.
MODELS = {"digits": "digits/digits_int8", "gadget": "gadget/gadget_int8", "stream": "state/stream_conv_int8"}
SAMPLES = 6

MAIN = """
#include <stdio.h>
#include <string.h>
#include "set.h"
{includes}
{recorded}
#ifdef SET_OWN
#define SHARED NULL
#else
static uint8_t shared[SET_ARENA_SIZE] __attribute__((aligned(16)));
#define SHARED shared
#endif
static uint8_t alone[SET_ARENA_SIZE] __attribute__((aligned(16)));
static uint32_t seed = 1;
static int8_t next(void) {{ seed = seed * 1664525u + 1013904223u; return (int8_t)(seed >> 24); }}
{runs}
int main(void)
{{
    int failed = 0;
    for (int turn = 0; turn < {samples}; ++turn) {{
        memset(alone, turn + 7, sizeof alone);
{turns}
    }}
    printf("%d failed\\n", failed);
    return failed != 0;
}}
"""
RUN = """
static int run_{p}(void *arena, const int8_t *in, int8_t *out)
{{
    struct {p}_inputs inputs;
    struct {p}_outputs outputs;
    int32_t status;
#ifdef {P}_STATE_SIZE
    static uint8_t state[{P}_STATE_SIZE] __attribute__((aligned({P}_STATE_ALIGN)));
    static int begun = 0;
    if (!begun && {p}_init(state) != 0) {{ return 0; }}
    begun = 1;
#endif
    (void)inputs;
    (void)outputs;
#if {P}_INPUT_IN_ARENA
#define X(field, type, elements, scale, zero) memcpy({p}_input_##field(arena), in, elements); in += elements;
#else
#define X(field, type, elements, scale, zero) inputs.field = in; in += elements;
#endif
    {P}_FOR_EACH_INPUT(X)
#undef X
#if !{P}_OUTPUT_IN_ARENA
#define X(field, type, elements, scale, zero) outputs.field = out; out += elements;
    {P}_FOR_EACH_OUTPUT(X)
#undef X
#endif
#ifdef {P}_STATE_SIZE
    status = {p}_run(&inputs, &outputs, arena, state);
#else
    status = {p}_run(&inputs, &outputs, arena);
#endif
#if {P}_OUTPUT_IN_ARENA
#define X(field, type, elements, scale, zero) memcpy(out, {p}_output_##field(arena), elements); out += elements;
    {P}_FOR_EACH_OUTPUT(X)
#undef X
#endif
    return status == 0;
}}
"""
TURN = """        {{
            static int8_t in[{inputs}], first[{outputs}], second[{outputs}];
            for (size_t i = 0; i < sizeof in; ++i) {{ in[i] = next(); }}
            {given}
            if (!run_{p}(SHARED, in, first) || !run_alone_{p}(alone, in, second) ||
                memcmp(first, second, sizeof first) != 0) {{ printf("turn %d of {p} differs from {p} alone\\n", turn); ++failed; }}
            {expected}
        }}
"""


def bytes_of(name, files, samples):
    """A table of C: of every sample all tensors behind one another."""
    parts = [np.load(common.ROOT / "tests/models" / f"{f}.npy")[:samples].reshape(samples, -1) for f in files]
    rows = np.concatenate(parts, axis=1)
    text = ",\n".join("{" + ",".join(map(str, row)) + "}" for row in rows)
    return f"static const int8_t {name}[{samples}][{rows.shape[1]}] = {{\n{text}\n}};\n"


def compiled(work, options, cpu=()):
    """The models together in work/set and each in work/alone_NAME; figures, and all sources."""
    paths = {n: common.ROOT / "tests/models" / f"{m}.tflite" for n, m in MODELS.items()}
    names = [word for n in MODELS for word in ("--name", n)]
    figures = json.loads(common.aotc("compile", *paths.values(), "--together", *names, "--prefix", "set", "-o",
                                     work / "set", "--json", "-q", *options, *cpu))
    for name, path in paths.items():
        common.aotc("compile", path, "--prefix", f"alone_{name}", "-o", work / f"alone_{name}", "-q", *cpu)
    return figures


def program(work, figures):
    """main.c, which runs all in turns."""
    recorded, runs, turns = "", "", ""
    for model in figures["models"]:
        name = model["prefix"]
        given = expected = ""
        if name in RECORDED:
            recorded += bytes_of(f"{name}_in", RECORDED[name][0], SAMPLES)
            recorded += bytes_of(f"{name}_out", RECORDED[name][1], SAMPLES)
            given = f"memcpy(in, {name}_in[turn], sizeof in);"
            expected = (f"if (memcmp(first, {name}_out[turn], sizeof first) != 0) "
                        f'{{ printf("turn %d of {name} differs from LiteRT\\n", turn); ++failed; }}')
        for prefix in (name, f"alone_{name}"):
            runs += RUN.format(p=prefix, P=prefix.upper())
        turns += TURN.format(p=name, inputs=model["input_bytes"], outputs=model["output_bytes"], given=given,
                             expected=expected)
    (work / "main.c").write_text(MAIN.format(
        includes="\n".join(f'#include "alone_{n}.h"' for n in MODELS), recorded=recorded, runs=runs, turns=turns,
        samples=SAMPLES))


def emitted(work):
    """Folders of what aotc wrote."""
    return [work / "set", *(work / f"alone_{n}" for n in MODELS)]


def same_on_host(work):
    """In the caller's arena; in that of the program; with outputs in it and inputs outside."""
    for case, options, define in (("default", [], []), ("own", ["--arena", "model"], ["-DSET_OWN"]),
                                  ("outputs", ["--output", "overwrite", "--input", "preserve"], [])):
        folder = common.fresh(work / case)
        figures = compiled(folder, options)
        program(folder, figures)
        arenas = [m["arena_bytes"] for m in figures["models"]]
        if figures["arena_bytes"] != {"together": max(arenas), "sum": sum(arenas)}:
            raise common.Failure(f"the arena is {figures['arena_bytes']}, of {arenas}")
        for compiler in ("gcc", "clang-19") if case == "default" else ("gcc",):
            c_program.check([c_program.build(folder, emitted(folder), compiler, [*c_program.SANITIZED, *define])])
            print(f"{case} by {compiler}: {SAMPLES} turns of {len(MODELS)} models")


def same_on_m4(work):
    folder = common.fresh(work / "m4")
    program(folder, compiled(folder, [], ["--cpu", "cortex-m4f"]))
    c_program.check(c_program.command_on_m4(folder, emitted(folder)))


def once(work):
    """Equal models are there once, but for their run functions; the map names what is where."""
    digits = common.ROOT / "tests/models/digits/digits_int8.tflite"
    both = common.fresh(work / "twice") / "both"
    figures = json.loads(common.aotc("compile", digits, digits, "--together", "--name", "one", "--name", "two", "--prefix",
                                     "both", "--cpu", "cortex-m4f", "-o", both, "--json", "-q"))
    for what in ("arena_bytes", "constants_bytes", "functions"):
        if 2 * figures[what]["together"] != figures[what]["sum"]:
            raise common.Failure(f"{what}: {figures[what]}")
    source = (both / "both.c").read_text()
    if len(re.findall(r"^BOTH_OPERATOR$", source, re.M)) != figures["functions"]["together"]:
        raise common.Failure("functions that are counted are not those that are there")
    lines = source.splitlines()
    models = json.loads((both / "both.map.json").read_text())["models"]
    for model in models:
        if model["functions"] != models[0]["functions"]:
            raise common.Failure("the map says that the functions are not shared")
        for call in model["calls"]:
            if f"{call['function']}(" not in lines[call["line"] - 1]:
                raise common.Failure(f"call {call['call']} of {model['name']} is not in line {call['line']}")
    if json.loads((both / "aotc.json").read_text())["kind"] != "models":
        raise common.Failure("aotc.json is of another kind")


def refused(work):
    digits, gadget = (common.ROOT / "tests/models" / f"{MODELS[n]}.tflite" for n in ("digits", "gadget"))
    for models, options, slug in (
            ([digits, digits], [], "model-names"), ([digits, gadget], ["--name", "a"], "model-names"),
            ([digits, gadget], ["--name", "a", "--name", "9"], "model-names"),
            ([digits, gadget], ["--name", "a", "--name", "b", "--prefix", "a"], "model-names"),
            ([digits, gadget], ["--name", "a", "--name", "a_input_image"], "model-names"),
            ([digits], [], "option-conflict"), ([digits, gadget], ["--slice", "call"], "option-conflict"),
            ([digits, gadget], ["--stream", "max"], "option-conflict"), ([digits, gadget], ["--stream", "time"], "option-conflict"),
            ([digits, gadget], ["--input", "rows"], "option-conflict"), ([digits, gadget], ["--pool", "a:1000"], "option-conflict"),
            ([digits, gadget], ["--shape", "image=1,8,8,1"], "option-conflict"),
            ([digits, gadget], ["--calling-convention", "packed"], "option-conflict"),
            ([digits, gadget], ["--memory", "workspace"], "option-conflict"),
            ([digits, gadget], ["--interface", "tvm"], "option-conflict"),
            ([digits, gadget], ["--constants-section", ".fast"], "option-conflict"),
            ([digits, gadget], ["--cpu", "none"], "cpu-unknown"), ([digits, gadget], ["--format", "mlf"], "usage"),
            ([digits, work / "none.tflite"], [], "file-read"),
            ([digits, gadget], ["--board", "arduino_uno"], "does-not-fit")):
        folder = work / "refused"
        command = "check" if slug == "does-not-fit" else "compile"
        done = common.aotc(command, *models, "--together", *options, *([] if command == "check" else ["-o", folder]), expect=None)
        if done.returncode == 0 or f"[{slug}]" not in done.stderr or "error: " not in done.stderr or folder.exists():
            raise common.Failure(f"{options} of {[m.name for m in models]}: {done.returncode} {done.stderr}")
    done = common.aotc("compile", digits, gadget, "--together", "--board", "arduino_uno", "-o", work / "warned", expect=None)
    if done.returncode != 0 or "warning: as firmware on board arduino_uno" not in done.stderr or not (work / "warned").exists():
        raise common.Failure(f"a board that is too small: {done.returncode} {done.stderr}")
    for arguments in ([digits, gadget], [digits, "--name", "a"]):
        if "[usage]" not in common.aotc("compile", *arguments, expect=None).stderr:
            raise common.Failure(f"{arguments} is taken")


def text_bytes(work, sources):
    """Code of sources, without tables, as the cross compiler makes it at -O2."""
    total = 0
    for source in sources:
        object_file = work / f"{source.stem}.size.o"
        common.run([M4.compiler, "-std=c99", "-O2", "-ffp-contract=off", *M4.flags, f"-I{source.parent}", "-c", source, "-o",
                    object_file])
        total += int(common.run(["arm-none-eabi-size", object_file]).splitlines()[1].split()[0])
    return total


def pair_figures(pair, work):
    """Of models that are there: bytes together and the sum of both alone."""
    paths = [common.model_path(n) for n in pair]
    folder = common.fresh(work / "_".join(pair))
    figures = json.loads(common.aotc("compile", *paths, "--together", "--prefix", "set", "--cpu", "cortex-m4f", "-o",
                                     folder / "set", "--json", "-q"))
    alone = []
    for name, path in zip(pair, paths):
        common.aotc("compile", path, "--prefix", name, "--cpu", "cortex-m4f", "-o", folder / name, "-q")
        alone.append(folder / name / f"{name}.c")
    figures["code_bytes"] = {"together": text_bytes(folder, [folder / "set" / "set.c"]), "sum": text_bytes(folder, alone)}
    return figures


def print_figures(pairs, work):
    print(f"{'':22}" + "".join(f"{what:>22}" for what in ("arena", "tables", "code", "functions")))
    for pair in pairs:
        figures = pair_figures(pair, work)
        cells = [figures[w] for w in ("arena_bytes", "constants_bytes", "code_bytes", "functions")]
        print(f"{' + '.join(pair):22}" + "".join(f"{c['together']:>11,} of {c['sum']:>7,}" for c in cells))
        for what in ("arena_bytes", "code_bytes"):
            if figures[what]["together"] >= figures[what]["sum"]:
                raise common.Failure(f"{what} of {pair} are not fewer together")


def figures(work):
    """Kernels that two models have are there once."""
    print_figures([("digits_int8", "gadget_int8")], work)


def test():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=["figures"])
    parser.add_argument("pairs", nargs="*")
    parser.add_argument("--work", type=pathlib.Path, required=True)
    c_program.add_options(parser)
    options = parser.parse_args()
    work = options.work.resolve()
    c_program.SANITIZED.append(options.optimize)
    if options.what:
        work.mkdir(parents=True, exist_ok=True)
        return print_figures([pair.split(",") for pair in options.pairs], work)
    return common.run_tests([same_on_host, same_on_m4, once, refused, figures], options.only, common.fresh(work))


if __name__ == "__main__":
    common.main_of(test)
