#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Graphs load and save without loss: documents.py AOTC WORK [--shared].

The judge is Python's json module: what `aotc graph convert` writes is the same JSON as what it read,
and what `aotc graph inspect --json` says is what the columns say. With --shared: of the archives that
TVM wrote, byte for byte, with parameters.
"""
import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tarfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("AOTC_SHARED") or ROOT.parent / "shared") / "tvm"
PARSER = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
PARSER.add_argument("aotc")
PARSER.add_argument("work", type=pathlib.Path)
PARSER.add_argument("--shared", action="store_true")
OPTIONS = PARSER.parse_args()
AOTC, WORK = OPTIONS.aotc, OPTIONS.work
BYTES = {"int8": 1, "uint8": 1, "bool": 1, "int16": 2, "uint16": 2, "int32": 4, "float32": 4,
         "int64": 8, "float64": 8}
OLDER = {"dltype": "dtype", "device_index": "device_type"}


def expect(condition, text):
    if not condition:
        print(f"FAILED: {text}")
        sys.exit(1)


def aotc(*arguments):
    done = subprocess.run([AOTC, *map(str, arguments)], capture_output=True, text=True, timeout=600,
                          stdin=subprocess.DEVNULL)
    expect(done.returncode == 0, f"{arguments}: {done.stderr}")
    return done.stdout


def columns_of(document):
    columns = document["attrs"]
    return {name: columns.get(name, columns.get(OLDER.get(name)))
            for name in ("dltype", "shape", "storage_id", "device_index")}


def live_bytes(document, sizes, params):
    """The most bytes alive at one node, counted node by node: slow and plain."""
    rows, nodes = [0], document["nodes"]
    for node in nodes:
        attributes = node.get("attrs", node.get("attr", {}))
        rows.append(rows[-1] + int(attributes.get("num_outputs", 1)))
    entry = lambda e: rows[e[0]] + e[1]
    operators = [i for i, n in enumerate(nodes) if n["op"] != "null"]
    born, dies = {}, {}
    for i, node in enumerate(nodes):
        for row in range(rows[i], rows[i + 1]):
            born[row] = i if node["op"] != "null" else -1
            dies[row] = i if node["op"] != "null" else -1
        for e in node["inputs"]:
            dies[entry(e)] = max(dies[entry(e)], i)
    for e in document["heads"]:
        dies[entry(e)] = len(nodes)
    # An argument that nobody reads is passed all the same.
    dies = {row: max(last, operators[0]) if born[row] < 0 else last for row, last in dies.items()}
    return max(sum(sizes[r] for r in born if r not in params and born[r] <= at <= dies[r])
               for at in operators)


def storage_bytes(columns, sizes, params):
    ids = columns["storage_id"][1] if columns["storage_id"] else range(len(sizes))
    ids = list(ids)
    largest = {}
    for row, storage in enumerate(ids):
        largest[storage] = max(largest.get(storage, 0), sizes[row])
    return sum(size for storage, size in largest.items() if storage not in {ids[p] for p in params})


def check(path, exact, params=None):
    text, with_params = path.read_text(), ["--params", params] if params else []
    document = json.loads(text)
    out = WORK / "converted.json"
    aotc("graph", "convert", path, *with_params, "-o", out)
    written = out.read_text()
    expect(not exact or written == text, f"{path}: other bytes")
    again = WORK / "again.json"
    aotc("graph", "convert", out, *with_params, "-o", again)
    expect(again.read_text() == written, f"{path}: written twice, differs")
    said = json.loads(aotc("graph", "inspect", path, *with_params, "--json"))
    columns, entries = columns_of(document), said["entries"]
    for key, column in (("dtype", "dltype"), ("shape", "shape"), ("storage_id", "storage_id"),
                        ("device", "device_index")):
        if columns[column]:
            expect([e[key] for e in entries] == columns[column][1], f"{path}: {column} differs")
    sizes = [BYTES[e["dtype"]] * math.prod(e["shape"]) for e in entries]
    expect([e["bytes"] for e in entries] == sizes, f"{path}: sizes differ")
    rows = {row for row, e in enumerate(entries) if e["role"] == "parameter"}
    expect(said["live_bytes"] == live_bytes(document, sizes, rows), f"{path}: live bytes")
    expect(said["storage_bytes"] == storage_bytes(columns, sizes, rows), f"{path}: storage bytes")
    print(f"{path.name}: {len(document['nodes'])} nodes, live {said['live_bytes']} bytes, "
          f"storages {said['storage_bytes']} bytes")
    return json.loads(written), document


def own():
    folder = ROOT / "tests" / "graph_json" / "malformed"
    for name in ("valid", "transfers", "devices", "names"):
        written, document = check(folder / f"{name}.json", exact=False)
        expect(written == document, f"{name}: other JSON: {written}")


def shared():
    if not SHARED.is_dir():
        print(f"SKIPPED: {SHARED} is missing (set AOTC_SHARED)")
        sys.exit(1 if os.environ.get("CI") == "true" else 77)
    for model in ("kws", "resnet"):
        with tarfile.open(SHARED / f"{model}_graph.tar") as tar:
            for member in (f"executor-config/graph/{model}.graph", f"parameters/{model}.params"):
                (WORK / pathlib.Path(member).name).write_bytes(
                    tar.extractfile(f"./{member}").read())
        check(WORK / f"{model}.graph", exact=True)
        check(WORK / f"{model}.graph", exact=True, params=WORK / f"{model}.params")


WORK.mkdir(parents=True, exist_ok=True)
shared() if OPTIONS.shared else own()
