#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--project make: built in parallel with gcc and clang, its demo run, rebuilt when a header changes,
linked by a program of somebody else's, and built for boards.

Usage: make_kind.py --work DIR
"""
import argparse
import os
import pathlib
import re
import time

import kinds
from kinds import common


def make(folder, *arguments, **options):
    # Variables of a make that runs this test are not the user's.
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "CC", "CFLAGS")}
    text = common.run(["make", "-C", folder, "--no-print-directory", *arguments], env=env, **options)
    return text


def native(work):
    for model, compiler in (("digits_int8", "gcc"), ("digits_int8", "clang-19"), ("digits_f32", "gcc")):
        project = kinds.create("make", work / f"{model}_{compiler}", model=model)
        make(project, "-j4", f"CC={compiler}", "CFLAGS=-O2 -Wall -Wextra -Werror")
        kinds.check_demo(make(project, "check"), model)
        make(project, "size")
        consumer = work / f"{model}_{compiler}_consumer"
        common.run([compiler, *kinds.WARNINGS, kinds.HERE / "consumer.c", "-I", project / "src",
                    "-I", project / "model", project / "build" / "libdigits_app.a",
                    project / "build" / "libdigits.a", "-lm", "-o", consumer])
        print(f"{model} with {compiler}: {kinds.check_consumer(consumer, model)}")
    before = set(kinds.files_of(project)) - {p for p in kinds.files_of(project) if p.startswith("build/")}
    make(project, "clean")
    if set(kinds.files_of(project)) != before or (project / "build").exists():
        raise common.Failure("make clean leaves something behind, or takes something away")


def names_of_classes(work):
    """The demo says the name of the largest class, whatever is in it."""
    names = [f'class "{n}" \\ ??/ %d' for n in range(10)]
    labels = work / "labels.txt"
    labels.write_text("\n".join(names))
    project = kinds.create("make", work / "labels", "--labels", labels)
    text = make(project, "check")
    kinds.check_demo(text)
    found = re.findall(r"^input \d+: element (\d+) of 10 is the largest, '(.*)', \d", text, re.M)
    if len(found) != 3 or any(name != names[int(n)] for n, name in found):
        raise common.Failure(f"the names of classes are not printed:\n{text}")


def rebuilds(work):
    project = kinds.create("make", work / "rebuilds")
    make(project, "-j4")
    if make(project, "all", "-q", expect=None).returncode != 0:
        raise common.Failure("make builds again what is built")
    later = time.time() + 2
    os.utime(project / "model" / "digits.h", (later, later))
    if make(project, "all", "-q", expect=None).returncode != 1:
        raise common.Failure("make does not notice a changed header")


def variables(work):
    project = kinds.create("make", work / "variables")
    make(project, "-j4", "SELF_TEST=0", "ARENA_SECTION=.somewhere", "BUILD=other_place")
    library = project / "other_place" / "libdigits_app.a"
    if ".somewhere" not in common.run(["objdump", "-h", library]):
        raise common.Failure("the arena is in no section of its own")
    if "digits_run_traced" in common.run(["nm", library]):
        raise common.Failure("SELF_TEST=0 keeps the traced copy")


def boards(work):
    """As made for a board, and a project for any board by CROSS."""
    for board in ("qemu_mps2_an386", "qemu_microbit", "qemu_riscv32"):
        project = kinds.create("make", work / board, "--board", board)
        common.require(common.board(board)["toolchain"]["compiler"])
        make(project, "-j4", "CFLAGS=-Os -Wall -Wextra -Werror")
        make(project, "size")
        common.aotc("build", project, "--quiet")
        kinds.check_not_run(project)
    project = kinds.create("make", work / "any")
    make(project, "-j4", "CROSS=arm-none-eabi-", "CPU_FLAGS=-mcpu=cortex-m4 -mthumb")
    library = project / "build" / "arm-none-eabi" / "libdigits.a"
    if "Tag_CPU_name: \"7E-M\"" not in common.run(["arm-none-eabi-readelf", "-A", library]):
        raise common.Failure("CROSS and CPU_FLAGS do not reach the compiler")
    if (library.parent / "digits_demo").exists():
        raise common.Failure("a demo for this machine was built with a cross compiler")
    print("boards: built for Cortex-M0, Cortex-M4 and RISC-V")


def commands(work):
    project = kinds.create("make", work / "a folder with 'quotes'", "--board", "host")
    common.aotc("build", project, "--quiet")
    if "bit-exact" not in common.aotc("run", project):
        raise common.Failure("aotc run did not run the demo")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    work = common.fresh(parser.parse_args().work.resolve())
    common.require("make", "gcc", "clang-19")
    native(work)
    names_of_classes(work)
    rebuilds(work)
    variables(work)
    boards(work)
    commands(work)


if __name__ == "__main__":
    common.main_of(main)
