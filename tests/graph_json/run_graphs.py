#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Graphs that TVM wrote, compiled ahead of time: every intermediate equal to what the archive's own
operators compute when they are called in graph order.

Usage: run_graphs.py TARGET --work DIR [--convention C]... [--memory M] [--json]

TARGET: gcc, clang (this machine), cortex_m4, rv32imac (QEMU). The oracle is a C program for this
machine, made from the archive by this script alone: it reads the graph and the parameters with
Python's json and struct, gives every entry a buffer of its own and calls the nodes' functions one
after the other. With --json the model is compiled from GRAPH.json, --params and --operators instead of
the archive.
"""
import argparse
import json
import math
import os
import pathlib
import string
import struct
import sys
import tarfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import bundle  # noqa: E402
import common  # noqa: E402
import emitted_cases  # noqa: E402
import records  # noqa: E402

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


def run_model(a, name, options, target, want, samples, convention):
    where = f"{name} {convention}"
    prefix = f"{name}_graph"
    folder = common.fresh(options.work.resolve() / f"{name}_{convention}")
    model = [a.path]
    if options.json:
        model = [a.graph_path, "--params", a.params_path, *(x for s in a.sources for x in ("--operators", s))]
    said = json.loads(common.aotc(
        "compile", *model, "--prefix", prefix, "-o", folder / "out", "--quiet", "--json",
        "--calling-convention", convention, "--input", "overwrite", "--output", "overwrite"))
    for file in (folder / "out").iterdir():
        file.rename(folder / file.name)
    (folder / f"{prefix}.in").write_bytes(records.pack_inputs(samples))
    image = build(target, folder, prefix)
    common.run_program([c.format(image=image) for c in target.command], [folder / f"{prefix}.in"],
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
    print(f"{options.target}: {where}: {', '.join(figures)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", choices=emitted_cases.TARGETS)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--convention", action="append", default=[])
    parser.add_argument("--models", default="kws,resnet")
    parser.add_argument("--samples", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    target = emitted_cases.TARGETS[options.target]
    common.require(target.compiler, "gcc", *(c for c in target.command[:1] if "{" not in c))
    folder = common.fresh(options.work.resolve())
    for name in options.models.split(","):
        path = common.SHARED / "tvm" / f"{name}_graph.tar"
        if not path.exists():
            if os.environ.get("CI") == "true":
                raise common.Failure(f"{path} is missing, and CI=true")
            common.skip(f"{path} is missing (set AOTC_SHARED to the folder)")
        a = Archive(path, folder / name)
        samples = a.random_inputs(options.samples)
        want = run_oracle(a, samples, folder / name)
        for convention in options.convention or ["plain"]:
            run_model(a, name, options, target, want, samples, convention)


if __name__ == "__main__":
    common.main_of(main)
