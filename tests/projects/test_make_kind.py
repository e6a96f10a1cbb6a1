# SPDX-License-Identifier: Apache-2.0
"""--project make: built in parallel with gcc and clang, its demo run, rebuilt when a header changes,
linked by a program of somebody else's, and built for boards."""
import os
import re
import time

from kinds import common
import kinds
import pytest


def make(folder, *arguments, **options):
    # Variables of a make that runs this test are not the user's.
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "CC", "CFLAGS")}
    text = common.run(["make", "-C", folder, "--no-print-directory", *arguments], env=env, **options)
    return text


@pytest.mark.parametrize("model, compiler", [("digits_int8", "gcc"), ("digits_int8", "clang-19"), ("digits_f32", "gcc")])
def test_native(model, compiler, tmp_path):
    common.require("make", compiler)
    project = kinds.create("make", tmp_path / "project", model=model)
    before = kinds.files_of(project)
    make(project, "-j4", f"CC={compiler}", "CFLAGS=-O2 -Wall -Wextra -Werror")
    kinds.check_demo(make(project, "check"), model)
    make(project, "size")
    consumer = tmp_path / "consumer"
    common.run([compiler, *kinds.WARNINGS, kinds.HERE / "consumer.c", "-I", project / "src",
                "-I", project / "model", project / "build" / "libdigits_app.a",
                project / "build" / "libdigits.a", "-lm", "-o", consumer])
    kinds.check_consumer(consumer, model)
    make(project, "clean")
    assert kinds.files_of(project) == before and not (project / "build").exists()


def test_names_of_classes(tmp_path):
    """The demo says the name of the largest class, whatever is in it."""
    names = [f'class "{n}" \\ ??/ %d' for n in range(10)]
    labels = tmp_path / "labels.txt"
    labels.write_text("\n".join(names))
    project = kinds.create("make", tmp_path / "labels", "--labels", labels)
    text = make(project, "check")
    kinds.check_demo(text)
    found = re.findall(r"^input \d+: element (\d+) of 10 is the largest, '(.*)', \d", text, re.M)
    assert len(found) == 3 and all(name == names[int(n)] for n, name in found)


def test_rebuilds(tmp_path):
    project = kinds.create("make", tmp_path / "rebuilds")
    make(project, "-j4")
    assert make(project, "all", "-q", expect=None).returncode == 0
    later = time.time() + 2
    os.utime(project / "model" / "digits.h", (later, later))
    assert make(project, "all", "-q", expect=None).returncode == 1


def test_variables(tmp_path):
    project = kinds.create("make", tmp_path / "variables")
    make(project, "-j4", "SELF_TEST=0", "ARENA_SECTION=.somewhere", "BUILD=other_place")
    library = project / "other_place" / "libdigits_app.a"
    assert ".somewhere" in common.run(["objdump", "-h", library])
    assert "digits_run_traced" not in common.run(["nm", library])


@pytest.mark.parametrize("board", ["qemu_mps2_an386", "qemu_microbit", "qemu_riscv32"])
def test_board(board, tmp_path):
    common.require(common.board(board)["toolchain"]["compiler"])
    project = kinds.create("make", tmp_path / "project", "--board", board)
    make(project, "-j4", "CFLAGS=-Os -Wall -Wextra -Werror")
    make(project, "size")
    common.aotc("build", project, "--quiet")
    kinds.check_not_run(project)


def test_cross(tmp_path):
    """A project for any board by CROSS; no demo for this machine."""
    project = kinds.create("make", tmp_path / "any")
    make(project, "-j4", "CROSS=arm-none-eabi-", "CPU_FLAGS=-mcpu=cortex-m4 -mthumb")
    library = project / "build" / "arm-none-eabi" / "libdigits.a"
    assert "Tag_CPU_name: \"7E-M\"" in common.run(["arm-none-eabi-readelf", "-A", library])
    assert not (library.parent / "digits_demo").exists()


def test_build_and_run(tmp_path):
    project = kinds.create("make", tmp_path / "a folder with 'quotes'", "--board", "host")
    common.aotc("build", project, "--quiet")
    assert "bit-exact" in common.aotc("run", project)
