#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Projects of a model that was compiled with options: 'make' stands for all kinds that share
templates/common. Each is built without a warning by strict compilers and finds itself right.

Usage: model_options.py --work DIR

Where memory lies is looked up in the objects: a model that owns its arena is not given another one,
and of a pool of constants there is one copy, which is not written to.
"""
import argparse
import pathlib
import re

import kinds
from kinds import common

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


def check_built(model, options, compiler, work):
    folder = common.fresh(work / "project")
    common.aotc("create", common.model_path(model), "--board", "host", "--project", "make", "--prefix",
                "net", "-o", folder, "--quiet", *options)
    common.run(["make", "-C", folder, "-s", f"CC={compiler}", f"CFLAGS={STRICT}"])
    said = common.run([folder / "build" / "net_demo"])
    if "@aotc done status=0" not in said or "FAILED" in said:
        raise common.Failure(said[-800:])
    check_memory(folder, options)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    work = common.fresh(parser.parse_args().work.resolve())
    compilers = [c for c in ("cc", "clang-19") if kinds.shutil.which(c)]
    count = 0
    # The last has no tensor in its arena if its input is the caller's.
    for model in ("gadget_int8", "relu_int8"):
        for number, options in enumerate(OPTIONS):
            try:
                check_built(model, options, compilers[number % len(compilers)], work)
            except common.Failure as failure:
                raise common.Failure(f"{model} {' '.join(options)}: {failure}") from None
            count += 1
    for option, said in REFUSED.items():
        made = common.aotc("create", common.model_path("gadget_int8"), "--project", "make", "-o",
                           work / "refused", option, expect=None)
        if made.returncode != 1 or "[template-model]" not in made.stderr or said not in made.stderr:
            raise common.Failure(f"{option}: exit code {made.returncode}: {made.stderr}")
        if (work / "refused").exists():
            raise common.Failure(f"{option} is refused, and something was written")
    print(f"{count} projects with options of compiling built by {', '.join(compilers)} and right; "
          f"{len(REFUSED)} options refused")


if __name__ == "__main__":
    common.main_of(main)
