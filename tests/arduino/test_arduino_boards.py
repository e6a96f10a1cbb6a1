# SPDX-License-Identifier: Apache-2.0
"""Arduino projects on AVR boards: built by Debian's Arduino tools without a warning in our files,
run in simavr. Every printed result is LiteRT's; a damaged weight is found; RAM and flash are printed."""
import json
import os
import re
import shutil
import subprocess
import threading

import pytest
from sketches import common, kinds
import sketches

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


@pytest.fixture
def hello(tmp_path):
    return sketches.Case("hello_world_int8", "hello", tmp_path)


def run_library(board, case, work):
    libraries, library = library_of(case, board, work)
    image, flash, ram = build(board, library / "examples" / "RunModel" / "RunModel.ino", libraries, work)
    show(f"library {library.name}", board, flash, ram, *run_and_check(case, board, image))


def run_sketch(board, case, work):
    sketch = case.create("arduino-sketch", work / f"{case.prefix}_sketch", "--board", board)
    image, flash, ram = build(board, sketch / f"{sketch.name}.ino", None, work)
    show(f"sketch {sketch.name}", board, flash, ram, *run_and_check(case, board, image))
    # The image where arduino-cli puts it: aotc run ends the simulator when the demo has ended.
    (sketch / "build").mkdir()
    shutil.copy(image, sketch / "build" / f"{sketch.name}.ino.elf")
    ran = json.loads(common.aotc("run", sketch, "--json", timeout=600))
    case.check_demo(ran["output"])
    assert ran["exit_code"] == 0 and ran["self_test"] == 0 and "self test: bit-exact" in ran["output"]


def test_uno_library(hello, tmp_path):
    run_library("arduino_uno", hello, tmp_path)


def test_uno_sketch(hello, tmp_path):
    run_sketch("arduino_uno", hello, tmp_path)


@pytest.mark.parametrize("model, prefix", [("digits_int8", "digits"), ("hello_world_int8", "hello")])
def test_mega_library(model, prefix, tmp_path):
    run_library("arduino_mega2560", sketches.Case(model, prefix, tmp_path), tmp_path)


def test_mega_sketch(tmp_path):
    run_sketch("arduino_mega2560", sketches.Case("digits_int8", "digits", tmp_path), tmp_path)


@pytest.mark.parametrize("how", [0, 1], ids=["rows", "frames"])
def test_mega_fed(how, tmp_path):
    """Inputs by rows and by frames. Tables are in RAM: aotc feeds none with tables in program memory."""
    case, results = sketches.fed_cases(None, tmp_path)[how]
    folder, board = tmp_path / "libraries", "arduino_mega2560"
    library = case.create("arduino-library", folder / f"{case.prefix.capitalize()}Model")
    image, flash, ram = build(board, library / "examples" / "RunModel" / "RunModel.ino", folder, tmp_path)
    show(f"library {library.name}, {results} results fed", board, flash, ram,
         *run_and_check(case, board, image, results))


def test_damaged(hello, tmp_path):
    """A weight that differs is found, and the layer that it belongs to is named."""
    libraries, library = library_of(hello, "arduino_uno", tmp_path)
    sketches.damage(library / "src", hello.prefix, 1)
    image, _, _ = build("arduino_uno", library / "examples" / "RunModel" / "RunModel.ino", libraries, tmp_path)
    sketches.check_damaged(simulate("arduino_uno", image, lambda text: "@aotc done" in text), 1)


def refused(code, slug, words, *arguments, **options):
    done = common.aotc(*arguments, expect=None, **options)
    assert done.returncode == code and f"[{slug}]" in done.stderr and words in done.stderr


def test_cli_is_missing(hello, tmp_path):
    sketch = hello.create("arduino-sketch", tmp_path / "cli_sketch", "--board", "arduino_uno")
    refused(5, "tool-missing", "arduino-cli/installation", "build", sketch, env={**os.environ, "PATH": "/nonexistent"})


def test_cli_needs_a_board(hello, tmp_path):
    refused(2, "project-not-built", "arduino-cli", "build", hello.create("arduino-sketch", tmp_path / "anywhere"))


def test_cli_name_of_a_sketch(hello, tmp_path):
    """It is that of its folder."""
    refused(1, "template-option", "my sketch", "create", hello.path, "--project", "arduino-sketch", "-o",
            tmp_path / "my sketch")


def test_cli_board_without_arduino(hello, tmp_path):
    refused(1, "template-board", "qemu_microbit", "create", hello.path, "--project", "arduino-sketch", "--board",
            "qemu_microbit", "-o", tmp_path / "other")


def test_cli_builds(hello, tmp_path):
    """arduino-cli is given Debian's core through its configuration."""
    program, work = shutil.which("arduino-cli"), tmp_path
    if program is None:
        common.skip("arduino-cli is not installed")
    sketch = hello.create("arduino-sketch", work / "cli_sketch", "--board", "arduino_uno")
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
         *run_and_check(hello, "arduino_uno", image))
