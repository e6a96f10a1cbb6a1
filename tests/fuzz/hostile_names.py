# SPDX-License-Identifier: Apache-2.0
"""Compiles a model whose names are made to break out of C, builds it and runs it.

Usage: hostile_names.py --aotc AOTC --model corpus/tflite/hostile_names.tflite --work DIR

The model adds up its inputs and gives every partial sum out. Every way of emitting it passes gcc and
clang with all warnings as errors, its header passes C++, and the program computes the sums. Then the
file itself gets hostile names.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys

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

passed = failed = 0


def check(what, command):
    """Runs a command that must succeed; standard output, or None."""
    global passed, failed
    done = subprocess.run([str(c) for c in command], capture_output=True, stdin=subprocess.DEVNULL,
                          timeout=600)
    if done.returncode == 0:
        passed += 1
        return done.stdout.decode(errors="replace")
    failed += 1
    text = (done.stdout + done.stderr).decode(errors="replace")
    print(f"FAILED {what}: exit code {done.returncode}\n{text[:3000]}")
    return None


def expect(what, condition):
    global passed, failed
    passed, failed = passed + bool(condition), failed + (not condition)
    if not condition:
        print(f"FAILED {what}")


def emit(aotc, model, out, *options):
    made = check(f"compile {model}", [aotc, "compile", "-o", out, "--quiet", "--json", *options,
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


def names_in_model(options):
    crt = pathlib.Path(__file__).resolve().parents[2] / "crt" / "include"
    variants = (["--prefix", "case"], [], ["--prefix", "min"], ["--prefix", "x", "--arena", "model"],
                ["--memory", "workspace"], ["--input", "preserve"],
                ["--input", "overwrite", "--output", "overwrite", "--arena", "model"])
    for number, variant in enumerate(variants):
        folder = options.work / f"variant{number}"
        prefix = emit(options.aotc, options.model, folder, *variant)
        if prefix is None:
            continue
        workspace = "workspace" in variant
        build_all(folder, prefix, not workspace, ["-I", crt] if workspace else [])
        texts_are_plain(folder, prefix)


def names_of_file(options):
    files = ["with space.tflite", "quote'\"`$(touch evil).tflite", "-dash.tflite", "--help",
             ".hidden.tflite", "ünï ☃ 名前.tflite", "0digit*?[x].tflite", "int.tflite", "NULL",
             "*.tflite", "%s%n.tflite", "new\nline.tflite", "back\\slash\\", "a" * 200 + ".tflite",
             b"\xff\xfe.tflite", "..tflite", "??!??=.tflite"]
    here = options.work / "files"
    here.mkdir()
    os.chdir(here)
    for number, name in enumerate(files):
        name = os.fsencode(name)
        shutil.copy(options.model, here / os.fsdecode(name))
        folder = options.work / f"file{number}"
        prefix = emit(options.aotc, os.fsdecode(name), folder)
        if prefix is None:
            continue
        texts_are_plain(folder, prefix)
        check(f"gcc for {name}", ["gcc", *STRICT, "-c", folder / f"{prefix}.c", "-o", os.devnull])
        reported = check(f"check {name}", [options.aotc, "check", "--json", "--",
                                           os.fsdecode(name)])
        if reported is not None:
            json.loads(reported)
    expect("nothing was run by a shell", not (here / "evil").exists())


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aotc", type=pathlib.Path, required=True)
    parser.add_argument("--model", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    for name in ("aotc", "model", "work"):
        setattr(options, name, getattr(options, name).resolve())
    shutil.rmtree(options.work, ignore_errors=True)
    options.work.mkdir(parents=True)
    names_in_model(options)
    names_of_file(options)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
