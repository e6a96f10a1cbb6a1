# SPDX-License-Identifier: Apache-2.0
"""Many models linked into one program, for a target of emitted_cases.py: gcc or clang on this machine, others in QEMU.

Each model is compiled with its trace hook; the program reads inputs from files and writes every result.
"""
import concurrent.futures
import dataclasses
import json
import os
import string
import sys

import common
import emitted_cases
import records
import vector_layers

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
# Models with weights of 4 bits, and those with 8 that they are made of.
INT4 = {"digits_int4": "digits_int8", "glance_int4": "glance_int8", "kws_int4": "kws", "ad_int4": "ad"}

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


def model_file(folder, name):
    """The file of a model; one with weights of 4 bits, or of layers for vectors, is made in the folder."""
    path = folder / f"{name}.tflite"
    if name in vector_layers.NAMES:
        path.write_bytes(vector_layers.file(name))
        return path
    if name not in INT4:
        return common.model_path(name)
    common.run([sys.executable, common.ROOT / "scripts" / "int4-model", common.model_path(INT4[name]), path])
    return path


def require(*names):
    """The compilers and emulators of targets (emitted_cases.TARGETS) are installed."""
    for target in (emitted_cases.TARGETS[name] for name in names):
        common.require(target.compiler, *(c for c in target.command[:1] if "{" not in c))


# --- Running models ---------------------------------------------------------------------------------


@dataclasses.dataclass
class Program:
    target: str
    models: tuple = ()
    options: tuple = ()  # of aotc compile
    samples: int = 3
    optimize: str = "-O2"
    per_unit: int = 1
    aligned: bool = False  # no access may be at an address that is no multiple of its size


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


class Case:
    """A model: LiteRT's results, and its emitted C in the folder."""

    def __init__(self, name, program, folder):
        path, self.prefix = model_file(folder, name), common.prefix_of(name.rsplit("/")[-1].removesuffix(".tflite"))
        made = common.aotc("compile", path, "--prefix", self.prefix, "-o", folder / self.prefix, "--quiet", "--json",
                           *program.options)
        self._layers = json.loads(made)["layers"]
        for file in (folder / self.prefix).glob(f"{self.prefix}*.[ch]"):
            file.rename(folder / file.name)
        self._oracle = common.Oracle(path, program.samples)
        self.given, self.results = (folder / f"{self.prefix}.{end}" for end in ("in", "out"))
        self.given.write_bytes(records.pack_inputs(self._oracle.samples))

    def compare(self):
        compared, worst = common.compare(self._oracle, self._layers, records.unpack_results(self.results.read_bytes()))
        if compared == 0:
            raise common.Failure("nothing was compared")
        return f"{compared} results as LiteRT's, worst {worst} ulp"


REASONS = (common.Failure, common.Skipped, common.litert_layers.Rejected, OSError)  # for a case to fail, or to be skipped


def run(program, names, folder):
    """Runs models as one program; name -> a text or what was raised."""
    require(program.target)
    target, verdicts, cases = emitted_cases.TARGETS[program.target], {}, {}
    for name in names:
        try:
            cases[name] = Case(name, program, folder)
        except REASONS as reason:
            verdicts[name] = reason
    if not cases:
        return verdicts
    ran = ""
    try:
        units = write_sources(folder, [case.prefix for case in cases.values()], program.per_unit)
        image = build(target, folder, units, program.optimize.split())
        command = [c.format(image=image) for c in target.command]
        if program.aligned:
            common.run([*command, *watch(folder)])
            ran = "\n".join(unaligned(folder, image))
        else:
            common.run_program(command, [case.given for case in cases.values()], [case.results for case in cases.values()])
    except common.Failure as failure:
        ran = f"program: {failure}"
    for name, case in cases.items():
        try:
            verdicts[name] = case.compare()
        except REASONS as reason:
            verdicts[name] = common.Failure(f"{reason}\n{ran}")
        else:
            verdicts[name] = common.Failure(ran) if ran else verdicts[name]
    return verdicts


def tell(verdict):
    """Prints it, or raises it."""
    if isinstance(verdict, BaseException):
        raise verdict
    print(verdict)
