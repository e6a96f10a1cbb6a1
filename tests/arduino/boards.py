#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Arduino projects on AVR boards: built by Debian's Arduino tools without a warning in our files,
run in simavr. Every printed result is LiteRT's; a damaged weight is found; RAM and flash are printed.

Usage: boards.py uno|mega|damaged|cli --work DIR
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import threading

import sketches
from sketches import common, kinds

HARDWARE = common.ARDUINO_HARDWARE
# Debian's core and its compiler disagree about a macro.
CORE_FLAGS = "compiler.cpp.extra_flags=-DDECIMAL_DIG=__DECIMAL_DIG__"
RUN_SECONDS = 120


def fqbn_of(board):
    return common.board(board)["frameworks"]["arduino"]["fqbn"]


def sizes_of(log, what):
    """Flash and RAM as the build prints them; no warning may be of a file of ours."""
    ours = [line for line in log.splitlines()
            if re.search(r"\b(warning|error):", line) and not line.startswith(str(HARDWARE))]
    if ours:
        raise common.Failure(f"{what}: the build warns:\n" + "\n".join(ours[:10]))
    flash = re.search(r"Sketch uses (\d+) bytes", log)
    ram = re.search(r"Global variables use (\d+) bytes", log)
    if not flash or not ram:
        raise common.Failure(f"{what}: the build prints no sizes:\n{log[-2000:]}")
    return int(flash[1]), int(ram[1])


def build(board, sketch, libraries, work):
    """(image, flash, RAM) of a sketch, built by arduino-builder."""
    common.require("arduino-builder", "arduino-ctags", "avr-gcc")
    folder = common.fresh(work / "build")
    cache = work / "core"
    cache.mkdir(exist_ok=True)
    command = [*common.arduino_builder(work),
               *(["-libraries", libraries] if libraries else []), "-fqbn", fqbn_of(board),
               "-build-path", folder,
               "-build-cache", cache, "-warnings", "all", f"-prefs={CORE_FLAGS}", sketch]
    done = common.run(command, expect=None, timeout=600)
    log = done.stdout + done.stderr
    if done.returncode != 0:
        raise common.Failure(f"{sketch.name} does not build for {board}:\n{log[-4000:]}")
    flash, ram = sizes_of(log, f"{sketch.name} for {board}")
    return folder / f"{sketch.name}.elf", flash, ram


def simulate(board, image, done):
    """What a sketch prints, until done(text). The simulator never ends by itself."""
    common.require("simavr")
    command = [a.format(image=image) for a in common.board(board)["emulator"]["argv"]]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               stdin=subprocess.DEVNULL)
    watchdog = threading.Timer(RUN_SECONDS, process.kill)
    watchdog.start()
    text = ""
    try:
        for raw in process.stdout:
            line = re.sub(r"\x1b\[[\d;]*m", "", raw.decode(errors="replace")).rstrip("\n")
            # The ends of lines are shown as dots, one for each character.
            text += re.sub(r"\.{1,2}$", "", line) + "\n"
            if done(text):
                return text
    finally:
        watchdog.cancel()
        process.kill()
        process.wait()
        process.stdout.close()
    raise common.Failure(f"{image.name} did not print what was waited for:\n{text[-2500:]}")


def run_and_check(case, board, image, results=None):
    """Self test, demo, `results` of feeding, those of stored inputs. Gives the microseconds of a run."""
    def done(text):
        outputs = re.findall(r"^output \d+:", text, re.M)
        return "@aotc done status=-" in text or \
            len(outputs) == sketches.SAMPLES * len(case.details)

    text = simulate(board, image, done)
    compared = case.check(text)
    case.check_demo(text)
    if results is not None:
        kinds.check_fed(text, results)
    times = re.findall(r"^input \d+: status 0, (\d+) microseconds", text, re.M)
    return compared, max(int(t) for t in times)


def show(title, board, flash, ram, compared, microseconds):
    memory = {m["kind"]: m["size"] for m in common.board(board)["memories"]}
    print(f"{title} on {board}: flash {flash} of {memory['flash']} bytes, RAM {ram} of "
          f"{memory['ram']} bytes; bit-exact, {compared} elements are LiteRT's, "
          f"{microseconds} microseconds a run")


def library_of(case, board, work):
    """The folder of libraries, and the library of a model in it."""
    folder = work / "libraries"
    name = case.prefix.capitalize() + "Model"
    return folder, case.create("arduino-library", folder / name, "--board", board)


def build_and_run(board, cases, work):
    """The library's example for each model, and the sketch of the first."""
    for case in cases:
        libraries, library = library_of(case, board, work)
        example = library / "examples" / "RunModel" / "RunModel.ino"
        image, flash, ram = build(board, example, libraries, work)
        show(f"library {library.name}", board, flash, ram, *run_and_check(case, board, image))
    case = cases[0]
    sketch = case.create("arduino-sketch", work / f"{case.prefix}_sketch", "--board", board)
    image, flash, ram = build(board, sketch / f"{sketch.name}.ino", None, work)
    show(f"sketch {sketch.name}", board, flash, ram, *run_and_check(case, board, image))
    # The image where arduino-cli puts it: aotc run ends the simulator when the demo has ended.
    (sketch / "build").mkdir()
    shutil.copy(image, sketch / "build" / f"{sketch.name}.ino.elf")
    ran = json.loads(common.aotc("run", sketch, "--json", timeout=600))
    case.check_demo(ran["output"])
    exact = ran["self_test"] == 0 and "self test: bit-exact" in ran["output"]
    if ran["exit_code"] != 0 or not exact:
        raise common.Failure(f"aotc run: {ran}")
    print("aotc run: the same")


def fed(board, work):
    """Inputs by rows and by frames. Tables are in RAM: aotc feeds none with tables in program memory."""
    for case, results in sketches.fed_cases(None, work):
        folder = work / f"libraries_{case.prefix}"
        library = case.create("arduino-library", folder / f"{case.prefix.capitalize()}Model")
        image, flash, ram = build(board, library / "examples" / "RunModel" / "RunModel.ino", folder, work)
        show(f"library {library.name}, {results} results fed", board, flash, ram,
             *run_and_check(case, board, image, results))


def damaged(board, case, work):
    """A weight that differs is found, and the layer that it belongs to is named."""
    libraries, library = library_of(case, board, work)
    sketches.damage(library / "src", case.prefix, 1)
    image, _, _ = build(board, library / "examples" / "RunModel" / "RunModel.ino", libraries, work)
    text = simulate(board, image, lambda text: "@aotc done" in text)
    sketches.check_damaged(text, 1)
    print(f"{case.prefix} on {board}: a damaged weight of layer 1 is named")


def refused(code, slug, words, *arguments, **options):
    done = common.aotc(*arguments, expect=None, **options)
    if done.returncode != code or f"[{slug}]" not in done.stderr or words not in done.stderr:
        raise common.Failure(f"not [{slug}] of {words}: {done.returncode}\n{done.stderr}")


def arduino_cli(case, work):
    """aotc build of a sketch. arduino-cli is given Debian's core through its configuration."""
    sketch = case.create("arduino-sketch", work / "cli_sketch", "--board", "arduino_uno")
    no_tools = {**os.environ, "PATH": "/nonexistent"}
    refused(5, "tool-missing", "arduino-cli/installation", "build", sketch, env=no_tools)
    # Without a board nobody knows for what; and a sketch's name is its folder's.
    anywhere = case.create("arduino-sketch", work / "anywhere")
    refused(2, "project-not-built", "arduino-cli", "build", anywhere)
    refused(1, "template-option", "my sketch", "create", case.path, "--project", "arduino-sketch",
            "-o", work / "my sketch")
    refused(1, "template-board", "qemu_microbit", "create", case.path, "--project",
            "arduino-sketch", "--board", "qemu_microbit", "-o", work / "other")
    print("aotc build without arduino-cli: exit code 5, and what to install")
    program = shutil.which("arduino-cli")
    if program is None:
        print("arduino-cli is not installed: the sketch was not built with it")
        return
    data, user = common.fresh(work / "data"), common.fresh(work / "user")
    (data / "package_index.json").write_text('{"packages": []}')
    (data / "library_index.json").write_text('{"libraries": []}')
    (user / "hardware" / "arduino").mkdir(parents=True)
    (user / "hardware" / "arduino" / "avr").symlink_to(HARDWARE / "arduino" / "avr")
    tools = common.fresh(work / "tools")
    (tools / "ctags").symlink_to(shutil.which("arduino-ctags"))
    (sketch / "build").mkdir()
    log = common.run(
        [program, "compile", "--fqbn", fqbn_of("arduino_uno"), "--warnings", "all",
         "--output-dir", sketch / "build", "--build-property", "compiler.path=/usr/bin/",
         "--build-property", f"runtime.tools.ctags.path={tools}", "--build-property", CORE_FLAGS,
         sketch],
        timeout=600, env={**os.environ, "ARDUINO_DIRECTORIES_DATA": str(data),
                          "ARDUINO_DIRECTORIES_USER": str(user)})
    flash, ram = sizes_of(log, "arduino-cli")
    image = sketch / "build" / f"{sketch.name}.ino.elf"
    show("sketch by arduino-cli", "arduino_uno", flash, ram,
         *run_and_check(case, "arduino_uno", image))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["uno", "mega", "damaged", "cli"])
    parser.add_argument("--work", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    work = common.fresh(arguments.work)
    hello = sketches.Case("hello_world_int8", "hello", work)
    if arguments.what == "uno":
        build_and_run("arduino_uno", [hello], work)
    elif arguments.what == "mega":
        digits = sketches.Case("digits_int8", "digits", work)
        build_and_run("arduino_mega2560", [digits, hello], work)
        fed("arduino_mega2560", work)
    elif arguments.what == "damaged":
        damaged("arduino_uno", hello, work)
    else:
        arduino_cli(hello, work)


if __name__ == "__main__":
    common.main_of(main)
