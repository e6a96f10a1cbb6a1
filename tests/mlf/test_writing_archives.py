# SPDX-License-Identifier: Apache-2.0
"""Full models that aotc writes.

Each archive passes the validator, reads back to the metadata in it, and compiles with the host's gcc
from its own files only; the program gives LiteRT's bytes.
"""
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import tarfile

import common
import litert_layers
import numpy as np
import pytest
import validate
from archives import expect, run

SAMPLES = 3
FLAGS = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-O1"]
WORK = pathlib.Path()  # each test's own folder

# Reads samples from standard input, all inputs after another; writes outputs.
PROGRAM = r"""
#include <stdio.h>
#include "@m@.h"
#if @M@_ARENA_SIZE > 0
static uint8_t arena[@M@_ARENA_SIZE] __attribute__((aligned(@M@_ARENA_ALIGN)));
#else
static uint8_t arena[1];
#endif
#ifdef @M@_STATE_SIZE
static uint8_t state[@M@_STATE_SIZE] __attribute__((aligned(@M@_STATE_ALIGN)));
#define RUN(in, out) @m@_run(in, out, arena, state)
#else
#define RUN(in, out) @m@_run(in, out, arena)
#endif
#define MEMORY(f, T, n, s, z) static T memory_##f[n];
@M@_FOR_EACH_INPUT(MEMORY)
@M@_FOR_EACH_OUTPUT(MEMORY)
int main(void)
{
#if @M@_INPUT_IN_ARENA
#define READ(f, T, n, s, z) if (fread(@m@_input_##f(arena), sizeof(T), n, stdin) != n) return 0; (void)memory_##f;
    const struct @m@_inputs *inputs = NULL;
#else
#define READ(f, T, n, s, z) if (fread(memory_##f, sizeof(T), n, stdin) != n) return 0;
#define FIELD(f, T, n, s, z) .f = memory_##f,
    const struct @m@_inputs in = { @M@_FOR_EACH_INPUT(FIELD) };
    const struct @m@_inputs *inputs = &in;
#endif
#define OUT(f, T, n, s, z) .f = memory_##f,
    const struct @m@_outputs out = { @M@_FOR_EACH_OUTPUT(OUT) };
#ifdef @M@_STATE_SIZE
    if (@m@_init(state) != 0) return 5;
#endif
    for (;;) {
        @M@_FOR_EACH_INPUT(READ)
        if (RUN(inputs, &out) != 0) return 3;
#define WRITE(f, T, n, s, z) if (fwrite(memory_##f, sizeof(T), n, stdout) != n) return 4;
        @M@_FOR_EACH_OUTPUT(WRITE)
    }
}
"""


@pytest.fixture(autouse=True)
def in_own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def tvm_program(folder, name, metadata):
    """The same by TVM's entry point, as its header declares it."""
    header = (folder / f"codegen/host/include/tvmgen_{name}.h").read_text()
    upper = name.upper()
    fields = {kind: re.findall(r"void \*(\w+);", re.search(
        rf"struct tvmgen_{name}_{kind} \{{(.*?)\}};", header, re.S)[1])
        for kind in ("inputs", "outputs")}
    main = metadata["modules"][name]["memory"]["functions"]["main"][0]
    for kind in fields:
        sizes = [int(re.search(rf"TVMGEN_{upper}_{f.upper()}_SIZE (\d+)", header)[1])
                 for f in fields[kind]]
        expect(sorted(sizes) == sorted(p["size"] for p in main[kind].values()), f"{kind}: {sizes}")
    size = int(re.search(rf"TVMGEN_{upper}_WORKSPACE_SIZE (\d+)", header)[1])
    expect(size == main["workspace_size_bytes"], f"workspace: {size} and {main}")
    lines = [f'#include <stdio.h>\n#include "tvmgen_{name}.h"\nint main(void)\n{{']
    for kind in fields:
        for f in fields[kind]:
            lines.append(f"    static int64_t {kind}_{f}[TVMGEN_{upper}_{f.upper()}_SIZE / 8 + 1];")
        values = ", ".join(f"{kind}_{f}" for f in fields[kind])
        lines.append(f"    struct tvmgen_{name}_{kind} {kind} = {{ {values} }};")
    # What it keeps from run to run is forgotten half way.
    kept = "state_size_bytes" in main
    expect(kept == (f"void tvmgen_{name}_reset(void);" in header), f"state: {main}")
    lines.append(f"    for (int run = 0;; ++run) {{\n        if (run == {SAMPLES}) tvmgen_{name}_reset();" if kept
                 else "    for (;;) {")
    for f in fields["inputs"]:
        lines.append(f"        if (fread(inputs_{f}, TVMGEN_{upper}_{f.upper()}_SIZE, 1, stdin) != 1) return 0;")
    lines.append(f"        if (tvmgen_{name}_run(&inputs, &outputs) != 0) return 3;")
    for f in fields["outputs"]:
        lines.append(f"        if (fwrite(outputs_{f}, TVMGEN_{upper}_{f.upper()}_SIZE, 1, stdout) != 1) return 4;")
    return "\n".join([*lines, "    }", "}", ""])


def model_path(name):
    path = common.ROOT / "tests" / "models" / "state" / f"{name}.tflite"
    return path if path.exists() else common.model_path(name)


def compile_archive(model, name, tar, *options, env=None):
    run(common.AOTC, "compile", model, "--format", "mlf", "--prefix", name, "-o", tar, *options, env=env)
    faults = validate.validate(tar)
    expect(not faults, f"{tar}: {faults}")
    with tarfile.open(tar, "r:") as t:
        metadata = json.load(t.extractfile("./metadata.json"))
    have = json.loads(run(common.AOTC, "mlf", "inspect", tar, "--json").stdout)
    expect(have == metadata, f"{tar}: metadata differs")
    return metadata


def unpack(tar, folder):
    shutil.rmtree(folder, ignore_errors=True)
    with tarfile.open(tar, "r:") as t:
        common.unpack(t, folder)
    return folder


def gcc(*args):
    done = subprocess.run(["gcc", *map(str, args)], capture_output=True, text=True, timeout=600)
    expect(done.returncode == 0, f"gcc {' '.join(map(str, args))}\n{done.stderr[:3000]}")


def build(folder, name, program):
    """The archive's own sources, its runtime as a library, and `program`."""
    includes = [f"-I{folder}/codegen/host/include", f"-I{folder}/runtime/include"]
    config = folder / "crt_config.h"
    shutil.copy(folder / "templates/crt_config.h.template", config)
    shutil.copy(folder / "templates/platform.c.template", folder / "platform.c")
    main = json.loads((folder / "metadata.json").read_text())["modules"][name]["memory"]["functions"]["main"]
    text = config.read_text()
    size = "#define TVM_WORKSPACE_SIZE_BYTES "
    expect(size + "0\n" in text, "the template has no size of the workspace")
    config.write_text(text.replace(size + "0", size + str(main[0]["workspace_size_bytes"])))
    includes += [f"-I{folder}", '-DTVM_CRT_CONFIG_HEADER=<crt_config.h>']
    objects = []
    for source in sorted((folder / "runtime/src").glob("*.c")):
        objects.append(source.with_suffix(".o"))
        gcc(*FLAGS, *includes, "-c", source, "-o", objects[-1])
    library = folder / "libcrt.a"
    subprocess.run(["ar", "crs", library, *objects], check=True)
    (folder / "main.c").write_text(program.replace("@m@", name).replace("@M@", name.upper()))
    sources = sorted((folder / "codegen/host/src").glob("*.c"))
    for source in sources:
        gcc(*FLAGS, *includes, "-c", source, "-o", source.with_suffix(".o"))
    gcc(*FLAGS, *includes, folder / "main.c", folder / "platform.c",
        *(s.with_suffix(".o") for s in sources), library, "-lm", "-o", folder / "program")
    return folder / "program"


def check_outputs(layers, program, what, times=1):
    """`layers` begin with a first run; `times`: that often the program begins anew with the same inputs."""
    rng = np.random.default_rng(1)
    fed, want = b"", b""
    for _ in range(SAMPLES):
        arrays = layers.random_inputs(rng)
        layers.run(arrays)
        fed += b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)
        want += b"".join(np.ascontiguousarray(a).tobytes() for a in layers.model_outputs())
    done = subprocess.run([program.absolute()], input=fed * times, capture_output=True, timeout=600)
    expect(done.returncode == 0, f"{what}: exit code {done.returncode}")
    expect(done.stdout == want * times, f"{what}: outputs differ from LiteRT's")


def check_metadata(metadata, layers, name, board):
    m = metadata["modules"][name]
    main = m["memory"]["functions"]["main"][0]
    for ports, key in ((layers.inputs, "inputs"), (layers.outputs, "outputs")):
        have = {(p["dtype"], p["size"]) for p in main[key].values()}
        want = {(str(p["dtype"].__name__), int(p["shape"].prod()) * p["dtype"]().itemsize)
                for p in ports}
        expect(have == want and len(main[key]) == len(ports), f"{key}: {main[key]}")
    target = {"": "c -keys=cpu", "qemu_mps2_an386": "c -keys=arm_cpu,cpu -mcpu=cortex-m4",
              "qemu_riscv32": "c -keys=cpu -march=rv32imac"}[board]
    expect(m["target"] == [target], m["target"])


def check_model(name):
    model = model_path(name)
    first_run = functools.partial(litert_layers.Layers, model, sequence=True)
    layers = first_run()
    for board, options in (("", ["--memory", "workspace"]), ("qemu_mps2_an386", []),
                           ("qemu_mps2_an386", ["--calling-convention", "registry"]),
                           ("qemu_riscv32", ["-O", "size", "--interface", "aotc"])):
        what = f"{name} {board} {' '.join(options)}"
        more = ["--board", board] if board else []
        number = len(list(WORK.glob("*.tar")))
        tar = WORK / f"{name}_{number}.tar"
        metadata = compile_archive(model, name, tar, *more, *options)
        check_metadata(metadata, layers, name, board)
        folder = unpack(tar, WORK / f"{name}_{number}")
        check_outputs(first_run(), build(folder, name, PROGRAM), what)
        tvm = (folder / f"codegen/host/include/tvmgen_{name}.h").exists()
        expect(tvm == ("--interface" not in options), f"{what}: TVM's entry point")
        if tvm:
            kept = "state_size_bytes" in metadata["modules"][name]["memory"]["functions"]["main"][0]
            check_outputs(first_run(), build(folder, name, tvm_program(folder, name, metadata)), what, 2 if kept else 1)
        opt = pathlib.Path(common.AOTC).with_name("aotc-opt")
        if opt.exists():
            graph = (folder / f"src/{name}.relay").read_text()
            (folder / "graph.air").write_text(graph)
            have = run(opt, "--locations", folder / "graph.air").stdout
            expect(have == graph, f"{what}: the graph prints back otherwise")
        print(f"{what}: {len(list(folder.rglob('*')))} files, {SAMPLES} samples equal")


def test_deterministic():
    """Equal input gives equal bytes, whatever the day, the folder and the environment."""
    model = model_path("digits_int8")
    a, b, c, d = (WORK / f"{n}.tar" for n in "abcd")
    compile_archive(model, "digits", a, env={"SOURCE_DATE_EPOCH": ""})
    shutil.copy(model, WORK / "copy.tflite")
    os.utime(WORK / "copy.tflite", (1, 1))
    done = subprocess.run([common.AOTC, "compile", "digits_int8.tflite", "--format", "mlf", "--prefix",
                           "digits", "-o", b.absolute()], cwd=model.parent, capture_output=True,
                          env={**os.environ, "TZ": "Asia/Tokyo", "LC_ALL": "C"})
    expect(done.returncode == 0, done.stderr)
    expect(a.read_bytes() == b.read_bytes(), f"archives differ in {differing(a, b)}")
    compile_archive(model, "digits", c, env={"SOURCE_DATE_EPOCH": "1700000000"})
    compile_archive(model, "digits", d, "--date", "2023-11-14 22:13:20Z")
    expect(c.read_bytes() == d.read_bytes(), "one date, two archives")
    with tarfile.open(c, "r:") as t:
        expect({m.mtime for m in t} == {1700000000}, "times in the archive")
        m = json.load(t.extractfile("./metadata.json"))["modules"]["digits"]
    expect(m["export_datetime"] == "2023-11-14 22:13:20Z", m["export_datetime"])
    run(common.AOTC, "mlf", "diff", c, d)
    text = run(common.AOTC, "mlf", "diff", a, c, code=1).stdout
    expect(text.startswith("metadata modules.digits.export_datetime: ") and text.count("\n") == 1,
           text)
    for bad in ("tomorrow", "-1", "2023-13-01", "99999999999", "2023-01-01 1"):
        done = run(common.AOTC, "compile", model, "--format", "mlf", "-o", WORK / "bad.tar",
                   f"--date={bad}", code=1)
        expect("[date-invalid]" in done.stderr, done.stderr)
    expect(not (WORK / "bad.tar").exists(), "an archive of no date")


def differing(a, b):
    with tarfile.open(a) as s, tarfile.open(b) as t:
        members = [{m.name: (m.mtime, m.mode, tar.extractfile(m).read() if m.isfile() else b"")
                    for m in tar} for tar in (s, t)]
    return {n for n in {*members[0], *members[1]} if members[0].get(n) != members[1].get(n)}


def test_failures_leave_nothing():
    model = model_path("digits_int8")
    folder = WORK / "folder.tar"
    folder.mkdir()
    (folder / "mine").write_text("")
    done = run(common.AOTC, "compile", model, "--format", "mlf", "-o", folder, code=1)
    expect("[file-write]" in done.stderr and (folder / "mine").exists(), done.stderr)
    done = run(common.AOTC, "compile", model, "--format", "mlf", "-o", WORK / "no/such/x.tar", code=1)
    expect("[file-write]" in done.stderr, done.stderr)
    expect(not [p for p in WORK.iterdir() if ".tmp" in p.name], "a file was left behind")


def test_hostile_names():
    """Names of tensors that break JSON, C or a terminal are in the metadata as they are."""
    model = common.ROOT / "tests/fuzz/corpus/tflite/hostile_names.tflite"
    metadata = compile_archive(model, "evil", WORK / "hostile.tar")
    main = metadata["modules"]["evil"]["memory"]["functions"]["main"][0]
    folder = unpack(WORK / "hostile.tar", WORK / "hostile")
    header = (folder / "codegen/host/include/evil.h").read_text()
    for kind in ("INPUT", "OUTPUT"):
        count = int(re.search(rf"EVIL_{kind}_COUNT (\d+)", header)[1])
        have = len(main[kind.lower() + "s"])
        expect(have == count > 20, f"{have} of {count} {kind}")
    # The reader of models has escaped control characters and what is no UTF-8 already.
    for name in ("*/ evil", "x\"; evil(); \"", "\U0001f431"):
        expect(name in main["inputs"], f"no input {name!r}: {list(main['inputs'])[:30]}")
    build(folder, "evil",
          '#include "@m@.h"\nint main(void) { return @m@_run(0, 0, 0) == 0; }\n')


def test_names_of_the_c_library():
    """svc_run, sem_init and pthread_mutex_init are functions of glibc, too: the model's are called."""
    for name, model in (("svc", "digits_int8"), ("sem", "accumulator_int8"), ("pthread_mutex", "accumulator_int8")):
        compile_archive(model_path(model), name, WORK / f"{name}.tar")
        folder = unpack(WORK / f"{name}.tar", WORK / name)
        check_outputs(litert_layers.Layers(model_path(model), sequence=True), build(folder, name, PROGRAM), name)


def test_devices():
    """Memory is the host's, functions are of their device."""
    file = WORK / "devices.json"
    file.write_text(json.dumps({"devices": [
        {"name": "cpu", "type": 1},
        {"name": "acc", "type": 12, "operators": [{"op": "conv_2d"}], "launch": "sync"}]}))
    metadata = compile_archive(model_path("digits_int8"), "digits", WORK / "devices.tar",
                               "--devices", file)
    functions = metadata["modules"]["digits"]["memory"]["functions"]
    expect([m["device"] for m in functions["main"]] == [1, 12], functions["main"])
    of_device = {d: [f["function_name"] for f in functions["operator_functions"]
                     if f["workspace"][0]["device"] == d] for d in (1, 12)}
    expect(of_device[12] and all("conv_2d" in n and "depthwise" not in n for n in of_device[12]),
           of_device)
    expect(of_device[1] and not any("_conv_2d_" in n and "depthwise" not in n
                                    for n in of_device[1]), of_device)
    # Copies that a hook does are no functions: the validator looks for all in the sources.
    file.write_text(file.read_text().replace('"launch"', '"hooks": ["Copy"], "launch"'))
    compile_archive(model_path("digits_int8"), "digits", WORK / "devices.tar", "--devices", file)


@pytest.mark.models("digits_int8", "gadget_int8", "digits_f32", "stream_conv_int8", "svdf_shapes_int8")
def test_model(model):
    check_model(model)


@pytest.mark.models("kws")
def test_shared_model(model):
    check_model(model)
