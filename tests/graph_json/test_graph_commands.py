# SPDX-License-Identifier: Apache-2.0
"""A graph with operators of every convention, as a user gives them.

It is compiled, built by gcc without a warning and run, against Python; then with one thing wrong
each: the message, its slug and place, the exit code, and that nothing was written.
"""
import json
import pathlib
import re
import shutil
import struct

import archives
import common
import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
AOTC = pathlib.Path(common.AOTC)
WORK = pathlib.Path()  # each test's own folder
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


@pytest.fixture(autouse=True)
def in_own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def expect(condition, text):
    if not condition:
        raise common.Failure(text)


def run(*command, code=0):
    done = common.run(command, expect=None)
    expect(done.returncode == code, f"exit code {done.returncode}: {command}\n{done.stdout}{done.stderr}")
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
    run(AOTC, "compile", *BASE, "--prefix", "m", "--calling-convention", convention,
        "--input", "preserve", *options)
    out = (WORK / "out").resolve()
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


def test_two_devices():
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
    done = run(AOTC, command, *base, *arguments, code=code)
    slugs = set(re.findall(r"\[([a-z0-9-]+)\]$", done.stderr, re.M))
    expect(slugs == {slug}, f"{slugs} instead of {slug}\n{done.stderr}")
    expect(re.search(pattern, done.stderr, re.M), f"no '{pattern}' in\n{done.stderr}")
    expect(not (WORK / "out").exists(), f"{slug}: something was written")


@pytest.mark.parametrize("convention", ["plain", "packed", "registry"])
def test_works(convention):
    works(convention)


SOURCES = {  # what is written, the slug, the message
    "missing": (dict(plain=PLAIN.replace("f_sub", "f_sob")), "operator-missing",
                r"^g\.json:1:\d+: op 4 f_sub 'y': error: .*'f_sub'"),
    "signature": (dict(plain=PLAIN.replace("int8_t *out)", "int16_t *out)").replace("(int8_t)", "(int16_t)")),
                  "operator-signature", r"^plain\.c:3:\d+: .*'f_add'"),
    "static": (dict(plain=PLAIN.replace("int32_t f_sub(", "static int32_t f_sub(")), "operator-signature",
               r"^plain\.c:\d+:\d+: .*'f_sub' is static"),
    "ambiguous": (dict(packed=PACKED + PLAIN.replace('"sum.h"', "<stdint.h>").replace("COUNT", "4")), "operator-ambiguous",
                  r"^packed\.c:\d+:\d+: .*'f_(add|sub)' is defined more than once"),
    "source": (dict(plain=PLAIN.replace('"sum.h"', '"nowhere.h"')), "operator-source", r"^plain\.c:1:\d+: .*nowhere\.h"),
    "parameter's name": (dict(parameters=params(b"v")), "graph-params",
                         r"^g\.json: tensor 'v': error: the graph has no argument with the name of this parameter"),
    "parameter's shape": (dict(parameters=params(shape=(4,))), "graph-params",
                          r"^g\.json:1:\d+: op 1 argument 'w': error: the parameter is int8 4, "),
    "parameters are cut": (dict(parameters=params()[:-1]), "graph-params",
                           r"^p\.params: tensor 'w': error: byte \d+: the file ends"),
}


@pytest.mark.parametrize("name", SOURCES)
def test_wrong_source(name):
    written, slug, message = SOURCES[name]
    write(**written)
    refused(slug, message)


def test_header_in_another_folder():
    (WORK / "sub").mkdir()
    (WORK / "sub" / "sum.h").write_text(HEADER)
    write(plain=PLAIN.replace('"sum.h"', '"sub/sum.h"'))
    refused("operator-header", r"^plain\.c: .*sub/sum\.h")


def test_launch_of_what_is_not_packed():
    write()
    (WORK / "d.json").write_text(json.dumps({"devices": [
        {"name": "cpu"}, {"name": "acc", "operators": ["f_add"], "launch": "async"}]}))
    refused("operator-signature", r"'acc' launches packed functions, but 'f_add' is not a packed function", "--devices", "d.json")


@pytest.mark.parametrize("name", ["status", "args", "uint8_t", "NULL", "TVMFuncCall"])
def test_name_of_an_operator(name):
    write()
    (WORK / "g.json").write_text(json.dumps(GRAPH).replace('"f_add"', f'"{name}"'))
    refused("operator-name", f"error: the name of function '{name}' ", base=["g.json", "--params", "p.params", "-o", "out"])


COMMANDS = {  # slug, message, further arguments, the rest
    "prefix": ("operator-name", r"op 2 f_add 'sum': error: .*'f_add' begins", ["--prefix", "f"], {}),
    "parameters of a model": ("option-conflict", r"^d\.tflite: error: --params applies only to TVM graphs", [],
                              dict(code=2, base=["d.tflite", "--params", "p.params", "-o", "out"])),
    "verify": ("verify-external", r"op 2 f_add 'sum': error", [],
               dict(command="verify", base=["g.json", "--params", "p.params"])),
    "project": ("project-graph", r"^g\.json: error", ["--board", "host"], dict(code=2, command="create")),
    "no parameters": ("file-read", r"none\.params", [], dict(base=["g.json", "--params", "none.params", "-o", "out"])),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_wrong_command(name):
    slug, message, arguments, more = COMMANDS[name]
    write()
    shutil.copy(ROOT / "tests" / "models" / "digits" / "digits_int8.tflite", WORK / "d.tflite")
    refused(slug, message, *arguments, **more)


def archive(files):
    members = {"codegen/host/src/m_lib0.c": PACKED.encode(), "parameters/m.params": params(), **files}
    return archives.make_tar(WORK / "m.tar", archives.archive_of(archives.full_model(7), members))


def test_inspected_archives():
    graph = json.dumps(GRAPH).encode()
    (WORK / "m.json").write_bytes(graph)
    (WORK / "m.params").write_bytes(params())
    archive({"executor-config/graph/m.graph": graph})
    of_file = run(AOTC, "graph", "inspect", "m.json", "--params", "m.params", "--json")
    of_archive = run(AOTC, "graph", "inspect", "m.tar", "--json")
    for part in "entries", "functions", "operators", "parameter_bytes":
        expect(json.loads(of_file.stdout)[part] == json.loads(of_archive.stdout)[part], part)
    archive({})
    refused("graph-none", r"^m\.tar: error: the archive has no graph", base=["inspect", "m.tar"],
            command="graph")


MEMBER = "executor-config/graph/m.graph"
TYPES = PLAIN.replace('"sum.h"', "<stdint.h>").replace("COUNT", "4").replace("int8_t *out", "float *out").replace(
    "(int8_t)", "(float)").encode()
TEXT = json.dumps(GRAPH).encode()
ARCHIVES = {
    "no graph": ({}, "graph-none", r"^m\.tar: error: the archive has no graph"),
    "two graphs": ({MEMBER: TEXT, "executor-config/graph/n.graph": TEXT}, "graph-none",
                   r"^m\.tar: error: the archive has several"),
    "cut graph": ({MEMBER: TEXT[:-1]}, "graph-syntax", r"^m\.tar:executor-config/graph/m\.graph:1:\d+: error"),
    "no operator": ({MEMBER: TEXT}, "operator-missing", r"^m\.tar:executor-config/graph/m\.graph:1:\d+: op 2 "),
    "types": ({MEMBER: TEXT, "codegen/host/src/m_lib1.c": TYPES}, "operator-signature",
              r"^m\.tar:codegen/host/src/m_lib1\.c:\d+:\d+: "),
}


@pytest.mark.parametrize("name", ARCHIVES)
def test_wrong_archive(name):
    members, slug, message = ARCHIVES[name]
    archive(members)
    refused(slug, message, base=["m.tar", "-o", "out"])
