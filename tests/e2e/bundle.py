#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Many models linked into one program, every layer of each bit for bit as LiteRT's.

Usage: bundle.py TARGET --work DIR [--models A,B | --ops [--every N]] [--optimize FLAGS]
                 [--input overwrite|preserve] [--output overwrite|preserve] [--cpu CPU] [--level LEVEL] [--aligned]

TARGET is one of emitted_cases.py: gcc or clang on this machine, cortex_m4 or rv32imac in QEMU. Each
model is compiled with its trace hook; the program reads inputs from files and writes every result.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import string

import common
import emitted_cases
import records

# What runs a model: in a unit that holds the model as well, or beside files that were compiled alone.
UNIT = string.Template("""\
#include <stdio.h>
#define ${upper}_TRACE
${includes}#include "bundle.h"

#define FIELD(field, c_type, elements, scale, zero_point) \\
    union { c_type at[elements]; uint64_t align; } field;
#define POINTER(field, c_type, elements, scale, zero_point) .field = bundle_${prefix}_buffers.field.at,
#if ${upper}_INPUT_IN_ARENA
#define INPUT_AT(field) ${prefix}_input_##field(bundle_${prefix}_arena + 32)
#define INPUT_POINTERS 0
#else
#define INPUT_AT(field) bundle_${prefix}_buffers.field.at
#define INPUT_POINTERS ${upper}_FOR_EACH_INPUT(POINTER)
#endif
#if ${upper}_OUTPUT_IN_ARENA
#define OUTPUT_AT(field) ${prefix}_output_##field(bundle_${prefix}_arena + 32)
#define OUTPUT_POINTERS 0
#else
#define OUTPUT_AT(field) bundle_${prefix}_buffers.field.at
#define OUTPUT_POINTERS ${upper}_FOR_EACH_OUTPUT(POINTER)
#endif
#define READ(field, c_type, elements, scale, zero_point) \\
    ok = ok && fread(INPUT_AT(field), sizeof(c_type), elements, in) == (elements);
#define WRITE(field, c_type, elements, scale, zero_point) \\
    bundle_record(0xFFFFFFFEu, result++, OUTPUT_AT(field), (elements) * sizeof(c_type));

static struct { ${upper}_FOR_EACH_INPUT(FIELD) ${upper}_FOR_EACH_OUTPUT(FIELD) } bundle_${prefix}_buffers;
static uint8_t bundle_${prefix}_arena[${upper}_ARENA_SIZE + 64u] __attribute__((aligned(16)));

void ${prefix}_trace(int32_t op, int32_t result, const void *data, uint32_t bytes)
{
    bundle_record((uint32_t)op, (uint32_t)result, data, bytes);
}

int bundle_${prefix}(void)
{
    const struct ${prefix}_inputs inputs = { INPUT_POINTERS };
    const struct ${prefix}_outputs outputs = { OUTPUT_POINTERS };
    FILE *in = bundle_open("${prefix}", "in", "rb");
    uint32_t head[2] = { 0, 0 };
    uint32_t sample, i;
    int ok = in != NULL && fread(head, 4, 2, in) == 2 && bundle_begin("${prefix}");
    for (sample = 0; ok && sample < head[1]; ++sample) {
        uint32_t result = 0;
        int32_t status;
        bundle_sample(sample);
        for (i = 0; i < sizeof bundle_${prefix}_arena; ++i) bundle_${prefix}_arena[i] = (uint8_t)(0xA5u ^ (i * 29u));
        ${upper}_FOR_EACH_INPUT(READ)
        status = ${prefix}_run(&inputs, &outputs, bundle_${prefix}_arena + 32);
        if (status != 0) printf("${prefix}: status %d\\n", (int)status);
        ok = ok && status == 0;
        for (i = 0; i < 64; ++i) {
            const uint32_t at = i < 32u ? i : ${upper}_ARENA_SIZE + i;
            if (bundle_${prefix}_arena[at] != (uint8_t)(0xA5u ^ (at * 29u))) {
                printf("${prefix}: wrote outside of its arena\\n");
                ok = 0;
            }
        }
        ${upper}_FOR_EACH_OUTPUT(WRITE)
    }
    (void)&bundle_${prefix}_buffers;
    if (in) fclose(in);
    return bundle_end() && ok;
}
#undef FIELD
#undef POINTER
#undef INPUT_AT
#undef INPUT_POINTERS
#undef OUTPUT_AT
#undef OUTPUT_POINTERS
#undef READ
#undef WRITE
""")

# Models that are refused, and with which reason.
REFUSED = {}

HEADER = """\
#ifndef BUNDLE_H
#define BUNDLE_H
#include <stdint.h>
#include <stdio.h>
FILE *bundle_open(const char *name, const char *suffix, const char *mode);
int bundle_begin(const char *name);
void bundle_sample(uint32_t sample);
void bundle_record(uint32_t op, uint32_t result, const void *data, size_t bytes);
int bundle_end(void);
#endif
"""

MAIN = string.Template("""\
#include "bundle.h"

static FILE *file;
static uint32_t sample_now;
static int good;

FILE *bundle_open(const char *name, const char *suffix, const char *mode)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.%s", "$folder", name, suffix);
    return fopen(path, mode);
}

int bundle_begin(const char *name)
{
    const uint32_t magic = 0x52544F41u;
    file = bundle_open(name, "out", "wb");
    good = file != NULL && fwrite(&magic, 4, 1, file) == 1;
    return good;
}

void bundle_sample(uint32_t sample)
{
    sample_now = sample;
}

void bundle_record(uint32_t op, uint32_t result, const void *data, size_t bytes)
{
    const uint32_t head[4] = { sample_now, op, result, (uint32_t)bytes };
    good = good && fwrite(head, 4, 4, file) == 4 &&
           (bytes == 0 || fwrite(data, 1, bytes, file) == bytes);
}

int bundle_end(void)
{
    const int closed = file != NULL && fclose(file) == 0;
    file = NULL;
    return closed && good;
}

$prototypes
int main(void)
{
    int failed = 0;
$calls    printf("%d models, %d failed\\n", $count, failed);
    return failed != 0;
}
""")


def build(target, folder, units, flags):
    launcher = common.cached(target.compiler)
    base = [*launcher, "-std=c99", "-ffp-contract=off", *flags, *target.flags]
    sources = [emitted_cases.HERE / s for s in target.sources] + units + [folder / "main.c"]

    def one(source):
        made = folder / f"{source.stem}.o"
        common.run([*base, *common.LISTED, "-I", folder, "-c", source, "-o", made], cwd=folder)
        return made

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(one, sources))
    image = folder / "bundle.elf"
    common.run([target.compiler, *target.flags, *objects, "-o", image, *target.link])
    return image


def unit_text(prefix, includes=("{}.c", "{}_data.c")):
    """C that runs a model; `includes` are the model's files that go into the same unit."""
    return UNIT.substitute(prefix=prefix, upper=prefix.upper(),
                           includes="".join(f'#include "{i.format(prefix)}"\n' for i in includes))


def main_text(prefixes, folder):
    """C that runs all models, whose inputs and results are files in `folder`."""
    return MAIN.substitute(
        folder=folder, count=len(prefixes),
        prototypes="".join(f"int bundle_{p}(void);\n" for p in prefixes),
        calls="".join(f"    failed += !bundle_{p}();\n" for p in prefixes))


def write_sources(folder, prefixes, per_unit):
    """Files of C that include `per_unit` models each."""
    (folder / "bundle.h").write_text(HEADER)
    (folder / "main.c").write_text(main_text(prefixes, folder))
    units = []
    for at in range(0, len(prefixes), per_unit):
        unit = folder / f"unit_{at}.c"
        unit.write_text("".join(unit_text(p) for p in prefixes[at:at + per_unit]))
        units.append(unit)
    return units


def require(*names):
    """The compilers and emulators of targets (emitted_cases.TARGETS) are installed."""
    for target in (emitted_cases.TARGETS[name] for name in names):
        common.require(target.compiler, *(c for c in target.command[:1] if "{" not in c))


def watch(folder):
    """Options of QEMU that load alignment_plugin.c."""
    plugin = folder / "alignment.so"
    common.run(["gcc", "-shared", "-fPIC", "-O2", "-o", plugin, common.ROOT / "tests" / "e2e" / "alignment_plugin.c"])
    return ["-plugin", f"{plugin},out={folder}/unaligned.txt"]


def unaligned(folder, image):
    """What the plugin saw, by function."""
    *lines, end = (folder / "unaligned.txt").read_text().splitlines()
    if end != "end":
        raise common.Failure("the plugin did not end")
    places = [line.split() for line in lines]
    names = common.run(["addr2line", "-f", "-e", image, *(at for at, _ in places)]).splitlines()[::2] if places else []
    return [f"{name}: {count} accesses at {at} are not aligned" for name, (at, count) in zip(names, places)]


def model_names(options):
    if options.ops:
        folder = common.ROOT / "tests" / "models" / "ops"
        return sorted(p.stem for p in folder.glob("*.tflite"))[::options.every]
    return options.models.split(",")


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", choices=emitted_cases.TARGETS)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--models", default="")
    parser.add_argument("--ops", action="store_true")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--samples", type=int, default=3)
    parser.add_argument("--optimize", default="-O2")
    parser.add_argument("--input", default="overwrite", choices=("overwrite", "preserve"))
    parser.add_argument("--output", default="preserve", choices=("overwrite", "preserve"))
    parser.add_argument("--cpu", help="what the models are compiled for; kernels in assembly run if it is the target's")
    parser.add_argument("--level", default="balanced")
    parser.add_argument("--aligned", action="store_true", help="no access may be at an address that is no multiple of its size")
    options = parser.parse_args(arguments)
    target = emitted_cases.TARGETS[options.target]
    require(options.target)
    folder = common.fresh(options.work.resolve())
    cases, refused = {}, []
    for name in model_names(options):
        path, prefix = common.model_path(name), common.prefix_of(name)
        made = common.aotc("compile", path, "--prefix", prefix, "-o", folder / prefix, "--quiet",
                           "--json", "--input", options.input, "--output", options.output,
                           "-O", options.level, *(["--cpu", options.cpu] if options.cpu else []), expect=None)
        if made.returncode or name in REFUSED:
            if made.returncode != 1 or name not in REFUSED or REFUSED[name] not in made.stderr:
                refused.append(f"{name}: exit code {made.returncode} {made.stderr.strip()}")
            continue
        for file in (folder / prefix).glob(f"{prefix}*.[ch]"):
            file.rename(folder / file.name)
        oracle = common.Oracle(path, options.samples)
        (folder / f"{prefix}.in").write_bytes(records.pack_inputs(oracle.samples))
        cases[prefix] = (name, json.loads(made.stdout)["layers"], oracle)
    units = write_sources(folder, list(cases), 20 if options.ops else 1)
    image = build(target, folder, units, options.optimize.split())
    failures, compared, worst = [f"refused: {r}" for r in refused], 0, 0
    command = [c.format(image=image) for c in target.command]
    try:
        if options.aligned:
            print(common.run([*command, *watch(folder)]).strip())
        else:
            print(common.run_program(command, reads=[folder / f"{p}.in" for p in cases],
                                     writes=[folder / f"{p}.out" for p in cases]).strip())
    except common.Failure as failure:
        failures.append(f"program: {failure}")
    if options.aligned:
        failures += unaligned(folder, image)
    for prefix, (name, layers, oracle) in cases.items():
        results = folder / f"{prefix}.out"
        try:
            found = records.unpack_results(results.read_bytes()) if results.exists() else []
            count, distance = common.compare(oracle, layers, found)
            compared, worst = compared + count, max(worst, distance)
        except common.Failure as failure:
            failures.append(f"{name}: {failure}")
    print(f"{options.target}: {len(cases)} models in one program, {compared} results as LiteRT's, "
          f"worst {worst} ulp, {len(failures)} failures")
    print(f"{max(0, len(model_names(options)) - len(failures))} passed, {len(failures)} failed")
    if failures or compared == 0:
        raise common.Failure("\n".join(failures) or "nothing was compared")


if __name__ == "__main__":
    common.main_of(main)
