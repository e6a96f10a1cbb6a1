# SPDX-License-Identifier: Apache-2.0
"""Properties of the files that aotc writes, whatever the model."""
import json
import os
import re
import shutil
import string

import common
import pytest
from emitted_c import KERNEL_CPUS, STRICT, emit, run_all, run_bundle, sample_models
from tflite_builder import ModelBuilder

CPP = ["-x", "c++", "-std=c++11", "-pedantic", "-Wall", "-Wextra", "-Werror"]
# Swappable parameters are what matrix code is made of. Indices are int32_t, proven to be in range: on
# a 64-bit CPU they widen, so the check is for a 32-bit CPU, which the code is for.
TIDY = "-*,bugprone-*,-bugprone-easily-swappable-parameters"
# An int8_t is a number, no character: widening it keeps its sign, as it should.
TIDY_OPTIONS = "{CheckOptions: {bugprone-signed-char-misuse.CharTypdefsToIgnore: 'int8_t'}}"
CPU_32 = ["--target=thumbv7em-none-eabi", "-isystem", "/usr/lib/arm-none-eabi/include"]
SSE = ["-msse2", "-mfpmath=sse"]


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


def of_samples(test):
    return pytest.mark.parametrize("path", sample_models(), ids=lambda path: path.stem)(test)


def checked(commands, record_property):
    """Each command counts as a case."""
    run_all(commands)
    record_property("cases", len(commands))


@of_samples
def test_strict(path, tmp_path, record_property):
    """gcc, clang and clang for a 32-bit CPU accept them without a warning; C++ accepts the header."""
    common.require("gcc", "g++", "clang-19", "clang++-19", "arm-none-eabi-gcc")
    commands = list(strict_commands(tmp_path / "plain", emit(path, tmp_path / "plain")))
    if path.stem in KERNEL_MODELS:
        commands += kernel_commands(path, tmp_path)
    checked(commands, record_property)


@pytest.mark.parametrize("options", (
    ("--arena", "model"), ("--memory", "workspace"), ("--input", "preserve"), ("--input", "overwrite", "--output", "overwrite"),
    ("--arena", "model", "--input", "overwrite", "--output", "overwrite")), ids=" ".join)
@pytest.mark.parametrize("path", sample_models()[:12:4], ids=lambda path: path.stem)
def test_strict_memory(path, options, tmp_path, record_property):
    """As test_strict, where memory is shared with the caller in other ways."""
    prefix = emit(path, tmp_path, None, *options)
    commands = [[compiler, *STRICT, "-O2", "-I", common.ROOT / "crt" / "include", "-c", tmp_path / file, "-o", "/dev/null"]
                for compiler in ("gcc", "clang-19") for file in (f"{prefix}.c", f"{prefix}_data.c")]
    commands += [[compiler, *CPP, "-fsyntax-only", "-include", tmp_path / f"{prefix}.h", "/dev/null"]
                 for compiler in ("g++", "clang++-19")]
    checked(commands, record_property)


@of_samples
def test_tidy(path, tmp_path):
    """clang-tidy's bugprone checks find nothing."""
    common.require("clang-tidy-19")
    prefix = emit(path, tmp_path)
    files = [tmp_path / f"{prefix}.c"]
    if path.stat().st_size < 20_000:
        files.append(tmp_path / f"{prefix}_data.c")
    common.run(["clang-tidy-19", "--quiet", f"--checks={TIDY}", f"--config={TIDY_OPTIONS}", "--warnings-as-errors=*", *files,
                "--", "-std=c99", *CPU_32])


HOSTILE = [
    "*/ int evil; /*", "x\"; system(\"true\"); \"", "// \\\n", "??/", "a\nb", "#define int float",
    "%s%n%d", "int", "static", "KWS_RUN", "0digit", "", "ü ☃ 名前", "a" * 3000, "main", "x", "x",
    "X", "_x", "__x", "run", "model_run", "arena", "inputs",
]


def test_hostile(tmp_path, record_property):
    """Tensor names made to break out of C reach it harmless.

    One input of each name, all added up; the program still computes what LiteRT does.
    """
    work, checks = tmp_path, []
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
        checks.append(list(strict_commands(work / "emitted", prefix)))
        run_all(checks[-1])
        for file in (work / "emitted").glob(f"{prefix}*.[ch]"):
            for line in file.read_text().split("\n"):
                assert not any(ord(c) < 32 for c in line), f"{file}: a control character: {line!r}"
    # The name does not matter either when it is the file's.
    odd = work / "0 odd-name*.tflite"
    odd.write_bytes(path.read_bytes())
    made = json.loads(common.aotc("compile", odd, "-o", work / "odd", "--quiet", "--json"))
    checks.append(list(strict_commands(work / "odd", made["prefix"])))
    run_all(checks[-1])
    oracle = common.Oracle(path, 3)
    run_bundle(work / "bundle", {"hostile": (path, oracle, [])})
    record_property("cases", sum(map(len, checks)))


def contents(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes()
            for p in sorted(folder.rglob("*")) if p.is_file()}


@of_samples
def test_deterministic(path, tmp_path):
    """Compiling twice gives the same bytes, wherever it is run."""
    prefix = common.prefix_of(path.stem)
    emit(path, tmp_path / "first", prefix)
    # From a copy elsewhere, run elsewhere, in another environment.
    copy = tmp_path / "elsewhere" / path.name
    copy.parent.mkdir()
    shutil.copy(path, copy)
    environment = {"LC_ALL": "C", "TZ": "Asia/Tokyo", "HOME": "/nonexistent", "PATH": os.environ["PATH"]}
    common.aotc("compile", path.name, "--prefix", prefix, "-o", "second", "--quiet", cwd=copy.parent, env=environment)
    first, second = contents(tmp_path / "first"), contents(copy.parent / "second")
    assert first and sorted(n for n in first.keys() | second.keys() if first.get(n) != second.get(n)) == []


def test_workspace(tmp_path):
    """--memory workspace and --arena model compute what the default does: intermediates from the C runtime, and an arena of
    the model's own."""
    models = {}
    for name in ("digits_int8", "gadget_int8", "digits_f32"):
        path = common.model_path(name)
        oracle = common.Oracle(path, 3)
        models[name + "_ws"] = (path, oracle, ["--memory", "workspace"])
        models[name + "_own"] = (path, oracle, ["--arena", "model"])
        models[name + "_own_all"] = (path, oracle, ["--arena", "model", "--input", "overwrite",
                                                    "--output", "overwrite"])
    crt = common.ROOT / "crt"
    run_bundle(tmp_path / "host", models, ["-I", crt / "include", "-DTVM_WORKSPACE_SIZE_BYTES=65536"], sorted((crt / "src").glob("*.c")))


@pytest.mark.parametrize("option", (("--memory", "workspace"), ("--arena", "model")), ids=" ".join)
@pytest.mark.parametrize("name", ("digits_int8", "gadget_int8"))
def test_workspace_on_board(name, option, tmp_path):
    board, project, path = "qemu_mps2_an386", tmp_path / "firmware", common.model_path(name)
    assert common.create_project(path, board, project, *option), f"{name} does not fit {board}"
    oracle = common.Oracle(path, 3)
    found, figures = common.verify_on_board(project, board, oracle.samples)
    compared, _ = common.compare(oracle, common.report(project)["layers"], found)
    common.aotc("verify", project)
    print(f"{compared} results as LiteRT's, {figures['instructions']} instructions")


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


@pytest.mark.parametrize("name", ("gadget_f32", "gadget_int8", "argmax_axis1_int64_int8"))
def test_arguments(name, tmp_path):
    """A null or misaligned pointer, also in a struct, gives the status that the header names."""
    common.require("gcc", "clang-19")
    prefix = emit(common.model_path(name), tmp_path, None, "--input", "preserve")
    (tmp_path / "ask.c").write_text(ARGUMENTS.substitute(prefix=prefix, upper=prefix.upper()))
    sources = [tmp_path / f for f in ("ask.c", f"{prefix}.c", f"{prefix}_data.c")]
    for compiler, *flags in (("gcc", "-O2"), ("clang-19", "-O2"), ("gcc", "-Os", "-m32", *SSE)):
        image = tmp_path / "ask"
        common.run([compiler, "-std=c99", "-Wall", "-Wextra", *flags, *sources, "-o", image, "-lm"])
        print(f"{compiler} {' '.join(flags)}: {common.run_program([image]).strip()}")


# A compiler that may fuse products and additions, and what it then calls the instruction.
FUSING = ((["gcc", "-std=gnu11", "-mfma"], "vfm"), (["clang-19", "-std=gnu11", "-mfma"], "vfm"),
          (["arm-none-eabi-gcc", "-std=gnu11", "-mcpu=cortex-m4", "-mfloat-abi=hard"], "vfma"))


@pytest.mark.parametrize("command, fused", FUSING, ids=[command[0] for command, _ in FUSING])
def test_arithmetic_is_not_fused(command, fused, tmp_path):
    """Floats are rounded after every operation; without the pragmas they are not."""
    common.require(command[0])
    source, free = tmp_path / f"{emit(common.model_path('gadget_f32'), tmp_path)}.c", tmp_path / "free.c"
    free.write_text("\n".join(line for line in source.read_text().split("\n")
                              if "FP_CONTRACT" not in line and "fp-contract" not in line))
    assert fused not in common.run([*command, "-O2", "-S", source, "-o", "-"])
    assert fused in common.run([*command, "-O2", "-S", free, "-o", "-"])


@pytest.mark.parametrize("compiler, flags", (("gcc", []), ("clang-19", ["-mno-sse"]), ("gcc", ["-mfpmath=387"])),
                         ids=("gcc", "clang", "gcc_387"))
def test_arithmetic_of_x87(compiler, flags, tmp_path):
    """It is refused for floats and no matter for integers."""
    prefix = emit(common.model_path("gadget_f32"), tmp_path)
    for file in (f"{prefix}.c", f"{prefix}_data.c"):
        done = common.run([compiler, "-std=c99", "-m32", *flags, "-c", tmp_path / file, "-o", "/dev/null"], expect=None)
        assert done.returncode and "FLT_EVAL_METHOD is not 0" in done.stderr, done.stderr[:1000]
    whole = emit(common.model_path("digits_int8"), tmp_path / "whole")
    for file, more in ((f"{prefix}.c", SSE), (f"whole/{whole}.c", ["-mno-sse"])):
        common.run([compiler, "-std=c99", "-m32", *more, "-c", tmp_path / file, "-o", "/dev/null"])


# Options that a macro tells of: they are refused.
TOLD = {"gcc": (["-ffast-math"], ["-Ofast"], ["-ffinite-math-only"], ["-freciprocal-math"], ["-fno-signed-zeros"],
                ["-funsafe-math-optimizations"], ["-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math"]),
        "clang-19": (["-ffast-math"], ["-ffinite-math-only"], ["-Ofast", "-Wno-deprecated-ofast"])}
TOLD["arm-none-eabi-gcc"] = TOLD["gcc"]
# Options that no macro tells of: they change nothing.
SILENT = ["-O3", "-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math", "-freciprocal-math",
          "-funsafe-math-optimizations", "-ffp-contract=on"]


# One that computes with floats, one that only compares them, one without.
@pytest.mark.parametrize("name, refused", (("gadget_f32", True), ("argmax_last_f32", True), ("digits_int8", False)))
@pytest.mark.parametrize("compiler", TOLD)
def test_fast_math_that_macros_tell_of(name, refused, compiler, tmp_path, subtests):
    common.require(compiler)
    prefix = emit(common.model_path(name), tmp_path)
    for flags in TOLD[compiler]:
        with subtests.test(flags=flags):
            command = [compiler, *STRICT, *flags, "-c", tmp_path / f"{prefix}.c", "-o", "/dev/null"]
            done = common.run(command, expect=None)
            told = (f"{prefix}: -ffast-math and its parts change results; compile with",
                    f"-fno-fast-math, or define {prefix.upper()}_FAST_MATH to accept other results")
            assert (done.returncode != 0) == refused, done.stderr[:1000]
            assert not refused or all(line in done.stderr for line in told), done.stderr[:1000]
            for more in ([f"-D{prefix.upper()}_FAST_MATH"], ["-fno-fast-math", "-fno-finite-math-only", "-fno-reciprocal-math",
                         "-fsigned-zeros", "-fno-associative-math", "-fno-unsafe-math-optimizations"]):
                common.run([*command, *more])


def test_fast_math_of_clang_without_macros(tmp_path):
    models = {name: (common.model_path(name), common.Oracle(common.model_path(name), 3), []) for name in ("gadget_f32", "digits_f32")}
    run_bundle(tmp_path / "silent", models, SILENT, target="clang")


def test_fast_math_of_gcc_without_macros(tmp_path):
    """gcc before 12 has no macros of single options."""
    common.require("avr-gcc")
    source = tmp_path / f"{emit(common.model_path('gadget_f32'), tmp_path)}.c"
    plain, fast = (common.run(["avr-gcc", "-mmcu=atmega2560", "-std=c99", "-O2", *flags, "-S", source, "-o", "-"])
                   for flags in ((), ("-funsafe-math-optimizations",)))
    assert plain == fast


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


@pytest.mark.parametrize("prefix, model, options, file, least", (
    ("own", "digits/digits_int8", ["--arena", "model"], "own_data.c", {"own_arena": 16, "own_call0_weights": 4}),
    ("tvm", "state/accumulator_int8", ["--interface", "tvm"], "tvmgen_tvm.c", {"state": 16, "global_workspace": 16})),
    ids=("own", "tvm"))
def test_without_gnuc_alignment(prefix, model, options, file, least, tmp_path):
    """Tables and arenas are aligned by C11, or the compiler is refused, in every file that has some."""
    common.require("gcc", "readelf")
    emit(common.ROOT / "tests/models" / f"{model}.tflite", tmp_path, prefix, *options)
    source, made = tmp_path / file, tmp_path / "made.o"
    for flags in (["-std=c11"], ["-std=c99", f"-D{prefix.upper()}_ALIGNED(n)=_Alignas(n)"]):
        common.run([*OTHER, *flags, "-c", source, "-o", made])
        have = alignments(made)
        assert {name: n for name, n in least.items() if have.get(name, 0) < n} == {}, have
    done = common.run([*OTHER, "-std=c99", "-c", source, "-o", made], expect=None)
    assert done.returncode and f"define {prefix.upper()}_ALIGNED(n)" in done.stderr, done.stderr[:1000]


def test_without_gnuc_sections(tmp_path):
    emit(common.model_path("digits_int8"), tmp_path, "sections", "--constants-section", ".weights")
    command = [*OTHER, "-std=c11", "-c", tmp_path / "sections_data.c", "-o", "/dev/null"]
    done = common.run(command, expect=None)
    assert done.returncode and "define SECTIONS_CONSTANTS" in done.stderr, done.stderr[:1000]
    common.run([*command, "-DSECTIONS_CONSTANTS="])


@pytest.mark.parametrize("cpu, compiler, machine, other", (
    ("cortex-m4f", ["arm-none-eabi-gcc", "-mthumb"], "-mcpu=cortex-m4", "-mcpu=cortex-m3"),
    ("cortex-m4f", ["clang-19", *CPU_32], "-mcpu=cortex-m4", "-mcpu=cortex-m3"),
    ("cortex-m4f", ["arm-none-eabi-gcc", "-mthumb", "-mcpu=cortex-m4"], "-munaligned-access", "-mno-unaligned-access"),
    ("cortex-m55f", ["arm-none-eabi-gcc", "-mthumb", "-mfloat-abi=hard"], "-mcpu=cortex-m55", "-mcpu=cortex-m33"),
    ("rv32imac", ["riscv64-unknown-elf-gcc", "-mabi=ilp32", "-misa-spec=2.2", "--specs=picolibc.specs"], "-march=rv32imac", "-march=rv32ic"),
    ("cortex-m4f", ["gcc"], None, "-O1"), ("cortex-m4f", ["clang-19"], None, "-O1")),
    ids=("m4", "m4_clang", "m4_unaligned", "m55", "rv32imac", "host", "host_clang"))
def test_kernels(cpu, compiler, machine, other, tmp_path):
    """NAME_KERNELS says what runs, and a message says so where the portable halves of kernels run on their family."""
    common.require(compiler[0])
    emit(common.model_path("digits_int8"), tmp_path, "digits", "--cpu", cpu)
    count = int(re.search(r"#define DIGITS_KERNEL_COUNT (\d+)", (tmp_path / "digits.h").read_text())[1])
    for flag, message in ((machine, False), (other, machine is not None)):
        if flag is None:
            continue
        for more in ([], ["-DDIGITS_KERNELS_IN_C"]):
            command = [*compiler, flag, *STRICT, "-O1", *more, "-c", tmp_path / "digits.c", "-o", "/dev/null"]
            done = common.run(command, expect=None)
            assert done.returncode == 0, done.stderr[:1000]
            told = "digits: kernels are compiled as C" in done.stderr.replace("\\\n", "")
            assert told == (message and not more), command
        value = kernel_value(compiler, flag, tmp_path)
        print(f"{flag}: {value} of {count} kernels in assembly")
        assert (value == count) == (flag == machine) and (machine or value == 0)


def kernel_value(compiler, flag, folder):
    """What DIGITS_KERNELS is where this compiler reads the header."""
    text = folder / "value.c"
    text.write_text('#include "digits.h"\nchar value[DIGITS_KERNELS + 1];\n')
    made = folder / "value.o"
    common.run([*compiler, flag, "-std=c99", "-fno-common", "-I", folder, "-c", text, "-o", made])
    size = next(line for line in common.run(["readelf", "-sW", made]).splitlines() if line.endswith(" value")).split()[2]
    return int(size) - 1
