#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A graph with operators of every convention, as a user gives them: commands.py AOTC WORK.

It is compiled, built by gcc without a warning and run, against Python; then with one thing wrong
each: the message, its slug and place, the exit code, and that nothing was written.
"""
import argparse
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "mlf"))
import archives  # noqa: E402

PARSER = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
PARSER.add_argument("aotc", type=pathlib.Path)
PARSER.add_argument("work", type=pathlib.Path)
OPTIONS = PARSER.parse_args()
AOTC, WORK = OPTIONS.aotc.resolve(), OPTIONS.work.resolve()
GRAPH = json.loads((HERE / "malformed" / "valid.json").read_text())
HEADER = "#ifndef SUM_H\n#define SUM_H\n#include <stdint.h>\n#define COUNT 4\n#endif\n"
PLAIN = """\
#include "sum.h"
int32_t f_add(const int8_t *a, const int8_t *b, int8_t *out);
int32_t f_add(const int8_t *a, const int8_t *b, int8_t *out)
{
    int i;
    for (i = 0; i < COUNT; ++i) out[i] = (int8_t)(a[i] + b[i]);
    return 0;
}
int32_t f_sub(int8_t *a, int8_t *b, int8_t *out);
int32_t f_sub(int8_t *a, int8_t *b, int8_t *out)
{
    out[0] = (int8_t)(a[0] - b[0]);
    out[1] = (int8_t)(a[1] - b[1]);
    return a[0] == 77 ? 123 : 0;
}
"""
PACKED = """\
#include <tvm/runtime/c_runtime_api.h>
#include <tvm/runtime/c_backend_api.h>
TVM_DLL int32_t f_split(TVMValue *args, int *codes, int count, TVMValue *ret, int *ret_code,
                        void *resource)
{
    const DLTensor *in = (const DLTensor *)args[0].v_handle;
    int i;
    (void)ret; (void)ret_code; (void)resource;
    if (count != 3 || codes[2] != kTVMDLTensorHandle || in->ndim != 2 || in->shape[1] != 4) return -1;
    for (i = 0; i < 2; ++i) {
        ((int8_t *)((DLTensor *)args[1].v_handle)->data)[i] = ((int8_t *)in->data)[i];
        ((int8_t *)((DLTensor *)args[2].v_handle)->data)[i] = ((int8_t *)in->data)[i + 2];
    }
    return 0;
}
"""
MAIN = """\
#include <stdio.h>
#include "m.h"
static uint8_t arena[M_ARENA_SIZE] __attribute__((aligned(M_ARENA_ALIGN)));
int main(int argc, char **argv)
{
    int8_t x[4], y[2];
    const struct m_inputs inputs = { x };
    const struct m_outputs outputs = { y };
    int i, status;
    (void)argc;
    for (i = 0; i < 4; ++i) sscanf(argv[i + 1], "%hhd", &x[i]);
    status = (int)m_run(&inputs, &outputs, arena);
    printf("%d %d %d\\n", status, y[0], y[1]);
    return 0;
}
"""
OFFSETS = [1, 2, 3, 4]


def expect(condition, text):
    if not condition:
        print(f"FAILED: {text}")
        sys.exit(1)


def run(*command, code=0, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=600,
                          stdin=subprocess.DEVNULL, **options)
    expect(done.returncode == code, f"exit code {done.returncode}: {command}\n{done.stdout}"
                                    f"{done.stderr}")
    return done


def params(name=b"w", shape=(1, 4)):
    return (struct.pack("<QQQQ", 0xF7E58D4F05049CB7, 0, 1, len(name)) + name +
            struct.pack("<QQQiiiBBH", 1, 0xDD5E40F096B4A13F, 0, 1, 0, len(shape), 0, 8, 1) +
            struct.pack(f"<{len(shape)}q", *shape) + struct.pack("<q", 4) + bytes(OFFSETS))


def write(graph=None, plain=PLAIN, packed=PACKED, parameters=None):
    (WORK / "g.json").write_text(json.dumps(graph or GRAPH))
    (WORK / "p.params").write_bytes(parameters or params())
    for name, text in (("sum.h", HEADER), ("plain.c", plain), ("packed.c", packed)):
        (WORK / name).write_text(text)


BASE = ["g.json", "--params", "p.params", "-o", "out", "--operators", "plain.c", "--operators", "packed.c"]


def works(convention, graph=None, *options):
    write(graph)
    shutil.rmtree(WORK / "out", ignore_errors=True)
    run(AOTC, "compile", *BASE, "--prefix", "m", "--calling-convention", convention,
        "--input", "preserve", *options, cwd=WORK)
    out = WORK / "out"
    names = {p.name for p in (out / "operators").iterdir()}
    expect(names == {"sum.h", "plain.c", "packed.c"}, names)
    (out / "main.c").write_text(MAIN)
    crt = ROOT / "crt"
    run("gcc", "-std=c99", "-O1", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-I", crt / "include", "-I", out, *sorted(out.glob("*.c")),
        *sorted((out / "operators").glob("*.c")), *sorted((crt / "src").glob("*.c")), "-o",
        out / "program")
    for x in ([0, 0, 0, 0], [10, -20, 30, 5], [100, 1, -100, 2]):
        total = [a + b for a, b in zip(x, OFFSETS)]
        want = [(total[i] - total[i + 2] + 128) % 256 - 128 for i in range(2)]
        said = run(out / "program", *x).stdout.split()
        expect(said == ["0", *map(str, want)], f"{x}: {said} instead of {want}")
    # The status of an operator is that of the run.
    expect(run(out / "program", 76, 0, 0, 0).stdout.startswith("123 "), "a status was lost")


def two_devices():
    """A graph that crosses to another device gives what it gives on one."""
    graph = json.loads((HERE / "malformed" / "valid.json").read_text())
    columns = graph["attrs"]
    copy = {"op": "tvm_op", "name": "moved", "inputs": [[2, 0, 0]],
            "attrs": {"func_name": "__copy", "num_outputs": "1", "num_inputs": "1",
                      "flatten_data": "0"}}
    graph["nodes"].insert(3, copy)
    graph["nodes"][4]["inputs"] = [[3, 0, 0]]
    graph["nodes"][5]["inputs"] = [[4, 0, 0], [4, 1, 0]]
    graph["heads"] = [[5, 0, 0]]
    graph["node_row_ptr"] = [0, 1, 2, 3, 4, 6, 7]
    for name, value in (("dltype", "int8"), ("shape", [1, 4]), ("storage_id", 7)):
        columns[name][1].insert(3, value)
    columns["device_index"][1] = [1, 1, 1, 12, 12, 12, 1]
    devices = {"devices": [{"name": "cpu", "type": 1}, {"name": "acc", "type": 12}],
               "fallback": "cpu"}
    (WORK / "devices.json").write_text(json.dumps(devices))
    works("plain", graph, "--devices", "devices.json")
    text = (WORK / "out" / "m.c").read_text()
    expect(text.count("device_copy") + text.count("__copy") > 0, "nothing is copied")
    refused("device-unknown", r"^g\.json:1:\d+: .*device 1")


def refused(slug, pattern, *arguments, code=1, command="compile", base=BASE):
    shutil.rmtree(WORK / "out", ignore_errors=True)
    done = run(AOTC, command, *base, *arguments, code=code, cwd=WORK)
    slugs = set(re.findall(r"\[([a-z0-9-]+)\]$", done.stderr, re.M))
    expect(slugs == {slug}, f"{slugs} instead of {slug}\n{done.stderr}")
    expect(re.search(pattern, done.stderr, re.M), f"no '{pattern}' in\n{done.stderr}")
    expect(not (WORK / "out").exists(), f"{slug}: something was written")


def wrong():
    write(plain=PLAIN.replace("f_sub", "f_sob"))
    refused("operator-missing", r"^g\.json:1:\d+: op 4 f_sub 'y': error: .*'f_sub'")
    write(plain=PLAIN.replace("int8_t *out)", "int16_t *out)").replace("(int8_t)", "(int16_t)"))
    refused("operator-signature", r"^plain\.c:3:\d+: .*'f_add'")
    write(plain=PLAIN.replace("int32_t f_sub(", "static int32_t f_sub("))
    refused("operator-signature", r"^plain\.c:\d+:\d+: .*'f_sub' is static")
    write(packed=PACKED + PLAIN.replace('"sum.h"', "<stdint.h>").replace("COUNT", "4"))
    refused("operator-ambiguous", r"^packed\.c:\d+:\d+: .*'f_(add|sub)' is defined more than once")
    write(plain=PLAIN.replace('"sum.h"', '"nowhere.h"'))
    refused("operator-source", r"^plain\.c:1:\d+: .*nowhere\.h")
    (WORK / "sub").mkdir(exist_ok=True)
    (WORK / "sub" / "sum.h").write_text(HEADER)
    write(plain=PLAIN.replace('"sum.h"', '"sub/sum.h"'))
    refused("operator-header", r"^plain\.c: .*sub/sum\.h")
    write()
    refused("operator-name", r"op 2 f_add 'sum': error: .*'f_add' begins", "--prefix", "f")
    (WORK / "d.json").write_text(json.dumps({"devices": [
        {"name": "cpu"}, {"name": "acc", "operators": ["f_add"], "launch": "async"}]}))
    refused("operator-signature", r"'acc' launches packed functions, and 'f_add' is none",
            "--devices", "d.json")
    for name in "status", "args", "uint8_t", "NULL", "TVMFuncCall":
        (WORK / "g.json").write_text(json.dumps(GRAPH).replace('"f_add"', f'"{name}"'))
        refused("operator-name", f"error: function '{name}' ",
                base=["g.json", "--params", "p.params", "-o", "out"])
    write()
    shutil.copy(ROOT / "tests" / "models" / "digits" / "digits_int8.tflite", WORK / "d.tflite")
    refused("option-conflict", r"^d\.tflite: error: --params is for TVM graphs",
            code=2, base=["d.tflite", "--params", "p.params", "-o", "out"])
    refused("verify-external", r"op 2 f_add 'sum': error", command="verify",
            base=["g.json", "--params", "p.params"])
    refused("project-graph", r"^g\.json: error", "--board", "host", code=2, command="create")
    refused("file-read", r"none\.params", base=["g.json", "--params", "none.params", "-o", "out"])
    write(parameters=params(b"v"))
    refused("graph-params", r"^g\.json: tensor 'v': error: a parameter has no argument of its name")
    write(parameters=params(shape=(4,)))
    refused("graph-params", r"^g\.json:1:\d+: op 1 argument 'w': error: the parameter is int8 4, ")
    write(parameters=params()[:-1])
    refused("graph-params", r"^p\.params: tensor 'w': error: byte \d+: the file ends")


def archive(files):
    members = {"codegen/host/src/m_lib0.c": PACKED.encode(), "parameters/m.params": params(), **files}
    return archives.make_tar(WORK / "m.tar", archives.archive_of(archives.full_model(7), members))


def inspected_archives():
    graph = json.dumps(GRAPH).encode()
    (WORK / "m.json").write_bytes(graph)
    (WORK / "m.params").write_bytes(params())
    archive({"executor-config/graph/m.graph": graph})
    of_file = run(AOTC, "graph", "inspect", "m.json", "--params", "m.params", "--json", cwd=WORK)
    of_archive = run(AOTC, "graph", "inspect", "m.tar", "--json", cwd=WORK)
    for part in "entries", "functions", "operators", "parameter_bytes":
        expect(json.loads(of_file.stdout)[part] == json.loads(of_archive.stdout)[part], part)
    archive({})
    refused("graph-none", r"^m\.tar: error: the archive has no graph", base=["inspect", "m.tar"],
            command="graph")


def wrong_archives():
    graph = json.dumps(GRAPH).encode()
    base = ["m.tar", "-o", "out"]
    archive({})
    refused("graph-none", r"^m\.tar: error: the archive has no graph", base=base)
    archive({"executor-config/graph/m.graph": graph, "executor-config/graph/n.graph": graph})
    refused("graph-none", r"^m\.tar: error: the archive has several", base=base)
    archive({"executor-config/graph/m.graph": graph[:-1]})
    refused("graph-syntax", r"^m\.tar:executor-config/graph/m\.graph:1:\d+: error", base=base)
    archive({"executor-config/graph/m.graph": graph})
    refused("operator-missing", r"^m\.tar:executor-config/graph/m\.graph:1:\d+: op 2 ", base=base)
    wrong_type = PLAIN.replace('"sum.h"', "<stdint.h>").replace("COUNT", "4")
    wrong_type = wrong_type.replace("int8_t *out", "float *out").replace("(int8_t)", "(float)")
    archive({"executor-config/graph/m.graph": graph,
             "codegen/host/src/m_lib1.c": wrong_type.encode()})
    refused("operator-signature", r"^m\.tar:codegen/host/src/m_lib1\.c:\d+:\d+: ", base=base)


shutil.rmtree(WORK, ignore_errors=True)
WORK.mkdir(parents=True)
for c in ("plain", "packed", "registry"):
    works(c)
two_devices()
wrong()
wrong_archives()
inspected_archives()
print("done")
