# SPDX-License-Identifier: Apache-2.0
"""PlatformIO projects and the Arduino kinds on the host.

host   every generated C and C++ file is compiled for the host without a warning, and what is printed
       is LiteRT's; each damaged weight is named by its layer; rows and frames that are fed give the same
tools  PlatformIO's own programs accept platformio.ini and library.json, and refuse damaged ones
"""
import json
import os
import pathlib
import tarfile

import pytest
from sketches import common, kinds
import sketches

STAND_IN = pathlib.Path(__file__).resolve().parent / "host"
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-O1"]


# --- On the host ---------------------------------------------------------------------------------


def build(sources, includes, program, *flags):
    """Compiles each source as its ending says (.ino: C++ that begins with Arduino.h)."""
    folder = common.fresh(program.parent / f"{program.name}_objects")
    objects = []
    for index, source in enumerate(sources):
        command = common.cached("gcc" if source.suffix == ".c" else "g++")
        command += ["-std=c99"] if source.suffix == ".c" else ["-std=c++11"]
        if source.suffix == ".ino":
            command += ["-include", "Arduino.h", "-x", "c++"]
        objects.append(folder / f"{index}.o")
        common.run([*command, *WARNINGS, *flags, *(f"-I{i}" for i in includes), "-c", source, "-o",
                    objects[-1]])
    common.run(["g++", *objects, "-lm", "-o", program])
    return program


def sources_below(folder):
    found = sorted(p for p in folder.rglob("*") if p.suffix in (".c", ".cpp", ".ino"))
    if not found:
        raise common.Failure(f"no sources in {folder}")
    return found


def as_sketch(project, program):
    """A library or a sketch with the stand-in for Arduino, run on all its stored inputs."""
    sources = [*sources_below(project), STAND_IN / "main.cpp"]
    build(sources, [project / "src", STAND_IN], program, "-DARDUINO=10800")
    return common.run([program, sketches.SAMPLES])


def native(project, program, expect=0):
    """A PlatformIO project as a program of this machine."""
    library = next((project / "lib").iterdir()) / "src"
    build(sources_below(project), [library], program)
    done = common.run([program], expect=None)
    if done.returncode != expect:
        raise common.Failure(f"{program} exits with {done.returncode}\n{done.stdout}")
    return done.stdout


@pytest.fixture(params=["digits_int8", "digits_f32", "hello_world_int8"])
def case(request, tmp_path):
    return sketches.Case(request.param, request.param.split("_")[0], tmp_path)


@pytest.mark.parametrize("kind", ["arduino-library", "arduino-sketch"])
def test_host_sketch(kind, case, tmp_path):
    text = as_sketch(case.create(kind, tmp_path / "project"), tmp_path / "program")
    assert case.check(text) > 0
    case.check_demo(text)


def test_host_native(case, tmp_path):
    case.check_demo(native(case.create("platformio", tmp_path / "project"), tmp_path / "program"))


@pytest.mark.parametrize("board", ["nucleo_f446re", "esp32"])
def test_host_board(board, case, tmp_path):
    made = case.create("platformio", tmp_path / "project", "--board", board)
    library = next((made / "lib").iterdir()) / "src"
    program = build([*sources_below(made), STAND_IN / "main.cpp"], [library, STAND_IN], tmp_path / "program",
                    "-DARDUINO=10800")
    case.check_demo(common.run([program]))


def test_host_damaged(tmp_path, record_property):
    digits = sketches.Case("digits_int8", "digits", tmp_path)
    project = digits.create("platformio", tmp_path / "damaged")
    library = next((project / "lib").iterdir()) / "src"
    layers = json.loads((library / "digits.map.json").read_text())["calls"]
    weighted = [c for c in range(len(layers)) if sketches.weights_of(library, "digits", c)]
    assert len(weighted) >= 3
    for call in weighted:
        mend = sketches.damage(library, "digits", call)
        sketches.check_damaged(native(project, tmp_path / "damaged_program", expect=1), call)
        mend()
    record_property("cases", len(weighted))


@pytest.mark.parametrize("kind", ["arduino-library", "arduino-sketch"])
@pytest.mark.parametrize("how", [0, 1], ids=["rows", "frames"])
def test_host_fed(how, kind, tmp_path):
    """The examples of feeding: their results are those of a run, and it is seen when they are not."""
    case, results = sketches.fed_cases("digits_int8", tmp_path)[how]
    project, program = case.create(kind, tmp_path / "project"), tmp_path / "program"
    text = as_sketch(project, program)
    case.check(text)
    case.check_demo(text)
    kinds.check_fed(text, results)
    kinds.feed_wrongly(project)
    kinds.check_fed_wrongly(as_sketch(project, program))


# --- PlatformIO's tools --------------------------------------------------------------------------


@pytest.fixture
def pio(tmp_path):
    program = sketches.optional_tool("pio", "tests/requirements.txt has it")
    if program is None:
        common.skip("PlatformIO is not installed")
    environment = {**os.environ, "PLATFORMIO_CORE_DIR": str(tmp_path / "core"), "PLATFORMIO_SETTING_ENABLE_TELEMETRY": "no",
                   "PLATFORMIO_SETTING_CHECK_PLATFORMIO_INTERVAL": "9999"}
    return lambda *arguments, expect=0: common.run([program, *arguments], expect=expect, env=environment, timeout=600)


@pytest.fixture
def digits(tmp_path):
    return sketches.Case("digits_int8", "digits", tmp_path)


@pytest.fixture
def library(digits, tmp_path):
    return digits.create("arduino-library", tmp_path / "DigitsModel", "--project-option", 'author=Ada "A" Lovelace')


@pytest.mark.parametrize("board", [None, "nucleo_f446re", "arduino_mega2560", "esp32"])
def test_tools_configuration(board, digits, pio, tmp_path):
    project = digits.create("platformio", tmp_path / "project", *(["--board", board] if board else []))
    found = dict(json.loads(pio("project", "config", "-d", project, "--json-output")))
    values = dict(found[f"env:{board or 'native'}"])
    want = common.board(board)["frameworks"]["platformio"] if board else {"platform": "native"}
    got = {key: value[0] if isinstance(value, list) else value for key, value in values.items()
           if key in ("platform", "board", "framework")}
    assert got == want


@pytest.mark.parametrize("kind", ["arduino-library", "platformio"])
def test_tools_package(kind, digits, library, pio, tmp_path):
    folder = library
    if kind == "platformio":
        folder = next((digits.create(kind, tmp_path / "project", "--board", "esp32") / "lib").iterdir())
    pio("pkg", "pack", folder, "-o", tmp_path / "package.tar.gz")
    with tarfile.open(tmp_path / "package.tar.gz") as archive:
        packed = set(archive.getnames())
    assert {"library.json", *(str(p.relative_to(folder)) for p in sources_below(folder))} <= packed


def test_tools_author(library):
    assert json.loads((library / "library.json").read_text())["authors"][0]["name"] == 'Ada "A" Lovelace'


@pytest.mark.parametrize("key, value", [("version", "one"), ("name", None)])
def test_tools_refuse(key, value, library, pio, tmp_path):
    manifest = library / "library.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), key: value}))
    assert pio("pkg", "pack", library, "-o", tmp_path / "bad.tar.gz", expect=None).returncode != 0
