# SPDX-License-Identifier: Apache-2.0
"""docs/schema/ against what the commands really print: check, compile, create, report, and aotc.json of both
kinds. A field that no schema describes fails as well as one that is missing or of another type.

The check is our own and small; where the package jsonschema is installed it judges too.
"""
import copy
import json

import common
import pytest

MODELS = common.ROOT / "tests" / "models"
DIGITS = MODELS / "digits" / "digits_int8.tflite"
SCHEMAS = {path.name: json.loads(path.read_text()) for path in (common.ROOT / "docs" / "schema").glob("*.json")}
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


def check(value, name):
    assert not (wrong(value, SCHEMAS[name], SCHEMAS[name], name) or others(value, name))


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
            assert wrong(broken, SCHEMAS[name], SCHEMAS[name], ""), f"{name}: '{field}' {change}"
            count += 1
    assert wrong({**value, "new": 1}, SCHEMAS[name], SCHEMAS[name], ""), f"{name}: a field that no schema describes"
    return count


def lifetimes(value):
    """Tensors that are alive at a time share no byte, unless one is a view or a part of the other."""
    places = {(t["name"], t["first_call"]): t for t in value["tensors"] if t["storage"] == "arena"}
    for entry in value["memory"]:
        if "tensor" not in entry:
            continue
        tensor = places.get((entry["tensor"], entry["first_call"]))
        assert tensor, f"{entry} of 'memory' is not in 'tensors'"
        assert all(tensor[key] == entry[key] for key in ("offset", "bytes", "last_call"))
    for name, first in places:
        tensor = places[name, first]
        assert -1 <= first <= tensor["last_call"] <= len(value["layers"])
        assert tensor["offset"] + tensor["bytes"] <= value["arena_bytes"]
    named = {r["tensor"] for layer in value["layers"] for r in layer.get("results", [])}
    missing = named - {t["name"] for t in value["tensors"]}
    if missing:
        raise common.Failure(f"results of layers that are no tensors: {missing}")


def printed(*arguments):
    return json.loads(common.aotc(*arguments, "--json", "-q"))


# Views, parts and several outputs; state; pools; no arena of the model's; a board.
CHECKED = [("digits/digits_int8", []), ("digits/digits_int8", ["--board", "qemu_mps2_an386"]),
           ("digits/digits_int8", ["--pool", "sram:1000000"]),
           ("gadget/gadget_f32", ["--input", "preserve"]), ("gadget/gadget_int8", ["--output", "overwrite"]),
           ("state/gru_pair_int8", []), ("state/collatz_f32", []),
           ("gadget/gadget_int8", ["--memory", "workspace", "--calling-convention", "packed"])]


@pytest.mark.parametrize("model, options", CHECKED, ids=[" ".join((model, *options)) for model, options in CHECKED])
def test_check(model, options):
    value = printed("check", MODELS / f"{model}.tflite", *options)
    check(value, "compile.schema.json")
    if "memory" in value:
        lifetimes(value)


WRITTEN = {  # arguments, and the schema of what is printed
    "compile": (["compile", DIGITS], "compile.schema.json"),
    "create": (["create", DIGITS, "--project", "make", "--license", "MIT"], "compile.schema.json"),
    "compile --together": (["compile", DIGITS, MODELS / "gadget" / "gadget_int8.tflite", "--together"], "together.schema.json"),
    "compile --constants-file": (["compile", DIGITS, "--constants-file", "weights.bin"], "compile.schema.json"),
}


@pytest.mark.parametrize("what", WRITTEN)
def test_written(what, tmp_path, record_property):
    """What is printed, and aotc.json beside the output."""
    arguments, name = WRITTEN[what]
    value = printed(*arguments, "-o", tmp_path / "out")
    check(value, name)
    description = json.loads((tmp_path / "out" / "aotc.json").read_text())
    check(description, "aotc.schema.json")
    record_property("cases", 2 + damages(description, "aotc.schema.json") + damages(value, name))


def test_report(record_property):
    value = printed("report", DIGITS)
    check(value, "report.schema.json")
    record_property("cases", 1 + damages(value, "report.schema.json"))
