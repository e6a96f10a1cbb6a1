#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a project from templates/ and boards/ for the board tests, without the compiler.

Usage: instantiate.py BOARD MODEL_DIR PREFIX OUT [option=value ...]
"""
import argparse
import json
import pathlib
import re
import shutil

ROOT = pathlib.Path(__file__).resolve().parents[2]
KEY = re.compile(r"@([a-z][a-z0-9_]*)@")


def board_field(board, path):
    value = board
    for part in path.split("."):
        value = value[part]
    return value


def option_values(template, board, given):
    unknown = set(given) - set(template["options"])
    if unknown:
        raise SystemExit(f"unknown options: {sorted(unknown)}")
    values = {}
    for name, option in template["options"].items():
        value = given.get(name, option["default"])
        if isinstance(value, dict):
            # What aotc decides by the model: here where the board places arenas.
            field = value["board"] if "board" in value else "placement.arena"
            try:
                value = "chip" not in board if field == "semihosting" else board_field(board, field)
            except KeyError:
                value = ""  # the host has no memories
        values[name] = value
    return values


def output_sections(memory):
    name = memory["name"].lower()
    if memory["kind"] != "ram":
        return f"    .{name} : {{ *(.{name} .{name}.*) }} > {memory['name']}"
    return (f"    .{name} : {{ . = ALIGN(8); __{name}_start = .; *(.{name} .{name}.*) . = ALIGN(8); "
            f"__{name}_end = .; }} > {memory['name']} AT> CODE\n"
            f"    .bss..{name} (NOLOAD) : {{ *(.bss..{name}) }} > {memory['name']}")


def key_values(template, board_name, board, prefix, options, samples, labels, parts, definitions,
               inline_devices):
    placement = board["placement"]
    memory_map = "\n".join(
        f"    {m['name']} (rwx) : ORIGIN = {m['origin']}, LENGTH = {m['size']}"
        for m in board["memories"])
    ram = [m["name"].lower() for m in board["memories"] if m["kind"] == "ram"]
    memory_sections = "\n".join(output_sections(m) for m in board["memories"])
    memory_copies = "".join(
        f" LONG(LOADADDR(.{n})) LONG(__{n}_start) LONG(__{n}_end)" for n in ram)
    sample_bytes = b"".join(samples)
    # The last key of template.json's list that is missing here shows up as a missing key.
    return {
        "project_name": f"{prefix}_{board_name}",
        "platform_sources": " ".join(template["platforms"][board["platform"]]["sources"]),
        "part_sources": " ".join(s for part in parts for s in template["parts"][part]["sources"]),
        "device_definitions": " ".join(definitions),
        "inline_devices": "\n".join(f"INLINE_DEVICE({name})" for name in inline_devices),
        "run_command": " ".join(board["emulator"]["argv"]).format(
            image="build/firmware.elf", arguments="").strip(),
        "prefix": prefix,
        "macro_prefix": prefix.upper(),
        "sample_count": str(len(samples)),
        "sample_bytes": ", ".join(str(b) for b in sample_bytes) or "0",
        "check_count": "0",  # what layers give is known to the compiler only
        "layer_checks": "",
        "layer_names": '""',
        "labels": "".join(f'"{label}", ' for label in labels),
        "board": board_name,
        "board_title": board["title"],
        "cpu": board["cpu"],
        "toolchain_prefix": board["toolchain"]["prefix"],
        "compiler": board["toolchain"]["compiler"],
        "cpu_flags": " ".join(board["toolchain"]["cflags"]),
        "link_flags": " ".join(board["toolchain"].get("link_flags", [])),
        "memory_map": memory_map,
        "memory_sections": memory_sections,
        "memory_copies": memory_copies,
        "pool_sections": "",
        "region_code": placement.get("code", ""),
        "region_constants": placement.get("constants", ""),
        "region_data": placement.get("data", ""),
        "region_arena": options["arena"],
        "uart_kind": options["console"],
        "uart_base": board["console"].get("base", "0x0"),
        "baud": str(options["baud"]),
        "chip_definitions": "",  # of real boards, which are aotc's to try
        "firmware_id": "1u",
        "clock_hz": str(board["clock"]["hz"]),
        "memory_setups": "",
        "stand_in_hz": str(board.get("emulator", {}).get("clock_hz", 0)),
        "clock_is_instructions": str(int(board["clock"]["unit"] == "instructions")),
        "semihosting": str(int(options["semihosting"] in (True, "true"))),
        "stack_size": str(options["stack_size"]),
        "optimize": options["optimize"],
        "license_text": "0BSD",
    }


def source_of(file, folder):
    kind = file.get("template", folder.name)
    return (ROOT if kind == "crt" else folder.parent) / kind / file.get("from", file["path"])


def check_template(template, folder):
    """Every key in a file is declared, every declared key is in a file."""
    used = set()
    for file in template["files"]:
        used |= set(KEY.findall(source_of(file, folder).read_text()))
    declared = set(template["keys"])
    if used != declared:
        raise SystemExit(f"keys undeclared: {sorted(used - declared)}, "
                         f"unused: {sorted(declared - used)}")


def instantiate(board_name, model_dir, prefix, out, given=None, samples=(), labels=(), parts=(),
                definitions=(), inline_devices=()):
    folder = ROOT / "templates" / "bare_metal"
    template = json.loads((folder / "template.json").read_text())
    board = json.loads((ROOT / "boards" / board_name / "board.json").read_text())
    check_template(template, folder)
    options = option_values(template, board, given or {})
    if options["semihosting"] not in (True, "true") and board["platform"] != "host":
        parts = (*parts, template["options"]["semihosting"]["off"])
    values = key_values(template, board_name, board, prefix, options, list(samples), labels,
                        parts, definitions, inline_devices)
    if set(values) != set(template["keys"]):
        raise SystemExit(f"keys differ: {set(values) ^ set(template['keys'])}")
    out = pathlib.Path(out)
    for file in template["files"]:
        if board["platform"] not in file.get("platforms", [board["platform"]]):
            continue
        if "part" in file and file["part"] not in parts:
            continue
        text = source_of(file, folder).read_text()
        target = out / file["path"]
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(KEY.sub(lambda m: values[m.group(1)], text))
    shutil.copytree(model_dir, out / template["model_folder"], dirs_exist_ok=True)
    return board


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for word in ("board", "model_dir", "prefix", "out"):
        parser.add_argument(word)
    parser.add_argument("option", nargs="*")
    given = parser.parse_args()
    instantiate(given.board, given.model_dir, given.prefix, given.out,
                given=dict(a.split("=", 1) for a in given.option))
