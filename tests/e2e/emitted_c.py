#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Properties of the files that aotc writes, whatever the model.

Usage: emitted_c.py CHECK --work DIR

strict         gcc, clang and clang for a 32-bit CPU accept them without a warning; C++ accepts the header
tidy           clang-tidy's bugprone checks find nothing
hostile        tensor names made to break out of C reach it harmless
deterministic  compiling twice gives the same bytes, wherever it is run
workspace      --memory workspace and --arena model compute what the default does
arguments      a null or misaligned pointer, also in a struct, gives the status that the header names
arithmetic     floats are rounded after every operation, or the compiler is refused
fast_math      -ffast-math and its parts are refused or have no effect
without_gnuc   compilers without __GNUC__ align tables and arenas as C11 says, or are refused
kernels        NAME_KERNELS, and a message where a core of the family gets the portable halves
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import string

import bundle
import common
import emitted_cases
import records
from tflite_builder import ModelBuilder

STRICT = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
CPP = ["-x", "c++", "-std=c++11", "-pedantic", "-Wall", "-Wextra", "-Werror"]
# Swappable parameters are what matrix code is made of. Indices are int32_t, proven to be in range: on
# a 64-bit CPU they widen, so the check is for a 32-bit CPU, which the code is for.
TIDY = "-*,bugprone-*,-bugprone-easily-swappable-parameters"
# An int8_t is a number, no character: widening it keeps its sign, as it should.
TIDY_OPTIONS = "{CheckOptions: {bugprone-signed-char-misuse.CharTypdefsToIgnore: 'int8_t'}}"
CPU_32 = ["--target=thumbv7em-none-eabi", "-isystem", "/usr/lib/arm-none-eabi/include"]


SSE = ["-msse2", "-mfpmath=sse"]


def sample_models(every=6):
    """Whole models and a sample of single operators."""
    found = sorted((common.SHARED / "models").glob("*.tflite"))
    if not found and os.environ.get("CI") == "true":
        raise common.Failure(f"{common.SHARED}/models is missing, and CI=true")
    for folder, step in (("digits", 1), ("gadget", 1), ("ops", every)):
        found += sorted((common.ROOT / "tests" / "models" / folder).glob("*.tflite"))[::step]
    return [path for path in found if path.stem not in bundle.REFUSED]


COLUMNS = 110
# A condition that a range of one value makes of two.
ONE_VALUE = re.compile(r"\b(\w+) >= (-?\d+) && \1 <= \2\b")


def check_text(folder):
    """No line is too long, and no condition is written as a range of one value."""
    for file in folder.glob("*.[ch]"):
        for number, line in enumerate(file.read_text().split("\n"), 1):
            if len(line) > COLUMNS:
                raise common.Failure(f"{file}:{number}: {len(line)} columns\n{line}")
            if ONE_VALUE.search(line):
                raise common.Failure(f"{file}:{number}: a range of one value\n{line}")


def emit(path, folder, prefix=None, *options):
    prefix = prefix or common.prefix_of(path.stem)
    common.aotc("compile", path, "--prefix", prefix, "-o", folder, "--quiet", *options)
    check_text(folder)
    return prefix


def run_all(commands):
    def one(command):
        done = common.run(command, expect=None)
        return done.returncode, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        bad = [text for code, text in pool.map(one, commands) if code != 0]
    print(f"{len(commands) - len(bad)} passed, {len(bad)} failed")
    if bad or not commands:
        raise common.Failure("\n".join(text[:1500] for text in bad[:5]))


def strict_commands(folder, prefix):
    trace = f"-D{prefix.upper()}_TRACE"
    for compiler in ("gcc", "clang-19"):
        for options in ([], [trace]):
            yield [*common.cached(compiler), *STRICT, "-O2", *options, "-c", folder / f"{prefix}.c",
                   "-o", "/dev/null"]
        yield [*common.cached(compiler), *STRICT, "-c", folder / f"{prefix}_data.c", "-o",
               "/dev/null"]
    # On a 32-bit CPU other conversions are implicit.
    yield [*common.cached("arm-none-eabi-gcc"), *STRICT, "-mcpu=cortex-m4", "-mthumb", "-O2", "-c",
           folder / f"{prefix}.c", "-o", "/dev/null"]
    for compiler in ("g++", "clang++-19"):
        yield [compiler, *CPP, "-fsyntax-only", "-include", folder / f"{prefix}.h", "/dev/null"]


# Boards whose kernels are assembly, and the CPU's options.
KERNEL_CPUS = {"qemu_mps2_an386": ["-mcpu=cortex-m4", "-mfloat-abi=hard"],
               "qemu_mps3_an547": ["-mcpu=cortex-m55", "-mfloat-abi=hard"]}
# Models whose kernels are compiled for both, and the levels.
KERNEL_MODELS = {"kws": ("balanced",), "vww": ("speed",), "resnet": ("speed",), "strww": ("balanced",),
                 "gadget_int8": ("balanced", "speed")}


def kernel_commands(path, work):
    """The kernels of both boards, at the ends of what compilers do to them."""
    for board, cpu in KERNEL_CPUS.items():
        for level in KERNEL_MODELS[path.stem]:
            folder = work / f"{path.stem}_{board}_{level}"
            prefix = emit(path, folder, None, "--board", board, "-O", level)
            for optimise in (["-O0", "-fstack-protector-all"], ["-O3", "-fPIC"]):
                tail = [*STRICT, *cpu, *optimise, "-c", folder / f"{prefix}.c", "-o", "/dev/null"]
                yield [*common.cached("arm-none-eabi-gcc"), "-mthumb", *tail]
                yield [*common.cached("clang-19"), "--target=arm-none-eabi", "-isystem",
                       "/usr/lib/arm-none-eabi/include", *tail]


def strict(work):
    common.require("gcc", "g++", "clang-19", "clang++-19", "arm-none-eabi-gcc")
    commands = []
    for path in sample_models():
        prefix = emit(path, work / path.stem)
        commands += strict_commands(work / path.stem, prefix)
        if path.stem in KERNEL_MODELS:
            commands += kernel_commands(path, work)
    for path in sample_models()[:12:4]:
        for number, options in enumerate((
                ("--arena", "model"), ("--memory", "workspace"), ("--input", "preserve"),
                ("--input", "overwrite", "--output", "overwrite"),
                ("--arena", "model", "--input", "overwrite", "--output", "overwrite"))):
            folder = work / f"{path.stem}_{number}"
            prefix = emit(path, folder, None, *options)
            for compiler in ("gcc", "clang-19"):
                for file in (f"{prefix}.c", f"{prefix}_data.c"):
                    commands.append([compiler, *STRICT, "-O2", "-I", common.ROOT / "crt" / "include",
                                     "-c", folder / file, "-o", "/dev/null"])
            for compiler in ("g++", "clang++-19"):
                commands.append([compiler, *CPP, "-fsyntax-only", "-include", folder / f"{prefix}.h",
                                 "/dev/null"])
    run_all(commands)


def tidy(work):
    common.require("clang-tidy-19")
    commands = []
    for path in sample_models():
        prefix = emit(path, work / path.stem)
        files = [work / path.stem / f"{prefix}.c"]
        if path.stat().st_size < 20_000:
            files.append(work / path.stem / f"{prefix}_data.c")
        commands.append(["clang-tidy-19", "--quiet", f"--checks={TIDY}", f"--config={TIDY_OPTIONS}", "--warnings-as-errors=*",
                         *files, "--", "-std=c99", *CPU_32])
    run_all(commands)


HOSTILE = [
    "*/ int evil; /*", "x\"; system(\"true\"); \"", "// \\\n", "??/", "a\nb", "#define int float",
    "%s%n%d", "int", "static", "KWS_RUN", "0digit", "", "ü ☃ 名前", "a" * 3000, "main", "x", "x",
    "X", "_x", "__x", "run", "model_run", "arena", "inputs",
]


def hostile(work):
    """One input of each name, all added up; the program still computes what LiteRT does."""
    common.require("gcc", "clang-19", "g++", "clang++-19", "arm-none-eabi-gcc")
    m = ModelBuilder()
    inputs = [m.tensor(name, "int8", (1, 4), 0.1, 0) for name in HOSTILE]
    total = inputs[0]
    for name, other in zip(HOSTILE[1:], inputs[1:]):
        result = m.tensor(f"{name} */ sum", "int8", (1, 4), 0.2, 1)
        m.op("ADD", [total, other], [result])
        total = result
    path = work / "hostile.tflite"
    path.write_bytes(m.finish(inputs, [total]))
    for prefix in (None, "model"):
        prefix = emit(path, work / "emitted", prefix, "--force")
        run_all(list(strict_commands(work / "emitted", prefix)))
        for file in (work / "emitted").glob(f"{prefix}*.[ch]"):
            for line in file.read_text().split("\n"):
                if any(ord(c) < 32 for c in line):
                    raise common.Failure(f"{file}: a control character: {line!r}")
    # The name does not matter either when it is the file's.
    odd = work / "0 odd-name*.tflite"
    odd.write_bytes(path.read_bytes())
    made = json.loads(common.aotc("compile", odd, "-o", work / "odd", "--quiet", "--json"))
    run_all(list(strict_commands(work / "odd", made["prefix"])))
    oracle = common.Oracle(path, 3)
    run_bundle(work / "bundle", {"hostile": (path, oracle, [])})


def run_bundle(folder, models, flags=(), sources=(), target="gcc"):
    """Builds and compares prefix -> (path, oracle, options of compile) as one program of the host."""
    common.fresh(folder)
    layers = {}
    for prefix, (path, oracle, options) in models.items():
        made = common.aotc("compile", path, "--prefix", prefix, "-o", folder / prefix, "--quiet",
                           "--json", *options)
        layers[prefix] = json.loads(made)["layers"]
        for file in (folder / prefix).glob(f"{prefix}*.[ch]"):
            file.rename(folder / file.name)
        (folder / f"{prefix}.in").write_bytes(records.pack_inputs(oracle.samples))
    units = bundle.write_sources(folder, list(models), 1)
    image = bundle.build(emitted_cases.TARGETS[target], folder, [*units, *sources],
                         ["-O2", "-Wall", *flags])
    print(common.run_program([image], [folder / f"{p}.in" for p in models], [folder / f"{p}.out" for p in models]).strip())
    for prefix, (_, oracle, _) in models.items():
        found = records.unpack_results((folder / f"{prefix}.out").read_bytes())
        compared, _ = common.compare(oracle, layers[prefix], found)
        print(f"{prefix}: {compared} results as LiteRT's")


def contents(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes()
            for p in sorted(folder.rglob("*")) if p.is_file()}


def deterministic(work):
    for path in sample_models():
        prefix = common.prefix_of(path.stem)
        emit(path, work / "first" / path.stem, prefix)
        # From a copy elsewhere, run elsewhere, in another environment.
        copy = work / "elsewhere" / path.name
        copy.parent.mkdir(exist_ok=True)
        shutil.copy(path, copy)
        environment = {"AOTC": os.environ.get("AOTC", ""), "LC_ALL": "C", "TZ": "Asia/Tokyo",
                       "HOME": "/nonexistent", "PATH": os.environ["PATH"]}
        program = environment["AOTC"] or common.ROOT / "build" / "release" / "compiler" / "aotc"
        common.run([program, "compile", path.name, "--prefix", prefix, "-o", "second/" + path.stem,
                    "--quiet"], cwd=copy.parent, env=environment)
        first = contents(work / "first" / path.stem)
        second = contents(copy.parent / "second" / path.stem)
        different = [n for n in first.keys() | second.keys() if first.get(n) != second.get(n)]
        if different or not first:
            raise common.Failure(f"{path.name}: differs between two runs: {sorted(different)}")
    print(f"{len(sample_models())} models: the same bytes twice")


def workspace(work):
    """Intermediates from the C runtime, and an arena of the model's own, on host and board."""
    models = {}
    for name in ("digits_int8", "gadget_int8", "digits_f32"):
        path = common.model_path(name)
        oracle = common.Oracle(path, 3)
        models[name + "_ws"] = (path, oracle, ["--memory", "workspace"])
        models[name + "_own"] = (path, oracle, ["--arena", "model"])
        models[name + "_own_all"] = (path, oracle, ["--arena", "model", "--input", "overwrite",
                                                    "--output", "overwrite"])
    crt = common.ROOT / "crt"
    run_bundle(work / "host", models, ["-I", crt / "include", "-DTVM_WORKSPACE_SIZE_BYTES=65536"], sorted((crt / "src").glob("*.c")))
    for name in ("digits_int8", "gadget_int8"):
        for option in ("--memory", "workspace"), ("--arena", "model"):
            board = "qemu_mps2_an386"
            project = work / f"{name}_{option[1]}"
            path, oracle, _ = models[name + "_ws"]
            if common.create_project(path, board, project, *option) is None:
                raise common.Failure(f"{name} does not fit {board}")
            report = common.report(project)
            found, figures = common.verify_on_board(project, board, oracle.samples)
            compared, _ = common.compare(oracle, report["layers"], found)
            common.aotc("verify", project)
            print(f"{name} {' '.join(option)} on {board}: {compared} results as LiteRT's, "
                  f"{figures['instructions']} instructions")


# Every pointer of the run function null in turn, then those to larger elements off by one byte.
ARGUMENTS = string.Template("""\
#include <stdio.h>
#include "$prefix.h"
#define FIELD(field, c_type, elements, scale, zero_point) \\
    union { c_type at[elements]; char bytes[sizeof(c_type) * (elements) + 8]; uint64_t align; } field;
#define POINTER(field, c_type, elements, scale, zero_point) .field = buffers.field.at,
static struct { ${upper}_FOR_EACH_INPUT(FIELD) ${upper}_FOR_EACH_OUTPUT(FIELD) } buffers;
static uint8_t arena[${upper}_ARENA_SIZE + 16] __attribute__((aligned(16)));
static const struct ${prefix}_inputs inputs = { ${upper}_FOR_EACH_INPUT(POINTER) };
static const struct ${prefix}_outputs outputs = { ${upper}_FOR_EACH_OUTPUT(POINTER) };
static int bad, asked;
static void expect(const char *what, int32_t wanted, int32_t status)
{
    ++asked;
    if (status == wanted) { return; }
    ++bad;
    printf("%s: status %d\\n", what, (int)status);
}
#define WRONG(kind, field, c_type)                                                                  \\
    {                                                                                               \\
        struct ${prefix}_##kind changed = kind;                                                     \\
        changed.field = NULL;                                                                       \\
        expect(#kind "." #field " null", ${upper}_ERROR_ARGUMENT, RUN_WITH_##kind(&changed));       \\
        changed.field = (void *)(buffers.field.bytes + 1);                                          \\
        expect(#kind "." #field " odd", sizeof(c_type) > 1 ? ${upper}_ERROR_ARGUMENT : 0,           \\
               RUN_WITH_##kind(&changed));                                                          \\
    }
#define ARENA_WANTED (${upper}_ARENA_SIZE > 0 ? ${upper}_ERROR_ARGUMENT : 0)
#define RUN_WITH_inputs(changed) ${prefix}_run(changed, &outputs, arena)
#define RUN_WITH_outputs(changed) ${prefix}_run(&inputs, changed, arena)
#define WRONG_INPUT(field, c_type, elements, scale, zero_point) WRONG(inputs, field, c_type)
#define WRONG_OUTPUT(field, c_type, elements, scale, zero_point) WRONG(outputs, field, c_type)
int main(void)
{
    expect("all well", 0, ${prefix}_run(&inputs, &outputs, arena));
    expect("inputs null", ${upper}_ERROR_ARGUMENT, ${prefix}_run(NULL, &outputs, arena));
    expect("outputs null", ${upper}_ERROR_ARGUMENT, ${prefix}_run(&inputs, NULL, arena));
    expect("arena null", ARENA_WANTED, ${prefix}_run(&inputs, &outputs, NULL));
    expect("arena odd", ARENA_WANTED, ${prefix}_run(&inputs, &outputs, arena + 4));
    ${upper}_FOR_EACH_INPUT(WRONG_INPUT)
    ${upper}_FOR_EACH_OUTPUT(WRONG_OUTPUT)
    printf("%d asked, %d wrong\\n", asked, bad);
    return bad != 0;
}
""")


def arguments(work):
    common.require("gcc", "clang-19")
    for name in ("gadget_f32", "gadget_int8", "argmax_axis1_int64_int8"):
        folder = work / name
        prefix = emit(common.model_path(name), folder, None, "--input", "preserve")
        (folder / "ask.c").write_text(ARGUMENTS.substitute(prefix=prefix, upper=prefix.upper()))
        sources = [folder / f for f in ("ask.c", f"{prefix}.c", f"{prefix}_data.c")]
        for compiler, *flags in (("gcc", "-O2"), ("clang-19", "-O2"), ("gcc", "-Os", "-m32", *SSE)):
            image = folder / "ask"
            common.run([compiler, "-std=c99", "-Wall", "-Wextra", *flags, *sources, "-o", image, "-lm"])
            print(f"{name}, {compiler} {' '.join(flags)}: {common.run_program([image]).strip()}")


# A compiler that may fuse products and additions, and what it then calls the instruction.
FUSING = ((["gcc", "-std=gnu11", "-mfma"], "vfm"), (["clang-19", "-std=gnu11", "-mfma"], "vfm"),
          (["arm-none-eabi-gcc", "-std=gnu11", "-mcpu=cortex-m4", "-mfloat-abi=hard"], "vfma"))


def arithmetic(work):
    common.require("gcc", "clang-19", "arm-none-eabi-gcc")
    folder = work / "float"
    prefix = emit(common.model_path("gadget_f32"), folder)
    source = folder / f"{prefix}.c"
    text = source.read_text()
    free = folder / "free.c"
    free.write_text("\n".join(line for line in text.split("\n")
                              if "FP_CONTRACT" not in line and "fp-contract" not in line))
    for command, fused in FUSING:
        for file, expected in ((source, False), (free, True)):
            made = common.run([*command, "-O2", "-S", file, "-o", "-"])
            if (fused in made) != expected:
                raise common.Failure(f"{' '.join(command)} {file.name}: '{fused}' is "
                                     f"{'missing' if expected else 'there'}")
    print(f"{len(FUSING)} compilers fuse nothing, and would without the pragmas")
    for compiler, *flags in (("gcc", "-m32"), ("clang-19", "-m32", "-mno-sse"),
                             ("gcc", "-m32", "-mfpmath=387")):
        for file in (source, folder / f"{prefix}_data.c"):
            done = common.run([compiler, "-std=c99", *flags, "-c", file, "-o", "/dev/null"],
                              expect=None)
            if done.returncode == 0 or "FLT_EVAL_METHOD is not 0" not in done.stderr:
                raise common.Failure(f"{compiler} {' '.join(flags)} {file.name}: exit code "
                                     f"{done.returncode}\n{done.stderr[:1000]}")
    whole = emit(common.model_path("digits_int8"), work / "whole")
    for compiler in ("gcc", "clang-19"):
        common.run([compiler, "-std=c99", "-m32", *SSE, "-c", source, "-o", "/dev/null"])
        common.run([compiler, "-std=c99", "-m32", "-mno-sse", "-c", work / "whole" / f"{whole}.c", "-o",
                    "/dev/null"])
    print("x87 is refused for floats and no matter for integers")


# Options that a macro tells of: they are refused.
TOLD = {"gcc": (["-ffast-math"], ["-Ofast"], ["-ffinite-math-only"], ["-freciprocal-math"], ["-fno-signed-zeros"],
                ["-funsafe-math-optimizations"], ["-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math"]),
        "clang-19": (["-ffast-math"], ["-ffinite-math-only"], ["-Ofast", "-Wno-deprecated-ofast"])}
TOLD["arm-none-eabi-gcc"] = TOLD["gcc"]
# Options that no macro tells of: they change nothing.
SILENT = ["-O3", "-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math", "-freciprocal-math",
          "-funsafe-math-optimizations", "-ffp-contract=on"]


def fast_math(work):
    """Options with which compilers compute floats otherwise: refused, or without effect."""
    common.require(*TOLD, "avr-gcc")
    told = 0
    # One that computes with floats, one that only compares them, one without.
    for name, refused in (("gadget_f32", True), ("argmax_last_f32", True), ("digits_int8", False)):
        folder = work / name
        prefix = emit(common.model_path(name), folder)
        for compiler, choices in TOLD.items():
            for flags in choices:
                command = [compiler, *STRICT, *flags, "-c", folder / f"{prefix}.c", "-o", "/dev/null"]
                done = common.run(command, expect=None)
                messages = (f"{prefix}: -ffast-math and its parts change results",
                            f"-fno-fast-math, or define {prefix.upper()}_FAST_MATH")
                if (done.returncode != 0) != refused or refused and any(m not in done.stderr for m in messages):
                    raise common.Failure(f"{command}: exit code {done.returncode}\n{done.stderr[:1000]}")
                for more in ([f"-D{prefix.upper()}_FAST_MATH"], ["-fno-fast-math", "-fno-finite-math-only", "-fno-reciprocal-math",
                             "-fsigned-zeros", "-fno-associative-math", "-fno-unsafe-math-optimizations"]):
                    common.run([*command, *more])
                told += refused
    print(f"{told} times told")
    models = {name: (common.model_path(name), common.Oracle(common.model_path(name), 3), []) for name in ("gadget_f32", "digits_f32")}
    run_bundle(work / "silent", models, SILENT, target="clang")
    # gcc before 12 has no macros of single options.
    source = work / "gadget_f32" / "gadget_f32.c"
    made = [common.run(["avr-gcc", "-mmcu=atmega2560", "-std=c99", "-O2", *flags, "-S", source, "-o", "-"])
            for flags in ((), ("-funsafe-math-optimizations",))]
    if made[0] != made[1]:
        raise common.Failure("-funsafe-math-optimizations changes what avr-gcc makes")


# A compiler without __GNUC__, as tcc, IAR and others are. Small data is not aligned by itself with -Os.
OTHER = ["gcc", "-U__GNUC__", "-Os", "-fdata-sections", "-w"]


def alignments(object_file):
    """Symbol -> alignment of its section, which has its name at the end."""
    found = {}
    for line in common.run(["readelf", "-SW", object_file]).splitlines():
        part = re.match(r" *\[ *\d+\] \.(?:ro)?(?:data|bss)\.(?:rel\.ro\.)?(?:local\.)?(\w+) .* (\d+)$", line)
        if part:
            found[part[1]] = int(part[2])
    return found


def without_gnuc(work):
    """Tables and arenas are aligned by C11, or the compiler is refused, in every file that has some."""
    common.require("gcc", "readelf")
    path, state = common.model_path("digits_int8"), common.ROOT / "tests/models/state/accumulator_int8.tflite"
    emit(path, work / "own", "own", "--arena", "model")
    emit(path, work / "sections", "sections", "--constants-section", ".weights")
    emit(state, work / "tvm", "tvm", "--interface", "tvm")
    wanted = {"own": ("own_data.c", {"own_arena": 16, "own_call0_weights": 4}), "tvm": ("tvmgen_tvm.c", {"state": 16, "global_workspace": 16})}
    for folder, (file, least) in wanted.items():
        source, made = work / folder / file, work / f"{folder}.o"
        for flags in (["-std=c11"], ["-std=c99", f"-D{folder.upper()}_ALIGNED(n)=_Alignas(n)"]):
            common.run([*OTHER, *flags, "-c", source, "-o", made])
            have = alignments(made)
            for name, alignment in least.items():
                if have.get(name, 0) < alignment:
                    raise common.Failure(f"{file} {flags}: {name} is aligned to {have.get(name)}, not {alignment}: {have}")
        done = common.run([*OTHER, "-std=c99", "-c", source, "-o", made], expect=None)
        if done.returncode == 0 or f"define {folder.upper()}_ALIGNED(n)" not in done.stderr:
            raise common.Failure(f"{file}: exit code {done.returncode}\n{done.stderr[:1000]}")
    source = work / "sections" / "sections_data.c"
    for more, good in (([], False), (["-DSECTIONS_CONSTANTS="], True)):
        done = common.run([*OTHER, "-std=c11", *more, "-c", source, "-o", "/dev/null"], expect=None)
        if (done.returncode == 0) != good or not good and "define SECTIONS_CONSTANTS" not in done.stderr:
            raise common.Failure(f"--constants-section {more}: exit code {done.returncode}\n{done.stderr[:1000]}")
    print("aligned by C11, or refused")


def kernels(work):
    """NAME_KERNELS says what runs, and a message says so where the portable halves of kernels run on their family."""
    common.require("gcc", "clang-19", "arm-none-eabi-gcc", "riscv64-unknown-elf-gcc")
    path = common.model_path("digits_int8")
    for cpu, compiler, machine, other in (
            ("cortex-m4f", ["arm-none-eabi-gcc", "-mthumb"], "-mcpu=cortex-m4", "-mcpu=cortex-m3"),
            ("cortex-m4f", ["clang-19", *CPU_32], "-mcpu=cortex-m4", "-mcpu=cortex-m3"),
            ("cortex-m4f", ["arm-none-eabi-gcc", "-mthumb", "-mcpu=cortex-m4"], "-munaligned-access", "-mno-unaligned-access"),
            ("cortex-m55f", ["arm-none-eabi-gcc", "-mthumb", "-mfloat-abi=hard"], "-mcpu=cortex-m55", "-mcpu=cortex-m33"),
            ("rv32imac", ["riscv64-unknown-elf-gcc", "-mabi=ilp32", "-misa-spec=2.2", "--specs=picolibc.specs"], "-march=rv32imac", "-march=rv32ic"),
            ("cortex-m4f", ["gcc"], None, "-O1"), ("cortex-m4f", ["clang-19"], None, "-O1")):
        folder = work / cpu
        if not folder.exists():
            emit(path, folder, "digits", "--cpu", cpu)
        count = int(re.search(r"#define DIGITS_KERNEL_COUNT (\d+)", (folder / "digits.h").read_text())[1])
        for flag, message in ((machine, False), (other, machine is not None)):
            if flag is None:
                continue
            for more in ([], ["-DDIGITS_KERNELS_IN_C"]):
                command = [*compiler, flag, *STRICT, "-O1", *more, "-c", folder / "digits.c", "-o", "/dev/null"]
                done = common.run(command, expect=None)
                if done.returncode:
                    raise common.Failure(f"{' '.join(map(str, command))}: {done.stderr[:1000]}")
                told = "digits: kernels are compiled as C" in done.stderr.replace("\\\n", "")
                if told != (message and not more):
                    raise common.Failure(f"{' '.join(map(str, command))}: {'a' if told else 'no'} message")
            value = kernel_value(compiler, flag, folder, work)
            print(f"{cpu} {' '.join(compiler[:1])} {flag}: {value} of {count} kernels in assembly")
            if (value == count) != (flag == machine) or machine is None and value != 0:
                raise common.Failure(f"{cpu} {flag}: {value} of {count} kernels")


def kernel_value(compiler, flag, folder, work):
    """What DIGITS_KERNELS is where this compiler reads the header."""
    text = work / "value.c"
    text.write_text('#include "digits.h"\nchar value[DIGITS_KERNELS + 1];\n')
    made = work / "value.o"
    common.run([*compiler, flag, "-std=c99", "-fno-common", "-I", folder, "-c", text, "-o", made])
    size = next(line for line in common.run(["readelf", "-sW", made]).splitlines() if line.endswith(" value")).split()[2]
    return int(size) - 1


CHECKS = {f.__name__: f for f in (strict, tidy, hostile, deterministic, workspace, arguments,
                                  arithmetic, fast_math, without_gnuc, kernels)}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("check", choices=CHECKS)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    CHECKS[options.check](common.fresh(options.work.resolve()))


if __name__ == "__main__":
    common.main_of(main)
