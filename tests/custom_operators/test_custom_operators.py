# SPDX-License-Identifier: Apache-2.0
"""Custom operators that a user gives as C, in a .tflite model.

The model of make_model.py as emitted C by gcc, clang and on a Cortex-M4, beside LiteRT and numpy; `aotc verify` of the
model and of a project, and what verify says of operators that do wrong; C and descriptions with one thing wrong each.
"""
import os
import pathlib
import shutil

import common
import emitted_cases
import make_model
import numpy as np
import pytest

HERE = pathlib.Path(__file__).resolve().parent

SAMPLES = 8
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror"]
MAIN = """\
#include <stdio.h>
#include <string.h>
#include "custom.h"
%s
static uint8_t arena[CUSTOM_ARENA_SIZE] __attribute__((aligned(CUSTOM_ARENA_ALIGN)));
int main(void)
{
    static int32_t place[PLACE];
    static float last[LAST];
    const struct custom_inputs inputs = { 0 };
    const struct custom_outputs outputs = { place, last };
    int sample, wrong = 0;
    for (sample = 0; sample < SAMPLES; ++sample) {
        memcpy(custom_input_x(arena), samples[sample], sizeof samples[0]);
        if (custom_run(&inputs, &outputs, arena) != 0) ++wrong;
        if (memcmp(place, places[sample], sizeof place) != 0 || memcmp(last, lasts[sample], sizeof last) != 0) ++wrong;
    }
    printf("%%d passed, %%d failed\\n", SAMPLES - wrong, wrong);
    return wrong;
}
"""


def array(c_type, name, values):
    rows = ",\n".join("{" + ", ".join(float(v).hex() if c_type == "float" else str(v) for v in row.ravel()) + "}"
                      for row in values)
    return f"static const {c_type} {name}[SAMPLES][{values[0].size}] = {{\n{rows}\n}};\n"


def inputs():
    rng = np.random.default_rng(5)
    return [rng.integers(-128, 128, (1, make_model.STEPS, make_model.CHANNELS)).astype(np.int8)
            for _ in range(SAMPLES)]


def write_main(work, out):
    wanted = [make_model.expected(work, x) for x in inputs()]
    data = (f"#define SAMPLES {SAMPLES}\n#define PLACE {wanted[0][0].size}\n#define LAST {wanted[0][1].size}\n"
            + array("int8_t", "samples", inputs()) + array("int32_t", "places", [w[0] for w in wanted])
            + array("float", "lasts", [w[1] for w in wanted]))
    (out / "main.c").write_text(MAIN % data)


def run_on(name, out, expect_passed=SAMPLES):
    target = emitted_cases.TARGETS[name]
    image = out / f"{name}.elf"
    ours = ["custom.c", "custom_data.c", "operators/operators.c", "main.c"]
    warnings = [] if target.sources else WARNINGS
    common.run([target.compiler, *target.flags, *emitted_cases.COMMON, *warnings, *ours,
                *[str(emitted_cases.HERE / s) for s in target.sources], *target.link, "-o", image], cwd=out)
    command = [part.format(image=image) for part in target.command]
    if expect_passed == SAMPLES:
        text = common.run_program(command)
    else:
        done = common.run(command, expect=None)
        text = done.stdout + done.stderr
    if f"{expect_passed} passed, {SAMPLES - expect_passed} failed" not in text:
        raise common.Failure(f"{name}: {text[-300:]}")


GIVEN = ["--operators", HERE / "operators.c"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    work = tmp_path_factory.mktemp("model")
    make_model.write(work)
    return work / "custom.tflite"


@pytest.fixture
def program(model, tmp_path):
    """The folder of the model's C and of a program that compares it with what make_model.py expects."""
    common.aotc("compile", model, *GIVEN, "-o", tmp_path / "out", "--quiet")
    write_main(model.parent, tmp_path / "out")
    return tmp_path / "out"


@pytest.mark.parametrize("target", ["gcc", "clang", "cortex_m4"])
def test_equal(target, program, record_property):
    run_on(target, program)
    record_property("cases", SAMPLES)


def test_another_operator_differs(program, record_property):
    source = program / "operators" / "operators.c"
    source.write_text(source.read_text().replace("row[f * step[0] + i]", "row[f * step[0]]"))
    run_on("gcc", program, expect_passed=0)
    record_property("cases", SAMPLES)


def test_verify(model):
    assert common.aotc("verify", model, *GIVEN, "--quiet").count("bit-exact in 5 of 5 layers") == 1


def test_verify_project(model, tmp_path, record_property):
    """From what the project holds: sources, headers beside them, descriptions."""
    project = tmp_path / "project"
    common.aotc("create", model, *GIVEN, "--board", "qemu_mps2_an386", "-o", project, "--quiet")
    assert common.aotc("verify", project, "--quiet").count("bit-exact in 5 of 5 layers") == 2
    record_property("cases", 2)


def copied(folder):
    for name in ("operators.c", "operators.json", "limits.inc"):
        shutil.copy(HERE / name, folder)
    return folder / "operators.c"


@pytest.mark.parametrize("message, old, new", [
    ("wrote outside of its tensors", "held[t * channels + c] =", "held[t * channels + c + 1] ="),
    ("wrote to an operand", "place[c] = 0;", "place[c] = 0; ((int8_t *)x)[0] = 1; ((int8_t *)x)[1] = 2;"),
    ("returned 7", "return 0;", "return 7;"),
    ("ended by signal 11", "place[c] = 0;", "*(volatile int *)0 = 0;")])
def test_wrong_in_verify(message, old, new, model, tmp_path):
    """What operators do wrong on this machine is told of them."""
    source = copied(tmp_path)
    source.write_text(source.read_text().replace(old, new))
    done = common.aotc("verify", model, "--operators", source, "--quiet", expect=None)
    assert done.returncode == 4 and "[verify-operator]" in done.stderr
    assert message in done.stderr


# What is changed in the C (or the description), the slug, and what the message has.
C_CASES = [
    ("int32_t peak_hold", "int32_t peak_holds", "operator-missing", "did you mean 'peak_holds'"),
    ("int32_t peak_hold", "static int32_t peak_hold", "operator-signature", "is static"),
    ("const int8_t *x", "const uint8_t *x", "operator-signature", "parameter 1 'x' is 'const uint8_t *'"),
    ("const float *decay", "const double *decay", "operator-signature", "tensor 4 'decay of held' (an operand of float) is passed"),
    ("const float *decay,", "const float *decay, const float *more,", "operator-signature", "has 7 parameters, but 6"),
    ("const float *row", "const char *row", "operator-signature", "'frames': parameter 1 'row'"),
    ("int32_t frames", "long frames", "operator-signature", "returns 'long'"),
    ("limits.inc", "limit.inc", "operator-source", "file not found"),
]
J_CASES = [
    ('"custom": "Frames"', '"custom": "Framed"', "op-unsupported", "'Frames' is a custom operator: pass its C code with --operators"),
    ('"shape": "x"', '"shape": "y"', "operator-description", "operators.json:10:51: error: there is no operand 'y'"),
    ('["x[-1]"]', '["x[-2]"]', "operator-description", "in the model"),
    ('["x[-1]"]', '["x[3]"]', "op-shape", "'x' has 3 dimensions, there is no x[3]"),
    ('["x[-1]"]', '["x[1"]', "op-shape", "a ']' is missing"),
    ('["x[-1]"]', '["x[1] / 0"]', "op-shape", "divides by zero"),
    ('["x[-1]"]', '[0]', "op-shape", "a dimension is at least 1"),
    ('["x[-1]"]', '["9999999999 * 9999999999"]', "op-shape", "too large"),
    ('"type": "int8"}]', '"type": "uint8"}]', "op-type", "is int8_t in the model, its description says uint8_t"),
    ('"type": "int8"}]', '"type": "int7"}]', "operator-description", "'int7' is not an element type"),
    ('"default": 8}', '"default": 8}, {"name": "more", "type": "int32"}', "op-attribute",
     "the model gives no number 'more'"),
    ('"name": "step", "type": "int32"', '"name": "step", "type": "bool"', "op-attribute", "'step' is 7, which is no"),
    ('"x.zero_point"', '"x.zero"', "operator-description", "'x' has no 'zero'"),
    ('"decay", "held"', '"held", "decay"', "operator-description", "results must be the last parameters of the function"),
    ('"held", "place"]', '"held"]', "operator-description", "result 'place' is missing"),
    ('"function": "frames"', '"function": "for"', "operator-description", "cannot be the name of a C function"),
    ('"function": "frames"', '"functions": "frames"', "operator-description", 'did you mean "function"?'),
    ('"operands": [{"name": "row", "type": "float32"}],', '', "operator-description", '"operands" is missing'),
    ('"custom": "Frames"', '"custom": "PeakHold"', "operator-description", "is described twice"),
    ('{"name": "row"', '{"name": "step"', "operator-description", "the name 'step' is used twice"),
    ('"operators": [', '"operators": ', "operator-description", "operators.json:"),
    ('"parameters": ["row", "step", "out.shape", "out"]', '"parameters": ["row", "row.scale", "out"]',
     "op-quantization", "'row' has no scale"),
]


def refusal(model, folder, arguments, slug, message, env=None):
    done = common.aotc("compile", model, *arguments, "-o", folder / "out", "--quiet", expect=None,
                       env={**os.environ, **(env or {})})
    assert done.returncode == (5 if slug == "tool-missing" else 1)
    assert f"[{slug}]" in done.stderr and message in done.stderr
    assert not (folder / "out").exists()


@pytest.mark.parametrize("name, old, new, slug, message", [("operators.c", *c) for c in C_CASES] +
                         [("operators.json", *c) for c in J_CASES])
def test_refused(name, old, new, slug, message, model, tmp_path):
    source, changed = copied(tmp_path), tmp_path / name
    assert old in changed.read_text()
    changed.write_text(changed.read_text().replace(old, new, 1))
    refusal(model, tmp_path, ["--operators", source], slug, message)


def test_description_is_missing(model, tmp_path):
    shutil.copy(HERE / "operators.c", tmp_path)
    refusal(model, tmp_path, ["--operators", tmp_path / "operators.c"], "operator-description", "operators.json")


def test_no_source(model, tmp_path):
    refusal(model, tmp_path, ["--operators", HERE / "operators.json"], "operator-description", "no C source")


def test_tool_is_missing(model, tmp_path):
    refusal(model, tmp_path, GIVEN, "tool-missing", "AOTC_ANALYZE", {"AOTC_ANALYZE": "/nowhere/aotc-analyze"})
