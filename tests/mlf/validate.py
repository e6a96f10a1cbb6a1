#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is this a Model Library Format archive of version 7? Usage: validate.py ARCHIVE...

Knows the format from its description and nothing of aotc: members of the tar, keys and types of
metadata.json, names and numbering of files, the parameters file byte by byte. Prints every fault.
"""
import argparse
import json
import re
import struct
import sys
import tarfile

DTYPES = {"bool": 1, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4,
          "int64": 8, "uint64": 8, "float16": 2, "float32": 4, "float64": 8}
PARAMS_MAGIC, ARRAY_MAGIC = 0xF7E58D4F05049CB7, 0xDD5E40F096B4A13F
COMMON = {"model_name": str, "export_datetime": str, "style": str, "executors": list,
          "target": list, "memory": dict}


class Faults(list):
    def expect(self, good, text):
        if not good:
            self.append(text)
        return good


def is_size(value):
    return type(value) is int and value >= 0


# --- The parameters file --------------------------------------------------------------------------


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        if count < 0 or self.at + count > len(self.data):
            raise ValueError(f"ends at byte {len(self.data)}, {count} more are needed at {self.at}")
        self.at += count
        return self.data[self.at - count:self.at]

    def unpack(self, form):
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))


def read_array(data):
    magic, reserved, device, device_id, rank, code, bits, lanes = data.unpack("QQiiiBBH")
    if magic != ARRAY_MAGIC or reserved != 0:
        raise ValueError("an array without its magic number")
    if (device, device_id, lanes) != (1, 0, 1) or code > 6 or bits % 8 or rank < 0:
        raise ValueError(f"array of device {device}:{device_id}, type {code}/{bits}x{lanes}")
    shape = data.unpack(f"{rank}q")
    (size,) = data.unpack("q")
    elements = 1
    for dim in shape:
        elements *= dim
    if size != elements * bits // 8:
        raise ValueError(f"array of shape {shape} and {bits} bits has {size} bytes")
    return shape, (code, bits), data.take(size)


def read_params(raw):
    """name -> (shape, (code, bits), bytes); ValueError for anything that is not such a file."""
    data = Bytes(raw)
    magic, reserved, count = data.unpack("QQQ")
    if magic != PARAMS_MAGIC or reserved != 0:
        raise ValueError("no parameters file")
    names = []
    for _ in range(count):
        (length,) = data.unpack("Q")
        names.append(data.take(length).decode())
    (arrays,) = data.unpack("Q")
    if arrays != count or len(set(names)) != count:
        raise ValueError(f"{count} names, {len(set(names))} of them distinct, for {arrays} arrays")
    out = {name: read_array(data) for name in names}
    if data.at != len(raw):
        raise ValueError(f"{len(raw) - data.at} bytes too many")
    return out


# --- The tar --------------------------------------------------------------------------------------


def read_tar(path, faults):
    """name without './' -> bytes."""
    files, names, folders = {}, [], set()
    with tarfile.open(path, "r:") as tar:
        members = tar.getmembers()
        faults.expect(members and members[0].name == "." and members[0].isdir(),
                      "the first member is not the folder '.'")
        for m in members[1:]:
            names.append(m.name)
            if not faults.expect(m.name.startswith("./"), f"member '{m.name}' without './'"):
                continue
            faults.expect(".." not in m.name.split("/"), f"member '{m.name}' leaves the folder")
            faults.expect(m.isfile() or m.isdir(), f"member '{m.name}' is special")
            parent = m.name.rsplit("/", 1)[0]
            faults.expect(parent == "." or parent in folders, f"'{m.name}' before its folder")
            if m.isdir():
                folders.add(m.name)
            else:
                files[m.name[2:]] = tar.extractfile(m).read()
            if not m.name.startswith(("./runtime", "./templates")):
                faults.expect((m.uid, m.gid, m.uname, m.gname) == (0, 0, "root", "root"),
                              f"member '{m.name}' belongs to {m.uid}:{m.gid}")
    faults.expect(len(set(names)) == len(names), "a member is there twice")
    return files


# --- metadata.json --------------------------------------------------------------------------------


def check_keys(where, value, required, optional, faults):
    if not faults.expect(isinstance(value, dict), f"{where} is no object"):
        return False
    good = True
    for key, kind in required.items():
        if not faults.expect(key in value, f"{where}: key '{key}' is missing"):
            good = False
        elif not faults.expect(type(value[key]) is kind, f"{where}.{key} is no {kind.__name__}"):
            good = False
    for key in value:
        faults.expect(key in required or key in optional, f"{where}: key '{key}' is not known")
    return good


def check_common(where, m, style, faults):
    faults.expect(m["style"] == style, f"{where}.style is '{m['style']}'")
    faults.expect(re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ", m["export_datetime"]),
                  f"{where}.export_datetime is '{m['export_datetime']}'")
    faults.expect(m["target"] and all(isinstance(t, str) for t in m["target"]),
                  f"{where}.target is no list of strings")
    for t in m["target"]:
        faults.expect(re.match(r"(c|llvm)( |$)", t), f"{where}: target '{t}' is neither c nor llvm")


def check_functions(where, functions, faults):
    size = {"device": int, "workspace_size_bytes": int}
    for i, main in enumerate(functions["main"]):
        at = f"{where}.main[{i}]"
        if not check_keys(at, main, {**size, "constants_size_bytes": int, "io_size_bytes": int,
                                      **({"state_size_bytes": int} if "state_size_bytes" in main else {})},
                          {"inputs", "outputs"}, faults):
            continue
        for key in ("device", "workspace_size_bytes", "constants_size_bytes", "io_size_bytes"):
            faults.expect(is_size(main[key]), f"{at}.{key} is {main[key]}")
        for key in ("inputs", "outputs"):
            for name, port in main.get(key, {}).items():
                if check_keys(f"{at}.{key}.{name}", port, {"size": int, "dtype": str}, (), faults):
                    faults.expect(port["dtype"] in DTYPES and
                                  port["size"] % DTYPES[port["dtype"]] == 0,
                                  f"{at}.{key}.{name}: {port}")
    for i, f in enumerate(functions["operator_functions"]):
        at = f"{where}.operator_functions[{i}]"
        if check_keys(at, f, {"function_name": str, "workspace": list}, (), faults):
            for k, w in enumerate(f["workspace"]):
                if check_keys(f"{at}.workspace[{k}]", w, size, (), faults):
                    faults.expect(all(is_size(v) for v in w.values()), f"{at}: {w}")


def check_module(name, m, files, faults):
    where = f"modules.{name}"
    if not check_keys(where, m, COMMON, {"external_dependencies"}, faults):
        return
    check_common(where, m, "full-model", faults)
    faults.expect(m["model_name"] == name, f"{where}.model_name is '{m['model_name']}'")
    graph = m["executors"] == ["graph"]
    faults.expect(graph or m["executors"] == ["aot"], f"{where}.executors is {m['executors']}")
    memory = m["memory"]
    required = {"functions": dict, **({"sids": list} if graph else {})}
    if check_keys(f"{where}.memory", memory, required, (), faults):
        for i, s in enumerate(memory.get("sids", ())):
            check_keys(f"{where}.memory.sids[{i}]", s, {"storage_id": int, "size_bytes": int},
                       {"input_binding"}, faults)
        if check_keys(f"{where}.memory.functions", memory["functions"],
                      {"main": list, "operator_functions": list}, (), faults):
            check_functions(f"{where}.memory.functions", memory["functions"], faults)
    for d in m.get("external_dependencies", ()):
        check_keys(f"{where}.external_dependencies", d,
                   {"short_name": str, "url": str, "url_type": str, "version_spec": str}, (),
                   faults)
        if files is not None and d.get("url_type") == "mlf_path":
            folder = d["url"].removeprefix("./") + "/"
            faults.expect(any(f.startswith(folder) for f in files), f"'{d['url']}' is not there")
    if files is not None:
        check_model_files(name, graph, m, files, faults)


def numbered(files, pattern):
    return sorted(int(found[1]) for found in (re.fullmatch(pattern, f) for f in files) if found)


def check_model_files(name, graph, m, files, faults):
    quoted = re.escape(name)
    sources = numbered(files, rf"codegen/host/src/{quoted}_lib(\d+)\.(?:c|cc|cpp)")
    objects = numbered(files, rf"codegen/host/lib/{quoted}_lib(\d+)\.o")
    faults.expect(sources or objects, f"model {name} has no code")
    for numbers in (sources, objects):
        faults.expect(numbers == list(range(len(numbers))), f"{name}_lib are numbered {numbers}")
    for needed in (f"parameters/{name}.params", f"src/{name}.relay"):
        faults.expect(needed in files, f"file '{needed}' is missing")
    if f"parameters/{name}.params" in files:
        try:
            read_params(files[f"parameters/{name}.params"])
        except ValueError as e:
            faults.append(f"parameters/{name}.params: {e}")
    config = f"executor-config/graph/{name}.graph"
    if faults.expect((config in files) == graph, f"'{config}' and executors {m['executors']}"):
        if graph:
            nodes = json.loads(files[config])
            faults.expect({"nodes", "arg_nodes", "heads", "attrs", "node_row_ptr"} <= set(nodes),
                          f"'{config}' is no graph")
    source = b"".join(files.get(f"codegen/host/src/{name}_lib{i}.c", b"") for i in sources)
    for f in m["memory"]["functions"]["operator_functions"]:
        defined = re.search(rb"\b" + f["function_name"].encode() + rb"\s*\(", source)
        faults.expect(objects or defined, f"function '{f['function_name']}' is in no source")


MODEL_FILES = (r"metadata\.json|codegen/host/(src/.+\.(c|cc|cpp)|lib/.+\.o|include/.+\.h)|"
               r"parameters/[^/]+\.params|src/[^/]+\.relay|executor-config/graph/[^/]+\.graph|"
               r"runtime/.+|templates/.+\.template")
OPERATOR_FILES = r"metadata\.json|codegen/host/(src/lib\d+\.c|lib/lib\d+\.o)|src/tir-\d+\.txt"


def check_model(metadata, files, faults):
    if not check_keys("metadata", metadata, {"version": int, "modules": dict}, (), faults):
        return
    faults.expect(metadata["modules"], "there is no module")
    for name, m in metadata["modules"].items():
        check_module(name, m, files, faults)
    if files is None:
        return
    for f in files:
        faults.expect(re.fullmatch(MODEL_FILES, f), f"'{f}' has no place in an archive")
    runtime = any(f.startswith("runtime/") for f in files)
    if any(m.get("external_dependencies") for m in metadata["modules"].values()):
        faults.expect(runtime, "there is no runtime/")
        for template in ("crt_config.h", "platform.c"):
            faults.expect(f"templates/{template}.template" in files, f"no template of {template}")
    else:
        faults.expect(not runtime, "there is a runtime/ that no module asks for")


def check_operator(metadata, files, faults):
    if not check_keys("metadata", metadata, {"version": int, **COMMON}, (), faults):
        return
    check_common("metadata", metadata, "operator", faults)
    faults.expect(metadata["executors"] == [], "executors must be empty")
    faults.expect(metadata["memory"], "there is no function")
    for name, parameters in metadata["memory"].items():
        for i, p in enumerate(parameters):
            at = f"memory.{name}[{i}]"
            if not check_keys(at, p, {"size_bytes": int, "shape": list, "dtype": str},
                              {"input_binding"}, faults):
                continue
            faults.expect("input_binding" in p and isinstance(p["input_binding"], (str, type(None))),
                          f"{at}.input_binding is {p.get('input_binding')}")
            elements = 1
            for dim in p["shape"]:
                elements *= dim
            faults.expect(p["dtype"] in DTYPES and
                          elements * DTYPES.get(p["dtype"], 0) == p["size_bytes"], f"{at}: {p}")
    if files is None:
        return
    for f in files:
        faults.expect(re.fullmatch(OPERATOR_FILES, f), f"'{f}' has no place in an archive")
    sources = numbered(files, r"codegen/host/src/lib(\d+)\.c")
    objects = numbered(files, r"codegen/host/lib/lib(\d+)\.o")
    faults.expect(sources or objects, "there is no code")
    faults.expect(sources == list(range(len(sources))), f"libs are numbered {sources}")
    faults.expect(any(f.startswith("src/tir-") for f in files), "there is no src/tir-N.txt")
    code = b"".join(files[f"codegen/host/src/lib{i}.c"] for i in sources)
    for name in metadata["memory"]:
        faults.expect(objects or re.search(rb"\b" + name.encode() + rb"\s*\(", code),
                      f"function '{name}' is in no source")
    if len(sources) > 1:
        check_registry(files["codegen/host/src/lib0.c"], metadata["memory"], faults)


def check_registry(lib0, functions, faults):
    for part in (b"TVMSystemLibEntryPoint", b"TVMFuncRegistry", b"TVMModule"):
        faults.expect(part in lib0, f"lib0.c has no {part.decode()}")
    for name in functions:
        faults.expect(name.encode() + b"\\0" in lib0 or b'"' + name.encode() + b'"' in lib0 or
                      name.encode() + b"\\000" in lib0, f"'{name}' is not registered")


def check_metadata(text, files, faults):
    try:
        metadata = json.loads(text)
    except ValueError as e:
        faults.append(f"metadata.json: {e}")
        return
    if not faults.expect(isinstance(metadata, dict), "metadata.json is no object"):
        return
    faults.expect(metadata.get("version") == 7, f"version is {metadata.get('version')}")
    if metadata.get("style") == "operator":
        faults.expect(text == json.dumps(metadata), "metadata.json has another layout")
        check_operator(metadata, files, faults)
    else:
        faults.expect(text == json.dumps(metadata, indent=2, sort_keys=True),
                      "metadata.json has another layout")
        check_model(metadata, files, faults)


def validate(path):
    """Faults of an archive, or of a metadata.json by itself."""
    faults = Faults()
    if str(path).endswith(".json"):
        with open(path) as f:
            check_metadata(json.dumps(json.load(f), indent=2, sort_keys=True), None, faults)
        return faults
    try:
        files = read_tar(path, faults)
    except (tarfile.TarError, OSError) as e:
        faults.append(str(e))
        return faults
    if faults.expect("metadata.json" in files, "there is no ./metadata.json"):
        check_metadata(files["metadata.json"].decode(), files, faults)
    return faults


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", nargs="+")
    total = 0
    for archive in parser.parse_args().archive:
        found = validate(archive)
        total += len(found)
        print(f"{archive}: {len(found)} faults")
        for fault in found:
            print(f"  {fault}")
    sys.exit(1 if total else 0)
