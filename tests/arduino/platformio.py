#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PlatformIO projects and the Arduino kinds on the host.

Usage: platformio.py host|tools --work DIR

host: every generated C and C++ file is compiled for the host without a warning, and what is printed
is LiteRT's; each damaged weight is named by its layer; rows and frames that are fed give the same.
tools: PlatformIO's own programs accept platformio.ini and library.json, and refuse damaged ones.
"""
import argparse
import json
import os
import pathlib
import tarfile

import sketches
from sketches import common, kinds

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


def host(work):
    for name in ("digits_int8", "digits_f32", "hello_world_int8"):
        case = sketches.Case(name, name.split("_")[0], work)
        compared = 0
        for kind in ("arduino-library", "arduino-sketch"):
            project = case.create(kind, work / f"{name}_{kind.replace('-', '_')}")
            text = as_sketch(project, work / f"{project.name}_program")
            compared += case.check(text)
            case.check_demo(text)
        project = case.create("platformio", work / f"{name}_platformio")
        case.check_demo(native(project, work / f"{name}_native"))
        for board in ("nucleo_f446re", "esp32"):
            made = case.create("platformio", work / f"{name}_{board}", "--board", board)
            library = next((made / "lib").iterdir()) / "src"
            program = build([*sources_below(made), STAND_IN / "main.cpp"], [library, STAND_IN],
                            work / f"{name}_{board}_program", "-DARDUINO=10800")
            case.check_demo(common.run([program]))
        print(f"{name}: {compared} printed elements are LiteRT's")
    digits = sketches.Case("digits_int8", "digits", work)
    project = digits.create("platformio", work / "damaged")
    library = next((project / "lib").iterdir()) / "src"
    layers = json.loads((library / "digits.map.json").read_text())["calls"]
    weighted = [c for c in range(len(layers)) if sketches.weights_of(library, "digits", c)]
    if len(weighted) < 3:
        raise common.Failure(f"only {len(weighted)} layers with weights")
    for call in weighted:
        mend = sketches.damage(library, "digits", call)
        sketches.check_damaged(native(project, work / "damaged_program", expect=1), call)
        mend()
    print(f"digits_int8: the damaged layer is named in {len(weighted)} of {len(weighted)} cases")
    host_fed(work)


def host_fed(work):
    """The examples of feeding: their results are those of a run, and it is seen when they are not."""
    for case, results in sketches.fed_cases("digits_int8", work):
        for kind in ("arduino-library", "arduino-sketch"):
            project = case.create(kind, work / f"{case.prefix}_{kind.replace('-', '_')}")
            program = work / f"{project.name}_program"
            text = as_sketch(project, program)
            case.check(text)
            case.check_demo(text)
            kinds.check_fed(text, results)
            kinds.feed_wrongly(project)
            kinds.check_fed_wrongly(as_sketch(project, program))
        print(f"{case.path.stem} by {case.prefix}: {results} results are those of a run on the whole input")


# --- PlatformIO's tools --------------------------------------------------------------------------


def tools(work):
    pio = sketches.optional_tool("pio", "tests/requirements.txt has it")
    if pio is None:
        common.skip("PlatformIO is not installed")
    environment = {**os.environ, "PLATFORMIO_CORE_DIR": str(work / "core"),
                   "PLATFORMIO_SETTING_ENABLE_TELEMETRY": "no",
                   "PLATFORMIO_SETTING_CHECK_PLATFORMIO_INTERVAL": "9999"}

    def run(*arguments, expect=0):
        return common.run([pio, *arguments], expect=expect, env=environment, timeout=600)

    case = sketches.Case("digits_int8", "digits", work)
    for board in (None, "nucleo_f446re", "arduino_mega2560", "esp32"):
        options = ["--board", board] if board else []
        project = case.create("platformio", work / (board or "native"), *options)
        found = dict(json.loads(run("project", "config", "-d", project, "--json-output")))
        values = dict(found[f"env:{board or 'native'}"])
        want = common.board(board)["frameworks"]["platformio"] if board else {"platform": "native"}
        got = {key: value[0] if isinstance(value, list) else value for key, value in values.items()
               if key in ("platform", "board", "framework")}
        if got != want:
            raise common.Failure(f"platformio.ini has {got}, board.json {want}")
    print("platformio.ini: accepted, with the environments of the boards")

    library = case.create("arduino-library", work / "DigitsModel", "--project-option",
                          'author=Ada "A" Lovelace')
    for folder in (library, next((project / "lib").iterdir())):
        package = work / "package.tar.gz"
        package.unlink(missing_ok=True)
        run("pkg", "pack", folder, "-o", package)
        with tarfile.open(package) as archive:
            packed = set(archive.getnames())
        missing = {str(p.relative_to(folder)) for p in sources_below(folder)} - packed
        if missing or "library.json" not in packed:
            raise common.Failure(f"the package of {folder.name} lacks {missing or 'library.json'}")
        print(f"{folder.parent.name}/{folder.name}: packed, {len(packed)} files")
    manifest = library / "library.json"
    good = json.loads(manifest.read_text())
    if good["authors"][0]["name"] != 'Ada "A" Lovelace':
        raise common.Failure(f"the author became {good['authors']}")
    for key, value in (("version", "one"), ("name", None)):
        manifest.write_text(json.dumps({**good, key: value}))
        refused = run("pkg", "pack", library, "-o", work / "bad.tar.gz", expect=None)
        if refused.returncode == 0:
            raise common.Failure(f"a library.json with {key} = {value} is accepted")
    print("library.json without a name or with a wrong version: refused")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["host", "tools"])
    parser.add_argument("--work", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    work = common.fresh(arguments.work)
    {"host": host, "tools": tools}[arguments.what](work)


if __name__ == "__main__":
    common.main_of(main)
