#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/schema/ against what the commands really print: check, compile, create, report, and aotc.json of both
kinds. A field that no schema describes fails as well as one that is missing or of another type.

Usage: schema.py --aotc PROGRAM --work DIR

The check is our own and small; where the package jsonschema is installed it judges too.
"""
import argparse
import copy
import json
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMAS = {path.name: json.loads(path.read_text()) for path in (ROOT / "docs" / "schema").glob("*.json")}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float)}
# A keyword that this check does not know would be one that nobody checks.
KNOWN = {"$schema", "$ref", "$defs", "title", "description", "type", "properties", "required", "items", "enum", "const",
         "minimum", "additionalProperties"}


def wrong(value, schema, root, where):
    """What is wrong with a value, the first of it, or None."""
    if set(schema) - KNOWN:
        return f"the schema of {where} has {sorted(set(schema) - KNOWN)}"
    if "$ref" in schema:
        file, _, path = schema["$ref"].partition("#")
        root = SCHEMAS[file] if file else root
        target = root
        for part in path.strip("/").split("/"):
            target = target[part] if part else target
        return wrong(value, target, root, where)
    if "type" in schema:
        if not isinstance(value, TYPES[schema["type"]]) or isinstance(value, bool) != (schema["type"] == "boolean"):
            return f"{where} is {value!r:.60}, not of type {schema['type']}"
    if "const" in schema and value != schema["const"] or "enum" in schema and value not in schema["enum"]:
        return f"{where} is {value!r:.60}"
    if "minimum" in schema and value < schema["minimum"]:
        return f"{where} is {value}"
    if isinstance(value, list) and "items" in schema:
        return next(filter(None, (wrong(v, schema["items"], root, f"{where}[{i}]") for i, v in enumerate(value))), None)
    if isinstance(value, dict) and not schema.get("additionalProperties"):
        properties = schema.get("properties", {})
        missing = set(schema.get("required", ())) - set(value)
        if missing or set(value) - set(properties):
            return f"{where} lacks {sorted(missing)}, and has {sorted(set(value) - set(properties))} that no schema describes"
        return next(filter(None, (wrong(v, properties[n], root, f"{where}.{n}") for n, v in value.items())), None)
    return None


def others(value, name):
    """What the package jsonschema says; None where it is not installed."""
    try:
        import jsonschema
        import referencing
    except ImportError:
        return None
    registry = referencing.Registry().with_resources(
        [(n, referencing.Resource.from_contents(s)) for n, s in SCHEMAS.items()])
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[name])
    errors = list(jsonschema.Draft202012Validator(SCHEMAS[name], registry=registry).iter_errors(value))
    return errors[0].message if errors else ""


def check(value, name, what):
    problem = wrong(value, SCHEMAS[name], SCHEMAS[name], what) or others(value, name)
    if problem:
        sys.exit(f"FAILED: {what}: {problem}")


def damages(value, name):
    """The check sees what it is for: each required field missing, each of another type, one too many."""
    count = 0
    for field in SCHEMAS[name]["required"]:
        for change in ("missing", "type"):
            broken = copy.deepcopy(value)
            if change == "missing":
                del broken[field]
            else:
                broken[field] = None
            if not wrong(broken, SCHEMAS[name], SCHEMAS[name], ""):
                sys.exit(f"FAILED: {name}: '{field}' {change} is not seen")
            count += 1
    if not wrong({**value, "new": 1}, SCHEMAS[name], SCHEMAS[name], ""):
        sys.exit(f"FAILED: {name}: a field that no schema describes is not seen")
    return count


def lifetimes(value):
    """Tensors that are alive at a time share no byte, unless one is a view or a part of the other."""
    places = {(t["name"], t["first_call"]): t for t in value["tensors"] if t["storage"] == "arena"}
    for entry in value["memory"]:
        if "tensor" not in entry:
            continue
        tensor = places.get((entry["tensor"], entry["first_call"]))
        if tensor is None or (tensor["offset"], tensor["bytes"], tensor["last_call"]) != \
                (entry["offset"], entry["bytes"], entry["last_call"]):
            sys.exit(f"FAILED: {entry} of 'memory' is {tensor} in 'tensors'")
    for name, first in places:
        tensor = places[name, first]
        if not -1 <= first <= tensor["last_call"] <= len(value["layers"]) or \
                tensor["offset"] + tensor["bytes"] > value["arena_bytes"]:
            sys.exit(f"FAILED: {tensor}")
    named = {r["tensor"] for layer in value["layers"] for r in layer.get("results", [])}
    missing = named - {t["name"] for t in value["tensors"]}
    if missing:
        sys.exit(f"FAILED: results of layers that are no tensors: {missing}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aotc", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    args = parser.parse_args()
    shutil.rmtree(args.work, ignore_errors=True)
    args.work.mkdir(parents=True)

    def printed(*arguments):
        done = subprocess.run([args.aotc, *map(str, arguments), "--json", "-q"], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    models = ROOT / "tests" / "models"
    # Views, parts and several outputs; state; pools; no arena of the model's; a board.
    cases = [("digits/digits_int8", []), ("digits/digits_int8", ["--board", "qemu_mps2_an386"]),
             ("gadget/gadget_f32", ["--input", "preserve"]), ("gadget/gadget_int8", ["--output", "overwrite"]),
             ("state/gru_pair_int8", []), ("state/collatz_f32", []), ("gadget/gadget_int8", ["--memory", "workspace", "--calling-convention", "packed"])]
    count = 0
    for model, options in cases:
        value = printed("check", models / f"{model}.tflite", *options)
        check(value, "compile.schema.json", f"check {model} {' '.join(options)}")
        if "memory" in value:
            lifetimes(value)
        count += 1
    digits = models / "digits" / "digits_int8.tflite"
    check(printed("check", digits, "--pool", "sram:1000000"), "compile.schema.json", "check with a pool")
    check(printed("compile", digits, "-o", args.work / "c"), "compile.schema.json", "compile")
    check(printed("create", digits, "--project", "make", "--license", "MIT", "-o", args.work / "p"), "compile.schema.json", "create")
    gadget = models / "gadget" / "gadget_int8.tflite"
    both = printed("compile", digits, gadget, "--together", "-o", args.work / "t")
    check(both, "together.schema.json", "compile --together")
    count += damages(both, "together.schema.json")
    printed("compile", digits, "--constants-file", "weights.bin", "-o", args.work / "w")
    for folder in ("t", "w", "c", "p"):
        value = json.loads((args.work / folder / "aotc.json").read_text())
        check(value, "aotc.schema.json", f"aotc.json of {folder}")
        count += damages(value, "aotc.schema.json")
    report = printed("report", digits)
    check(report, "report.schema.json", "report")
    count += damages(report, "report.schema.json") + damages(value["summary"], "compile.schema.json")
    print(f"{count + 7} documents and damaged ones judged")


if __name__ == "__main__":
    main()
