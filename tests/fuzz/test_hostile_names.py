# SPDX-License-Identifier: Apache-2.0
"""Compiles a model whose names are made to break out of C, builds it and runs it.

The model adds up its inputs and gives every partial sum out. Every way of emitting it passes gcc and
clang with all warnings as errors, its header passes C++, and the program computes the sums. Then the
file itself gets hostile names.
"""
import json
import os
import pathlib
import shutil
import subprocess

import common
import pytest

MODEL = pathlib.Path(__file__).resolve().parent / "corpus" / "tflite" / "hostile_names.tflite"
STRICT = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
# -trigraphs is what -std=c99 does: without it the trigraphs in names would mean nothing.
COMPILERS = (["gcc", "-trigraphs"], ["clang-19", "-trigraphs", "-Wno-unused-command-line-argument"])
CPP = ["-x", "c++", "-std=c++11", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]

# Input k (from 0) holds k + 1; the first partial sum is of two inputs.
MAIN = """
#include <stdio.h>
#include "{p}.h"
#if !{U}_INPUT_IN_ARENA
#define DECLARE(field, type, n, scale, zero) static type given_##field[n];
{U}_FOR_EACH_INPUT(DECLARE)
#undef DECLARE
#define GIVEN(field) inputs.field = given_##field; at = given_##field
#else
#define GIVEN(field) at = {p}_input_##field(aligned)
#endif
#if !{U}_OUTPUT_IN_ARENA
#define DECLARE(field, type, n, scale, zero) static type made_##field[n];
{U}_FOR_EACH_OUTPUT(DECLARE)
#define POINT(field, type, n, scale, zero) outputs.field = made_##field;
#define MADE(field) made_##field
#else
#define POINT(field, type, n, scale, zero)
#define MADE(field) {p}_output_##field(aligned)
#endif
static uint64_t arena[{U}_ARENA_SIZE / 8u + 2u];
int main(void)
{{
    struct {p}_inputs inputs = {{ 0 }};
    struct {p}_outputs outputs = {{ 0 }};
    float value = 0.0f, expected = 1.0f, step = 1.0f, *at;
    int bad = 0, checked = 0, i;
    void *aligned = (void *)(((uintptr_t)arena + 15u) & ~(uintptr_t)15u);
#define FILL(field, type, n, scale, zero) \\
    value += 1.0f; GIVEN(field); for (i = 0; i < n; ++i) {{ at[i] = value; }}
    {U}_FOR_EACH_INPUT(FILL)
    {U}_FOR_EACH_OUTPUT(POINT)
    if ({p}_run(&inputs, &outputs, aligned) != 0) {{ return 2; }}
#define CHECK(field, type, n, scale, zero) step += 1.0f; expected += step; \\
    for (i = 0; i < n; ++i) {{ checked += 1; bad += !(MADE(field)[i] >= expected && MADE(field)[i] <= expected); }}
    {U}_FOR_EACH_OUTPUT(CHECK)
    printf("%d elements checked, %d wrong\\n", checked, bad);
    return bad != 0 || checked != 4 * {U}_OUTPUT_COUNT || {U}_OUTPUT_COUNT < 50;
}}
"""
_subtests = []


@pytest.fixture(autouse=True)
def each_check(subtests):
    """Each check is a subtest, so that those behind a failure are made, too."""
    _subtests.append(subtests)
    yield
    _subtests.pop()


def check(what, command):
    """Runs a command that must succeed; standard output, or None."""
    done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=600)
    text = (done.stdout + done.stderr).decode(errors="replace")
    with _subtests[-1].test(what):
        assert done.returncode == 0, text[:3000]
    return done.stdout.decode(errors="replace") if done.returncode == 0 else None


def expect(what, condition):
    with _subtests[-1].test(what):
        assert condition


def emit(model, out, *options):
    made = check("compile", [common.AOTC, "compile", "-o", out, "--quiet", "--json", *options,
                                      "--", model])
    return json.loads(made)["prefix"] if made else None


def build_all(folder, prefix, program=True, includes=()):
    for compiler in COMPILERS:
        for define in ([], [f"-D{prefix.upper()}_TRACE"]):
            check(f"{compiler[0]} {define} {prefix}.c",
                  [*compiler, *STRICT, "-O1", *define, *includes, "-c", folder / f"{prefix}.c",
                   "-o", os.devnull])
        check(f"{compiler[0]} {prefix}_data.c", [*compiler, *STRICT, "-c",
                                                 folder / f"{prefix}_data.c", "-o", os.devnull])
        if not program:
            continue
        main = folder / "main.c"
        main.write_text(MAIN.format(p=prefix, U=prefix.upper()))
        image = folder / f"program_{compiler[0]}"
        built = check(f"{compiler[0]} program", [
            *compiler, "-std=c99", "-Wall", "-Werror", "-fsanitize=address,undefined",
            folder / f"{prefix}.c", folder / f"{prefix}_data.c", main, "-lm", "-o", image])
        if built is not None:
            print((check("run", [image]) or "").strip())
    for compiler in ("g++", "clang++-19"):
        check(f"{compiler} {prefix}.h", [compiler, *CPP, "-include", folder / f"{prefix}.h",
                                         "/dev/null"])


def texts_are_plain(folder, prefix):
    for file in folder.glob(f"{prefix}*.[ch]"):
        data = file.read_bytes()
        expect(f"{file.name} is printable ASCII", all(b == 10 or 32 <= b < 127 for b in data))
        expect(f"{file.name} has no trigraph", b"??" not in data)
    source_map = (folder / f"{prefix}.map.json").read_bytes()
    try:
        json.loads(source_map.decode())
        expect("source map", True)
    except ValueError as error:
        expect(f"source map: {error}", False)


@pytest.mark.parametrize("variant", [
    ["--prefix", "case"], [], ["--prefix", "min"], ["--prefix", "x", "--arena", "model"], ["--memory", "workspace"],
    ["--input", "preserve"], ["--input", "overwrite", "--output", "overwrite", "--arena", "model"]],
    ids=lambda variant: " ".join(variant) or "default")
def test_names_in_model(variant, tmp_path):
    prefix = emit(MODEL, tmp_path / "out", *variant)
    if prefix is not None:
        workspace = "workspace" in variant
        build_all(tmp_path / "out", prefix, not workspace, ["-I", common.ROOT / "crt" / "include"] if workspace else [])
        texts_are_plain(tmp_path / "out", prefix)


FILES = ["with space.tflite", "quote'\"`$(touch evil).tflite", "-dash.tflite", "--help",
         ".hidden.tflite", "ünï ☃ 名前.tflite", "0digit*?[x].tflite", "int.tflite", "NULL",
         "*.tflite", "%s%n.tflite", "new\nline.tflite", "back\\slash\\", "a" * 200 + ".tflite",
         b"\xff\xfe.tflite", "..tflite", "??!??=.tflite"]


@pytest.mark.parametrize("name", FILES, ids=[ascii(name)[:40] for name in FILES])
def test_name_of_file(name, tmp_path, monkeypatch):
    here, folder = tmp_path / "files", tmp_path / "out"
    here.mkdir()
    monkeypatch.chdir(here)
    name = os.fsdecode(os.fsencode(name))
    shutil.copy(MODEL, here / name)
    prefix = emit(name, folder)
    if prefix is None:
        return
    texts_are_plain(folder, prefix)
    check("gcc", ["gcc", *STRICT, "-c", folder / f"{prefix}.c", "-o", os.devnull])
    reported = check("check", [common.AOTC, "check", "--json", "--", name])
    if reported is not None:
        json.loads(reported)
    expect("nothing was run by a shell", not (here / "evil").exists())
