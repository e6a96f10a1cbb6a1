#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names in devices.json and of pools that could be the emitted code's own: names.py AOTC WORK.

What is accepted compiles with gcc without a warning (one of a hidden variable is one of a wrong table);
what would put tensors into memory that is not there or only read is refused, and nothing is written.
"""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PARSER = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
PARSER.add_argument("aotc", type=pathlib.Path)
PARSER.add_argument("work", type=pathlib.Path)
OPTIONS = PARSER.parse_args()
AOTC, WORK = OPTIONS.aotc.resolve(), OPTIONS.work.resolve()
MODEL = ROOT / "tests" / "models" / "digits" / "digits_int8.tflite"
STRICT = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
ROM = ["--pool", "rom:100000:constants"]


def compile_model(device, arguments):
    devices = [{"name": "cpu"}, {"operators": ["conv_2d", "softmax"], **device}]
    (WORK / "devices.json").write_text(json.dumps({"devices": devices}))
    shutil.rmtree(WORK / "out", ignore_errors=True)
    return subprocess.run([AOTC, "compile", MODEL, "-q", "-o", "out", "--devices", "devices.json",
                           *arguments], cwd=WORK, capture_output=True, text=True, timeout=600)


def accepted(device, *arguments):
    done = compile_model({"launch": "async", "hooks": ["Open", "Close"], **device}, arguments)
    if done.returncode != 0:
        sys.exit(f"{device} {arguments}: {done.stderr}")
    for source in sorted((WORK / "out").glob("*.c")):
        subprocess.run(["gcc", *STRICT, f"-I{ROOT}/crt/include", "-c", source, "-o", "/dev/null"],
                       check=True, timeout=600)


def refused(slug, code, device, *arguments):
    done = compile_model({"name": "acc", **device}, arguments)
    slugs = re.findall(r"\[([a-z0-9-]+)\]$", done.stderr, re.M)
    if done.returncode != code or slugs != [slug] or (WORK / "out").exists():
        sys.exit(f"{device} {arguments}: {done.returncode}, not {code} [{slug}]\n{done.stderr}")


shutil.rmtree(WORK, ignore_errors=True)
WORK.mkdir(parents=True)
for convention in "plain", "packed", "registry":
    accepted({"name": "digits"}, "--prefix", "digits", "--calling-convention", convention)
    accepted({"name": "a"}, "--pool", "context:20000", "--pool", "args:20000",
             "--calling-convention", convention, "--interface", "tvm")
accepted({"name": "a_b"}, "--pool", "b_context:20000")
accepted({"name": "status", "pool": "arena"}, "--interface", "tvm")
# Of a device that only copies, or that takes nothing, no variable is left unused.
for convention in "plain", "packed", "registry":
    for operators in "max_pool_2d", "none":
        accepted({"name": "acc", "operators": [operators], "launch": "none", "hooks": ["Copy"]},
                 "--calling-convention", convention)
refused("devices-invalid", 1, {"pool": "x; int y"})
refused("devices-invalid", 1, {"pool": "int"})
refused("option-conflict", 2, {"pool": "fast"}, "--arena", "model")
refused("option-conflict", 2, {"pool": "rom"}, *ROM)
refused("pool-invalid", 2, {}, "--pool", "arena:100000:constants")
refused("pool-invalid", 2, {}, "--pool", "a:b")
refused("option-conflict", 2, {}, *ROM, "--constants-section", ".tables")
