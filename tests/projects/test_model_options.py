# SPDX-License-Identifier: Apache-2.0
"""Projects of a model that was compiled with options: 'make' stands for all kinds that share
templates/common. Each is built without a warning by strict compilers and finds itself right.

Where memory lies is looked up in the objects: a model that owns its arena is not given another one,
and of a pool of constants there is one copy, which is not written to.
"""
import re

from kinds import common
import pytest

STRICT = "-O1 -std=c99 -pedantic -Wall -Wextra -Wconversion -Wshadow -Werror"
POOLS = ["--pool", "sram:1000000"]
OPTIONS = [
    [],
    ["--arena", "model"],
    ["--arena", "model", "--output", "overwrite"],
    POOLS,
    ["--pool", "fast:4000:fast", *POOLS, "--pool", "tables:1000000:constants"],
    ["--pool", "tables:1000000:constants", *POOLS, "--output", "overwrite"],
    ["--input", "preserve"],
    ["--output", "overwrite"],
    ["--input", "preserve", "--output", "overwrite"],
    ["-O", "size", "--strip-float-io"],
]
REFUSED = {  # what says so, by option
    "--memory=workspace": "--memory workspace",
    "--calling-convention=packed": "--calling-convention packed",
    "--interface=tvm": "--interface tvm",
}


def objects(folder, suffix):
    """{name: (kind, bytes)} of a project's object, as nm tells it."""
    listed = common.run(["nm", "-S", folder / "build" / f"net{suffix}.o"])
    rows = re.findall(r"^\w+ (\w+) (\w) (\S+)$", listed, re.M)
    return {name: (kind, int(size, 16)) for size, kind, name in rows}


def check_memory(folder, options):
    memory, data = objects(folder, "_app_memory"), objects(folder, "_data")
    if options[:2] == ["--arena", "model"]:
        if "net_arena" not in data or "arena" in memory:
            raise common.Failure(f"the arena is in {sorted({**memory, **data})}")
    if any(o.endswith(":constants") for o in options) and memory.get("constants", (" ",))[0] != "r":
        raise common.Failure("the pool of constants is not read-only data of the application")


@pytest.mark.parametrize("number, options", list(enumerate(OPTIONS)), ids=[" ".join(o) or "none" for o in OPTIONS])
# The last has no tensor in its arena if its input is the caller's.
@pytest.mark.parametrize("model", ["gadget_int8", "relu_int8"])
def test_built(model, number, options, tmp_path):
    compiler, folder = ("cc", "clang-19")[number % 2], tmp_path / "project"
    common.require(compiler)
    common.aotc("create", common.model_path(model), "--board", "host", "--project", "make", "--prefix",
                "net", "-o", folder, "--quiet", *options)
    common.run(["make", "-C", folder, "-s", f"CC={compiler}", f"CFLAGS={STRICT}"])
    said = common.run([folder / "build" / "net_demo"])
    assert "@aotc done status=0" in said and "FAILED" not in said
    check_memory(folder, options)


@pytest.mark.parametrize("option", REFUSED)
def test_refused(option, tmp_path):
    made = common.aotc("create", common.model_path("gadget_int8"), "--project", "make", "-o", tmp_path / "refused", option,
                       expect=None)
    assert made.returncode == 1 and "[template-model]" in made.stderr and REFUSED[option] in made.stderr
    assert not (tmp_path / "refused").exists()
