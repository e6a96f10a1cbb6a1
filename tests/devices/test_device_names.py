# SPDX-License-Identifier: Apache-2.0
"""Names in devices.json and of pools that could be the emitted code's own.

What is accepted compiles with gcc without a warning (one of a hidden variable is one of a wrong table);
what would put tensors into memory that is not there or only read is refused, and nothing is written.
"""
import json
import re

import common
import pytest

MODEL = common.ROOT / "tests" / "models" / "digits" / "digits_int8.tflite"
STRICT = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
ROM = ["--pool", "rom:100000:constants"]
CONVENTIONS = ("plain", "packed", "registry")
TVM = ["--interface", "tvm"]

ACCEPTED = [  # fields of the device, options
    *[({"name": "digits"}, ["--prefix", "digits", "--calling-convention", convention]) for convention in CONVENTIONS],
    *[({"name": "a"}, ["--pool", "context:20000", "--pool", "args:20000", "--calling-convention", convention, *TVM])
      for convention in CONVENTIONS],
    ({"name": "a_b"}, ["--pool", "b_context:20000"]),
    ({"name": "status", "pool": "arena"}, TVM),
    # Of a device that only copies, or that takes nothing, no variable is left unused.
    *[({"name": "acc", "operators": [operators], "launch": "none", "hooks": ["Copy"]}, ["--calling-convention", convention])
      for convention in CONVENTIONS for operators in ("max_pool_2d", "none")],
]
REFUSED = [  # slug, exit code, fields of the device, options
    ("devices-invalid", 1, {"pool": "x; int y"}, []),
    ("devices-invalid", 1, {"pool": "int"}, []),
    ("option-conflict", 2, {"pool": "fast"}, ["--arena", "model"]),
    ("option-conflict", 2, {"pool": "rom"}, ROM),
    ("pool-invalid", 2, {}, ["--pool", "arena:100000:constants"]),
    ("pool-invalid", 2, {}, ["--pool", "a:b"]),
    ("option-conflict", 2, {}, [*ROM, "--constants-section", ".tables"]),
]


def compile_model(work, device, arguments):
    devices = [{"name": "cpu"}, {"operators": ["conv_2d", "softmax"], **device}]
    (work / "devices.json").write_text(json.dumps({"devices": devices}))
    return common.aotc("compile", MODEL, "-q", "-o", "out", "--devices", "devices.json", *arguments, cwd=work, expect=None)


def name_of(device, options):
    return " ".join([*(f"{key}={value}" for key, value in device.items() if key in ("name", "pool", "operators")), *options])


@pytest.mark.parametrize("device, options", ACCEPTED, ids=[name_of(*case) for case in ACCEPTED])
def test_accepted(device, options, tmp_path):
    done = compile_model(tmp_path, {"launch": "async", "hooks": ["Open", "Close"], **device}, options)
    assert done.returncode == 0, done.stderr
    for source in sorted((tmp_path / "out").glob("*.c")):
        common.run(["gcc", *STRICT, f"-I{common.ROOT}/crt/include", "-c", source, "-o", tmp_path / "made.o"])


@pytest.mark.parametrize("slug, code, device, options", REFUSED, ids=[name_of(*case[2:]) for case in REFUSED])
def test_refused(slug, code, device, options, tmp_path):
    done = compile_model(tmp_path, {"name": "acc", **device}, options)
    slugs = re.findall(r"\[([a-z0-9-]+)\]$", done.stderr, re.M)
    assert (done.returncode, slugs, (tmp_path / "out").exists()) == (code, [slug], False), done.stderr
