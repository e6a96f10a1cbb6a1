# SPDX-License-Identifier: Apache-2.0
"""Several models in one program (aotc compile --together): run in turns in one arena, they give the bytes that LiteRT's
reference kernels give and that each gives alone, on this machine and on a Cortex-M4; and what they share."""
import json
import re

import c_program
import common
import numpy as np
import pytest
from together import print_figures

# What LiteRT gives: inputs and outputs of the models, in the order of the header.
RECORDED = {"digits": (["digits/test_inputs_int8"], ["digits/test_outputs_int8"]),
            "gadget": (["gadget/inputs_int8_motion", "gadget/inputs_int8_settings"],
                       ["gadget/outputs_int8_state", "gadget/outputs_int8_trend"])}
# The last keeps a state from run to run: it is right only if nothing of it lies in the arena.
MODELS = {"digits": "digits/digits_int8", "gadget": "gadget/gadget_int8", "stream": "state/stream_conv_int8"}
DIGITS, GADGET = (common.ROOT / "tests/models" / f"{MODELS[n]}.tflite" for n in ("digits", "gadget"))
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


@pytest.mark.parametrize("options, define, compilers", (
    ([], [], ("gcc", "clang-19")), (["--arena", "model"], ["-DSET_OWN"], ("gcc",)),
    (["--output", "overwrite", "--input", "preserve"], [], ("gcc",))), ids=("default", "own", "outputs"))
def test_same_on_host(options, define, compilers, tmp_path):
    """In the caller's arena; in that of the program; with outputs in it and inputs outside."""
    figures = compiled(tmp_path, options)
    program(tmp_path, figures)
    arenas = [m["arena_bytes"] for m in figures["models"]]
    assert figures["arena_bytes"] == {"together": max(arenas), "sum": sum(arenas)}
    for compiler in compilers:
        c_program.check([c_program.build(tmp_path, emitted(tmp_path), compiler, [*c_program.SANITIZED, *define])])


def test_same_on_m4(tmp_path):
    program(tmp_path, compiled(tmp_path, [], ["--cpu", "cortex-m4f"]))
    c_program.check(c_program.command_on_m4(tmp_path, emitted(tmp_path)))


def test_once(tmp_path):
    """Equal models are there once, but for their run functions; the map names what is where."""
    both = tmp_path / "both"
    figures = json.loads(common.aotc("compile", DIGITS, DIGITS, "--together", "--name", "one", "--name", "two", "--prefix",
                                     "both", "--cpu", "cortex-m4f", "-o", both, "--json", "-q"))
    for what in ("arena_bytes", "constants_bytes", "functions"):
        assert 2 * figures[what]["together"] == figures[what]["sum"], what
    source = (both / "both.c").read_text()
    assert len(re.findall(r"^BOTH_OPERATOR$", source, re.M)) == figures["functions"]["together"]
    lines = source.splitlines()
    models = json.loads((both / "both.map.json").read_text())["models"]
    for model in models:
        assert model["functions"] == models[0]["functions"]
        for call in model["calls"]:
            assert f"{call['function']}(" in lines[call["line"] - 1], call
    assert json.loads((both / "aotc.json").read_text())["kind"] == "models"


@pytest.mark.parametrize("models, options, slug", (
    ([DIGITS, DIGITS], "", "model-names"), ([DIGITS, GADGET], "--name a", "model-names"),
    ([DIGITS, GADGET], "--name a --name 9", "model-names"),
    ([DIGITS, GADGET], "--name a --name b --prefix a", "model-names"),
    ([DIGITS, GADGET], "--name a --name a_input_image", "model-names"),
    ([DIGITS], "", "option-conflict"),
    *(([DIGITS, GADGET], options, "option-conflict") for options in (
        "--slice call", "--stream max", "--stream time", "--input rows", "--pool a:1000", "--shape image=1,8,8,1",
        "--calling-convention packed", "--memory workspace", "--interface tvm", "--constants-section .fast")),
    ([DIGITS, GADGET], "--cpu none", "cpu-unknown"), ([DIGITS, GADGET], "--format mlf", "usage"),
    ([DIGITS, DIGITS.with_name("none.tflite")], "", "file-read"),
    ([DIGITS, GADGET], "--board arduino_uno", "does-not-fit")), ids=lambda value: value if isinstance(value, str) else len(value))
def test_refused(models, options, slug, tmp_path):
    folder = tmp_path / "refused"
    command, out = ("check", []) if slug == "does-not-fit" else ("compile", ["-o", folder])
    done = common.aotc(command, *models, "--together", *options.split(), *out, expect=None)
    assert done.returncode and f"[{slug}]" in done.stderr and "error: " in done.stderr and not folder.exists(), done


@pytest.mark.parametrize("arguments", ([DIGITS, GADGET], [DIGITS, "--name", "a"]), ids=("models", "name"))
def test_needs_the_option(arguments):
    assert "[usage]" in common.aotc("compile", *arguments, expect=None).stderr


def test_a_board_that_is_too_small(tmp_path):
    done = common.aotc("compile", DIGITS, GADGET, "--together", "--board", "arduino_uno", "-o", tmp_path / "c", expect=None)
    assert done.returncode == 0 and "warning: firmware for board arduino_uno" in done.stderr and (tmp_path / "c").exists(), done


def test_figures(tmp_path):
    """Kernels that two models have are there once."""
    print_figures([("digits_int8", "gadget_int8")], tmp_path)
