# SPDX-License-Identifier: Apache-2.0
"""Graphs that TVM wrote, compiled ahead of time: every intermediate equal to what the archive's own
operators compute when they are called in graph order.

The oracle is a C program for this machine, made from the archive by this script alone: it reads the graph and the
parameters with Python's json and struct, gives every entry a buffer of its own and calls the nodes' functions one
after the other.
"""
import functools
import json
import math
import string
import struct
import tarfile

import bundle
import common
import emitted_cases
import numpy as np
import pytest
import records

# More than any operator of these archives allocates (kws: 56,192 bytes).
WORKSPACE = 256 * 1024
CODES = {"int": 0, "uint": 1, "float": 2}
LIST_MAGIC, ARRAY_MAGIC = 0xF7E58D4F05049CB7, 0xDD5E40F096B4A13F

ORACLE = string.Template("""\
#include <stdio.h>
#include <string.h>
#include <tvm/runtime/c_runtime_api.h>
#include <tvm/runtime/c_backend_api.h>

$buffers
static DLTensor tensors[$count] = {
$tensors};
static const uint32_t sizes[$count] = { $sizes };
$prototypes
static uint32_t sample;
static FILE *out;

static int call(TVMBackendPackedCFunc function, uint32_t node, uint32_t inputs, const int *entries,
                uint32_t results)
{
    TVMValue args[$most], ret;
    int codes[$most], ret_code = 0;
    uint32_t i;
    for (i = 0; i < inputs + results; ++i) {
        args[i].v_handle = &tensors[entries[i]];
        codes[i] = kTVMDLTensorHandle;
    }
    if (function(args, codes, (int)(inputs + results), &ret, &ret_code, NULL) != 0) {
        printf("node %u fails\\n", node);
        return 0;
    }
    for (i = 0; i < results; ++i) {
        const int entry = entries[inputs + i];
        const uint32_t head[4] = { sample, node, i, sizes[entry] };
        fwrite(head, 4, 4, out);
        fwrite(tensors[entry].data, 1, sizes[entry], out);
    }
    return 1;
}

int main(void)
{
    FILE *params = fopen("params.bin", "rb"), *in = fopen("oracle.in", "rb");
    const uint32_t magic = 0x52544F41u;
    uint32_t head[2] = { 0, 0 };
    int ok = params != NULL && in != NULL && fread(head, 4, 2, in) == 2;
    out = fopen("oracle.out", "wb");
    ok = ok && out != NULL && fwrite(&magic, 4, 1, out) == 1;
$load
    for (sample = 0; ok && sample < head[1]; ++sample) {
$run    }
    return !ok || fclose(out) != 0;
}
""")


def read_params(data):
    """name -> (dtype as TVM spells it, shape, bytes), by the format's description."""
    at = 0

    def take(form):
        nonlocal at
        values = struct.unpack_from("<" + form, data, at)
        at += struct.calcsize("<" + form)
        return values if len(values) > 1 else values[0]

    assert take("QQ") == (LIST_MAGIC, 0)
    names = []
    for _ in range(take("Q")):
        size = take("Q")
        names.append(data[at:at + size].decode())
        at += size
    out = {}
    assert take("Q") == len(names)
    for name in names:
        assert take("QQii") == (ARRAY_MAGIC, 0, 1, 0)
        rank, code, bits, lanes = take("iBBH")
        shape = [take("q") for _ in range(rank)]
        size = take("q")
        kind = {v: k for k, v in CODES.items()}[code]
        out[name] = (f"{kind}{bits}", shape, data[at:at + size])
        at += size
    assert at == len(data)
    return out


class Archive:
    def __init__(self, path, folder):
        self.path = path
        with tarfile.open(path) as tar:
            common.unpack(tar, folder)
        self.graph_path = next(folder.glob("executor-config/graph/*.graph"))
        self.params_path = next(folder.glob("parameters/*.params"))
        self.sources = sorted(folder.glob("codegen/host/src/*.c"))
        self.graph = json.loads(self.graph_path.read_text())
        self.params = read_params(self.params_path.read_bytes())
        self.nodes = self.graph["nodes"]
        self.rows = [0]
        for node in self.nodes:
            self.rows.append(self.rows[-1] + int(node.get("attrs", {}).get("num_outputs", 1)))
        self.dtypes = self.graph["attrs"]["dltype"][1]
        self.shapes = self.graph["attrs"]["shape"][1]
        self.sizes = [math.prod(s) * np.dtype(d).itemsize
                      for s, d in zip(self.shapes, self.dtypes)]
        self.inputs = [n for n in self.graph["arg_nodes"]
                       if self.nodes[n]["name"] not in self.params]

    def random_inputs(self, count, seed=1):
        rng = np.random.default_rng(seed)
        out = []
        for _ in range(count):
            arrays = []
            for node in self.inputs:
                row = self.rows[node]
                info = np.iinfo(self.dtypes[row])
                arrays.append(rng.integers(info.min, info.max + 1, self.shapes[row],
                                           self.dtypes[row]))
            out.append(arrays)
        return out


def oracle_source(a):
    """The C of the oracle program."""
    text = {k: "" for k in ("buffers", "tensors", "prototypes", "load", "run")}
    for row, (dtype, shape, size) in enumerate(zip(a.dtypes, a.shapes, a.sizes)):
        text["buffers"] += f"static union {{ uint8_t at[{size}]; double align; }} b{row};\n"
        text["buffers"] += f"static int64_t s{row}[] = {{ {', '.join(map(str, shape + [0]))} }};\n"
        kind = dtype.rstrip("0123456789")
        text["tensors"] += (f"    {{ b{row}.at, {{ kDLCPU, 0 }}, {len(shape)}, {{ {CODES[kind]}, "
                            f"{dtype[len(kind):]}, 1 }}, s{row}, NULL, 0 }},\n")
    most = 1
    for i, node in enumerate(a.nodes):
        if node["op"] == "null":
            row = a.rows[i]
            read = f"fread(b{row}.at, 1, {a.sizes[row]}, {{}}) == {a.sizes[row]}"
            if node["name"] in a.params:
                text["load"] += f"    ok = ok && {read.format('params')};\n"
            continue
        entries = [a.rows[e[0]] + e[1] for e in node["inputs"]] + list(range(*a.rows[i:i + 2]))
        most = max(most, len(entries))
        symbol = node["attrs"]["func_name"]
        prototype = f"TVM_DLL int32_t {symbol}(TVMValue *, int *, int, TVMValue *, int *, void *);\n"
        if prototype not in text["prototypes"]:
            text["prototypes"] += prototype
        text["run"] += (f"        {{ static const int e[] = {{ {', '.join(map(str, entries))} }};\n"
                        f"          ok = ok && call({symbol}, {i}, {len(node['inputs'])}, e, "
                        f"{a.rows[i + 1] - a.rows[i]}); }}\n")
    inputs = ""
    for node in a.inputs:
        row = a.rows[node]
        inputs += f"        ok = ok && fread(b{row}.at, 1, {a.sizes[row]}, in) == {a.sizes[row]};\n"
    text["run"] = inputs + text["run"]
    return ORACLE.substitute(text, count=len(a.sizes), most=most,
                             sizes=", ".join(map(str, a.sizes)))


CRT = common.ROOT / "crt"
CRT_FLAGS = ["-I", CRT / "include", f"-DTVM_WORKSPACE_SIZE_BYTES={WORKSPACE}"]


def run_oracle(a, samples, folder):
    """(sample, node name, result) -> bytes."""
    (folder / "oracle.c").write_text(oracle_source(a))
    ordered = [a.params[n["name"]] for n in a.nodes if n["name"] in a.params]
    (folder / "params.bin").write_bytes(b"".join(p[2] for p in ordered))
    (folder / "oracle.in").write_bytes(records.pack_inputs(samples))
    common.run(["gcc", "-O1", "-w", "-ffp-contract=off", *CRT_FLAGS, folder / "oracle.c",
                *a.sources, *sorted((CRT / "src").glob("*.c")), "-o", folder / "oracle", "-lm"])
    common.run_program([folder / "oracle"], [folder / "oracle.in", folder / "params.bin"], [folder / "oracle.out"], cwd=folder)
    found = records.unpack_results((folder / "oracle.out").read_bytes())
    return {(s, a.nodes[n]["name"], r): data for s, n, r, data in found}


def build(target, folder, prefix):
    """The model with its trace hook, its operators and the runtime, as one program."""
    units = bundle.write_sources(folder, [prefix], 1)
    base = [*common.cached(target.compiler), "-std=c99", "-O2", "-ffp-contract=off", *target.flags,
            *CRT_FLAGS, "-I", folder]
    strict = ["-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
    objects = []
    for kind, sources, flags in (
            ("own", [*units, folder / "main.c", *(emitted_cases.HERE / s for s in target.sources)],
             []),
            ("model", [folder / f"{prefix}.c", folder / f"{prefix}_data.c"], strict),
            ("operators", sorted((folder / "operators").glob("*.c")), ["-w"]),
            ("crt", sorted((CRT / "src").glob("*.c")), [])):
        for source in sources:
            objects.append(folder / f"{kind}_{source.stem}.o")
            common.run([*base, *flags, "-c", source, "-o", objects[-1]], cwd=folder)
            if kind == "model":
                objects.pop()  # the traced copy is linked; this one shows that C is clean
    image = folder / "graph.elf"
    common.run([target.compiler, *target.flags, *objects, "-o", image, *target.link])
    return image


def check_memory(a, said, figures, where):
    inspected = json.loads(common.aotc("graph", "inspect", a.graph_path, "--params", a.params_path,
                                       "--json"))
    live, storage = inspected["live_bytes"], inspected["storage_bytes"]
    arena = said["arena_bytes"]
    figures.append(f"arena {arena}, live bytes {live}, storages {storage}")
    if arena != live or arena > storage:
        raise common.Failure(f"{where}: {figures[-1]}")


@pytest.fixture(scope="module")
def oracle(tmp_path_factory):
    """For a model: the archive, inputs, and what its own operators compute of them."""
    @functools.cache
    def answers(name):
        path = common.SHARED / "tvm" / f"{name}_graph.tar"
        if not path.exists():
            common.missing(f"{path} (set AOTC_SHARED to the folder)")
        folder = tmp_path_factory.mktemp(name)
        a = Archive(path, folder)
        samples = a.random_inputs(2)
        return a, samples, run_oracle(a, samples, folder)

    return answers


def run_model(name, target, convention, oracle, folder, by_files=False):
    where, prefix, chosen = f"{name} {convention}", f"{name}_graph", emitted_cases.TARGETS[target]
    bundle.require(target)
    a, samples, want = oracle(name)
    model = [a.path]
    if by_files:
        model = [a.graph_path, "--params", a.params_path, *(x for s in a.sources for x in ("--operators", s))]
    said = json.loads(common.aotc(
        "compile", *model, "--prefix", prefix, "-o", folder / "out", "--quiet", "--json",
        "--calling-convention", convention, "--input", "overwrite", "--output", "overwrite"))
    for file in (folder / "out").iterdir():
        file.rename(folder / file.name)
    (folder / f"{prefix}.in").write_bytes(records.pack_inputs(samples))
    image = build(chosen, folder, prefix)
    common.run_program([c.format(image=image) for c in chosen.command], [folder / f"{prefix}.in"],
                       [folder / f"{prefix}.out"])
    found = records.unpack_results((folder / f"{prefix}.out").read_bytes())
    layers, compared = said["layers"], set()
    for sample, call, result, data in found:
        if call == common.OUTPUT:
            continue
        tensor = layers[call]["results"][result]["tensor"]
        key = (sample, tensor.split(":")[0], result)
        if want[key] != data:
            raise common.Failure(f"{where}: sample {sample}, '{tensor}' differs")
        compared.add(key)
    if compared != set(want):
        raise common.Failure(f"{where}: {len(compared)} of {len(want)} results were compared")
    figures = [f"{len(compared)} results equal"]
    check_memory(a, said, figures, where)
    print(f"{target}: {where}: {', '.join(figures)}")


@pytest.mark.parametrize("target, convention", [
    ("gcc", "plain"), ("gcc", "packed"), ("gcc", "registry"), ("cortex_m4", "plain"), ("cortex_m4", "packed"),
    ("rv32imac", "plain"), ("rv32imac", "packed")])
@pytest.mark.models("kws", "resnet")
def test_run(model, target, convention, oracle, tmp_path):
    run_model(model, target, convention, oracle, tmp_path)


@pytest.mark.models("kws", "resnet")
def test_files(model, oracle, tmp_path):
    """From the graph, its parameters and sources as files."""
    run_model(model, "gcc", "plain", oracle, tmp_path, by_files=True)
