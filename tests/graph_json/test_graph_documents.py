# SPDX-License-Identifier: Apache-2.0
"""Graphs load and save without loss.

The judge is Python's json module: what `aotc graph convert` writes is the same JSON as what it read,
and what `aotc graph inspect --json` says is what the columns say. Those that TVM wrote are the same byte for byte, with
parameters, too.
"""
import json
import math
import pathlib
import tarfile

import common
import pytest

BYTES = {"int8": 1, "uint8": 1, "bool": 1, "int16": 2, "uint16": 2, "int32": 4, "float32": 4,
         "int64": 8, "float64": 8}
OLDER = {"dltype": "dtype", "device_index": "device_type"}


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


def check(path, exact, work, params=None):
    text, with_params = path.read_text(), ["--params", params] if params else []
    document, out, again = json.loads(text), work / "converted.json", work / "again.json"
    common.aotc("graph", "convert", path, *with_params, "-o", out)
    written = out.read_text()
    assert not exact or written == text
    common.aotc("graph", "convert", out, *with_params, "-o", again)
    assert again.read_text() == written
    said = json.loads(common.aotc("graph", "inspect", path, *with_params, "--json"))
    columns, entries = columns_of(document), said["entries"]
    for key, column in (("dtype", "dltype"), ("shape", "shape"), ("storage_id", "storage_id"),
                        ("device", "device_index")):
        if columns[column]:
            assert [e[key] for e in entries] == columns[column][1], column
    sizes = [BYTES[e["dtype"]] * math.prod(e["shape"]) for e in entries]
    assert [e["bytes"] for e in entries] == sizes
    rows = {row for row, e in enumerate(entries) if e["role"] == "parameter"}
    assert said["live_bytes"] == live_bytes(document, sizes, rows)
    assert said["storage_bytes"] == storage_bytes(columns, sizes, rows)
    return json.loads(written), document


@pytest.mark.parametrize("name", ["valid", "transfers", "devices", "names"])
def test_own(name, tmp_path):
    written, document = check(pathlib.Path(__file__).resolve().parent / "malformed" / f"{name}.json", False, tmp_path)
    assert written == document


@pytest.mark.parametrize("with_params", [False, True], ids=["graph", "with parameters"])
@pytest.mark.parametrize("model", ["kws", "resnet"])
def test_shared(model, with_params, tmp_path):
    archive = common.SHARED / "tvm" / f"{model}_graph.tar"
    if not archive.exists():
        common.missing(f"{archive} (set AOTC_SHARED to the folder)")
    with tarfile.open(archive) as tar:
        for member in (f"executor-config/graph/{model}.graph", f"parameters/{model}.params"):
            (tmp_path / pathlib.Path(member).name).write_bytes(tar.extractfile(f"./{member}").read())
    check(tmp_path / f"{model}.graph", True, tmp_path, tmp_path / f"{model}.params" if with_params else None)
